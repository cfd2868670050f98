// Keeps the state that all requests to an endpoint share: concurrency, delays, and the circuit breaker.
import type { Clock } from '../../platform/clock.ts'
import { openTurns } from '../../platform/turns.ts'
import { openCircuit } from './circuit.ts'
import { EndpointError } from './endpoint-error.ts'
import { openPause } from './pause.ts'

export type Timing = {
  clock: Clock
  /** Returns a number from 0 to 1. */
  random: () => number
  wait: (ms: number, signal: AbortSignal) => Promise<unknown>
}

type GateOptions = Timing & {
  concurrency: number
  /** The maximum number of attempts of a request. */
  attempts: number
}

export type RequestTerms = {
  signal: AbortSignal
  /** The end of the request by `clock`. No wait extends beyond it. */
  deadline: number
  /** The time at which another endpoint is asked instead. Nothing waits longer for this one. */
  fallbackAt?: number | undefined
  /** The owner of the request. Owners take turns. */
  owner: string
  /** Lets all other requests of the same owner go first. */
  background?: boolean
}

const firstBackoffMs = 1_000
const longestBackoffMs = 30_000

export const openGate = ({ concurrency, attempts, clock, random, wait }: GateOptions) => {
  const circuit = openCircuit(clock)
  const turns = openTurns(concurrency)
  const pause = openPause(clock)
  const patienceMs = ({ deadline, fallbackAt = deadline }: RequestTerms) =>
    Math.min(deadline, fallbackAt) - clock.now().getTime()

  const sitOut = async (ms: number, passage: RequestTerms) => {
    if (ms > patienceMs(passage)) {
      throw new EndpointError('busy', 'the endpoint asks to wait longer than the timeout of this request', {
        retryAfterMs: ms,
      })
    }
    await wait(ms, passage.signal)
  }

  /** Sends a request once, as soon as the endpoint is neither paused nor full. */
  const pass = async <T>(send: (signal: AbortSignal) => Promise<T>, passage: RequestTerms): Promise<T> => {
    for (;;) {
      while (pause.leftMs() > 0) await sitOut(pause.leftMs(), passage)
      const leave = await turns.enter(passage.owner, passage)
      try {
        // The endpoint may have asked another request for a pause while this one waited.
        if (pause.leftMs() > 0) continue
        return await circuit.guard(() => send(passage.signal))
      } finally {
        leave()
      }
    }
  }

  const backoffMs = (attempt: number): number =>
    Math.min(longestBackoffMs, firstBackoffMs * 2 ** (attempt - 1)) * (0.5 + random() / 2)

  /** Returns how long to wait before the next attempt, or undefined if there is none. */
  const waitAfter = (
    { kind, retryAfterMs }: EndpointError,
    attempt: number,
    passage: RequestTerms,
  ): number | undefined => {
    if (kind !== 'busy' && kind !== 'down') return undefined
    // The pause applies to all requests to this endpoint.
    pause.extend(retryAfterMs)
    const waitMs = Math.max(retryAfterMs, backoffMs(attempt))
    const mayHelp = !circuit.isOpen() && attempt < attempts && waitMs <= patienceMs(passage)
    return mayHelp ? waitMs : undefined
  }

  const run = async <T>(send: (signal: AbortSignal) => Promise<T>, passage: RequestTerms): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await pass(send, passage)
      } catch (error) {
        const waitMs = error instanceof EndpointError ? waitAfter(error, attempt, passage) : undefined
        if (waitMs === undefined) throw error
        await wait(waitMs, passage.signal)
      }
    }
  }

  return { run }
}

export type Gate = ReturnType<typeof openGate>
