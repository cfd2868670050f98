// The only client for tenants' URLs. It only connects to public addresses, and limits time and size.
import { Readable } from 'node:stream'
import { Client } from 'undici'
import { inRequestSpan } from '../telemetry/span.ts'
import { type Connect, type OutboundOptions, openConnector } from './connect.ts'
import { OutboundError, toOutboundError } from './errors.ts'
import { firstHop, hopAfter, type OutboundHeaders, type OutboundRequest, type PlainHttp } from './request.ts'

type OutboundResponse = { status: number; headers: OutboundHeaders; body: Buffer }
type OutboundStream = { status: number; headers: OutboundHeaders; body: Readable }

type Hop = ReturnType<typeof firstHop>
type HopResponse = Awaited<ReturnType<Client['request']>>

export type Outbound = {
  request: (url: string | URL, options: OutboundRequest) => Promise<OutboundResponse>
  /**
   * Sends a request. The caller must read the stream to its end or destroy it. The stream's errors are also
   * OutboundErrors.
   */
  stream: (url: string | URL, options: OutboundRequest) => Promise<OutboundStream>
  /** Aborts pending requests, which fail. */
  close: () => Promise<void>
}

const maxResponseHeaderBytes = 32 * 1024

const tooLarge = (maxBytes: number) => new OutboundError('too_large', `The response is larger than ${maxBytes} bytes.`)

/**
 * Opens a connection for one hop. Each hop is resolved and checked separately, tenants share no connections, and no
 * connection stays open.
 */
const openClient = (url: URL, plainHttp: PlainHttp, connect: Connect, signal: AbortSignal) => {
  signal.throwIfAborted()
  const client = new Client(url.origin, {
    connect: connect(signal, url.protocol === 'http:' && plainHttp === 'allowed networks'),
    pipelining: 0,
    maxHeaderSize: maxResponseHeaderBytes,
    // The timeout of the entire request covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const abort = () => void client.destroy(toOutboundError(signal.reason))
  signal.addEventListener('abort', abort)
  const release = async () => {
    signal.removeEventListener('abort', abort)
    await client.destroy()
  }
  return { client, release }
}

export const openOutbound = (options: OutboundOptions): Outbound => {
  const connect = openConnector(options)
  const underWay = new Set<AbortController>()

  const stream: Outbound['stream'] = async (given, request) => {
    const controller = new AbortController()
    const { signal } = controller
    const timer = setTimeout(() => {
      controller.abort(new OutboundError('timed_out', `There was no complete response within ${request.timeoutMs} ms.`))
    }, request.timeoutMs)
    const cancel = () => controller.abort(request.signal?.reason)
    request.signal?.addEventListener('abort', cancel, { once: true })
    underWay.add(controller)
    let release = async () => {}
    const finish = () => {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', cancel)
      underWay.delete(controller)
      return release()
    }

    const { maxRedirects = 0, plainHttp = 'anywhere', maxBytes, minimumRate } = request
    const tooSlow = () => controller.abort(new OutboundError('timed_out', 'The server was too slow.'))
    const patience = minimumRate && openPatience(minimumRate, tooSlow)

    const send = async (hop: Hop): Promise<HopResponse> => {
      const opened = openClient(hop.url, plainHttp, connect, signal)
      release = opened.release
      const { url, method } = hop
      const path = url.pathname + url.search
      const answer = inRequestSpan(method, url, () =>
        opened.client.request({ path, method, ...sendingOf(hop, patience) }),
      )
      const response = await (patience ? patience.wait(answer) : answer)
      // If a body fails before it is read, the error must not end the process.
      response.body.on('error', () => {})
      return response
    }

    const streamOf = (hop: Hop, { statusCode: status, headers, body }: HopResponse): OutboundStream => {
      if (hop.method !== 'HEAD' && Number(headers['content-length']) > maxBytes) throw tooLarge(maxBytes)
      const chunks = patience ? patience.watch(body) : body
      return { status, headers, body: cap(chunks, maxBytes, signal, finish) }
    }

    const follow = async (first: Hop): Promise<OutboundStream> => {
      let hop = first
      for (let followed = 0; ; followed++) {
        const response = await send(hop)
        const next = maxRedirects > 0 ? hopAfter(hop, response, plainHttp) : undefined
        if (!next) return streamOf(hop, response)
        if (followed === maxRedirects) {
          throw new OutboundError('too_many_redirects', `The server redirected more than ${maxRedirects} times.`)
        }
        await release()
        hop = next
      }
    }

    try {
      request.signal?.throwIfAborted()
      return await follow(firstHop(given, request))
    } catch (error) {
      await finish()
      request.signal?.throwIfAborted()
      throw toOutboundError(signal.aborted ? signal.reason : error)
    }
  }

  const request: Outbound['request'] = async (url, options) => {
    const { status, headers, body } = await stream(url, options)
    try {
      return { status, headers, body: Buffer.concat(await body.toArray()) }
    } catch (error) {
      options.signal?.throwIfAborted()
      throw error
    }
  }

  const close = async () => {
    for (const controller of underWay) controller.abort(new OutboundError('failed', 'The service is stopping.'))
  }

  return { request, stream, close }
}

/**
 * Limits how long the client waits for the server. Transferred bytes extend the time. Time that the reader takes
 * doesn't count.
 */
const openPatience = (
  { bytesPerSecond, longestWaitMs }: NonNullable<OutboundRequest['minimumRate']>,
  giveUp: () => void,
) => {
  let leftMs = longestWaitMs
  /** Set while waiting. */
  let waiting: { since: number; timer: NodeJS.Timeout } | undefined
  const begin = () => {
    waiting = { since: performance.now(), timer: setTimeout(giveUp, leftMs) }
  }
  const end = () => {
    if (!waiting) return
    clearTimeout(waiting.timer)
    leftMs -= performance.now() - waiting.since
    waiting = undefined
  }
  const earn = (bytes: number) => {
    const isWaiting = waiting !== undefined
    end()
    leftMs = Math.min(longestWaitMs, leftMs + (bytes / bytesPerSecond) * 1_000)
    if (isWaiting) begin()
  }
  const wait = async <T>(next: Promise<T>): Promise<T> => {
    begin()
    try {
      return await next
    } finally {
      end()
    }
  }
  const watch = async function* (source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const chunks = source[Symbol.asyncIterator]()
    try {
      for (;;) {
        const { value, done } = await wait(chunks.next())
        if (done) return
        earn(value.length)
        yield value
      }
    } finally {
      await chunks.return?.()
    }
  }
  return { wait, watch, earn }
}

const sentAtOnce = 64 * 1024

/**
 * Returns the body. With a minimum rate, it is sent in chunks, each as soon as the connection has accepted the previous
 * one.
 */
const sendingOf = (
  { headers, body }: ReturnType<typeof firstHop>,
  patience: ReturnType<typeof openPatience> | undefined,
) => {
  if (!patience || body === undefined) return { headers, body: body ?? null }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body
  const pieces = async function* () {
    for (let at = 0; at < bytes.length; at += sentAtOnce) {
      const piece = bytes.subarray(at, at + sentAtOnce)
      yield piece
      patience.earn(piece.length)
    }
  }
  return {
    headers: { ...headers, 'content-length': String(bytes.length) },
    body: Readable.from(pieces(), { highWaterMark: 1 }),
  }
}

/** Passes on the bytes as they arrive. Nothing is decompressed, so nothing can become larger than the limit. */
const cap = (
  source: AsyncIterable<Buffer>,
  maxBytes: number,
  signal: AbortSignal,
  finish: () => Promise<void>,
): Readable => {
  const capped = async function* (): AsyncGenerator<Buffer> {
    let bytes = 0
    try {
      for await (const chunk of source) {
        bytes += chunk.length
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        yield chunk
      }
    } catch (error) {
      throw toOutboundError(error)
    }
  }
  const body = Readable.from(capped(), { objectMode: false })
  const abort = () => body.destroy(toOutboundError(signal.reason))
  signal.addEventListener('abort', abort)
  body.once('close', () => {
    signal.removeEventListener('abort', abort)
    void finish()
  })
  // The reader still gets the error. If there is no reader yet, the error must not end the process.
  return body.on('error', () => {})
}
