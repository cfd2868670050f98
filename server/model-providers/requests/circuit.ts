import type { Clock } from '../../platform/clock.ts'
import { EndpointError, isNotSentYet } from './endpoint-error.ts'
import { openPause } from './pause.ts'

/** This many failures in a row open the circuit breaker. */
const failuresToOpen = 5
const firstPauseMs = 30_000
const longestPauseMs = 300_000

/**
 * Blocks requests to an endpoint that keeps failing. After a pause, a single request is sent. If it succeeds, others
 * follow. If not, the pause doubles.
 */
export const openCircuit = (clock: Clock) => {
  let failures = 0
  let pauseMs = 0
  let probing = false
  const pause = openPause(clock)
  const isOpen = () => pause.leftMs() > 0

  const close = () => {
    failures = 0
    pauseMs = 0
    pause.end()
  }

  const noteFailure = () => {
    failures++
    // A request that was in flight when the circuit breaker opened only confirms the failure.
    if (isOpen() || failures < failuresToOpen) return
    pauseMs = Math.min(longestPauseMs, pauseMs === 0 ? firstPauseMs : pauseMs * 2)
    pause.extend(pauseMs)
  }

  /** Counts failures of the endpoint. An endpoint that rejects a request or is busy still works. */
  const noteFault = (error: EndpointError) => {
    const { kind } = error
    // A request that was never sent is no evidence about the endpoint.
    if (isNotSentYet(error)) return
    if (kind === 'down' || kind === 'locked') noteFailure()
    else close()
  }

  const guard = async <T>(send: () => Promise<T>): Promise<T> => {
    const isProbe = pauseMs > 0
    if (isOpen() || (isProbe && probing)) {
      throw new EndpointError('resting', 'the endpoint keeps failing, so requests are paused', {
        retryAfterMs: Math.max(1_000, pause.leftMs()),
      })
    }
    if (isProbe) probing = true
    try {
      const answer = await send()
      close()
      return answer
    } catch (error) {
      // An aborted request is no evidence about the endpoint.
      if (error instanceof EndpointError) noteFault(error)
      throw error
    } finally {
      if (isProbe) probing = false
    }
  }

  return { guard, isOpen }
}
