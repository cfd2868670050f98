import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { ApiError } from '../errors.ts'
import { neighbourhood } from './rate-limit.ts'

/** Tracks bodies that are arriving or in memory: their size, and whether they arrive fast enough. */

declare module 'fastify' {
  interface FastifyRequest {
    /** The body of this request, or undefined if it has none. */
    arriving: Arriving | undefined
  }
}

type Limits = { heldBytes: number; bodiesPerAddress: number }

/** Every sender gets the grace period. Each received byte extends it. */
const patience = { graceMs: 30_000, leastBytesPerSecond: 16 * 1024, tickMs: 1_000 }

export type Arriving = {
  /** Counts bytes that stay in memory until the response is sent and the handler has ended. */
  hold: (bytes: number) => void
  /** Called instead of responding if the body arrives too slowly. */
  onTooSlow: ((error: ApiError) => void) | undefined
  onAnswer: () => void
  onHandlerStart: () => void
  onHandlerEnd: () => void
}

type Entry = Arriving & {
  request: FastifyRequest
  reply: FastifyReply
  address: string
  heldBytes: number
  startedAt: number
  readBefore: number
  isClosed: boolean
  /**
   * Undefined before the handler starts. A request that is rejected before that is complete when the response has been
   * sent.
   */
  handler: 'running' | 'ended' | undefined
}

/** Notes when the handler ends. It keeps the body until then, even if the sender has disconnected. */
const followHandler = (route: RouteOptions): void => {
  const { handler } = route
  route.handler = function follow(request, reply) {
    const { arriving } = request
    if (!arriving) return handler.call(this, request, reply)
    arriving.onHandlerStart()
    let isRunning = false
    try {
      const answer: unknown = handler.call(this, request, reply)
      if (!(answer instanceof Promise)) return answer
      isRunning = true
      return answer.finally(arriving.onHandlerEnd)
    } finally {
      if (!isRunning) arriving.onHandlerEnd()
    }
  }
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const tooSlow = () => new ApiError('tooSlow', 'The body arrived too slowly. Send it again over a faster connection.')

const add = (counts: Map<string, number>, address: string, change: number): number => {
  const count = (counts.get(address) ?? 0) + change
  if (count === 0) counts.delete(address)
  else counts.set(address, count)
  return count
}

export const watchBodies = (
  app: FastifyInstance,
  { heldBytes, bodiesPerAddress }: Limits,
  { graceMs, leastBytesPerSecond, tickMs } = patience,
): void => {
  const arriving = new Set<Entry>()
  const unfinishedOf = new Map<string, number>()
  const heldOf = new Map<string, number>()
  let totalBytes = 0

  const hold = (entry: Entry, bytes: number): void => {
    totalBytes += bytes
    entry.heldBytes += bytes
    // A single sender can only use half of the capacity, so that others are not blocked.
    if (add(heldOf, entry.address, bytes) <= heldBytes / 2 && totalBytes <= heldBytes) return
    throw new ApiError(
      'unavailable',
      'The service is receiving too many requests with a body. Try again in a moment.',
      {
        retryAfterSeconds: 2,
      },
    )
  }

  /** Returns whether the service itself delays reading. The sender is not responsible for that. */
  const isHeldUp = ({ request: { raw } }: Entry): boolean => raw.readableLength >= raw.readableHighWaterMark

  const check = (entry: Entry, now: number): void => {
    const { request, reply, onTooSlow } = entry
    if (isHeldUp(entry)) entry.startedAt += tickMs
    const received = (request.raw.socket.bytesRead ?? 0) - entry.readBefore
    if (now - entry.startedAt <= graceMs + (received / leastBytesPerSecond) * 1_000) return
    finish(entry)
    reply.header('connection', 'close')
    if (onTooSlow) onTooSlow(tooSlow())
    else if (!reply.sent) reply.send(tooSlow())
  }

  const finish = (entry: Entry): void => {
    if (arriving.delete(entry)) add(unfinishedOf, entry.address, -1)
  }

  /**
   * Stops counting a body when the response is closed and the handler has ended, because the body stays in memory until
   * then.
   */
  const release = (entry: Entry): void => {
    if (!entry.isClosed || entry.handler !== 'ended') return
    totalBytes -= entry.heldBytes
    add(heldOf, entry.address, -entry.heldBytes)
    entry.heldBytes = 0
  }

  const timer = setInterval(() => {
    const now = performance.now()
    for (const entry of arriving) check(entry, now)
  }, tickMs)
  timer.unref()
  app.addHook('onClose', async () => clearInterval(timer))

  app.addHook('onRoute', followHandler)
  app.decorateRequest('arriving', undefined)
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (!hasBody(request)) return done(null, payload)
    const address = neighbourhood(request.ip)
    if ((unfinishedOf.get(address) ?? 0) >= bodiesPerAddress) {
      return done(
        new ApiError('rateLimited', 'Too many concurrent uploads from this IP address. Send fewer at once.', {
          retryAfterSeconds: 2,
        }),
      )
    }
    const entry: Entry = {
      request,
      reply,
      address,
      heldBytes: 0,
      startedAt: performance.now(),
      onTooSlow: undefined,
      isClosed: false,
      handler: undefined,
      // Internal requests have no socket.
      readBefore: request.raw.socket.bytesRead ?? 0,
      hold: (bytes) => hold(entry, bytes),
      onAnswer: () => {
        entry.handler ??= 'ended'
        release(entry)
      },
      onHandlerStart: () => {
        entry.handler = 'running'
      },
      onHandlerEnd: () => {
        entry.handler = 'ended'
        release(entry)
      },
    }
    request.arriving = entry
    arriving.add(entry)
    add(unfinishedOf, address, 1)
    request.raw.once('end', () => finish(entry))
    reply.raw.once('close', () => {
      finish(entry)
      entry.isClosed = true
      release(entry)
    })
    done(null, payload)
  })
  app.addHook('onSend', ({ arriving }, _reply, _payload, done) => {
    arriving?.onAnswer()
    done()
  })
}
