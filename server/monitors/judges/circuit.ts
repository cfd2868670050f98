import type { Clock } from '../../platform/clock.ts'
import { EndpointError } from './endpoint-error.ts'
import { openRest } from './rest.ts'

/** Failures in a row that open the circuit breaker. */
const failuresToOpen = 5
const firstRestMs = 30_000
const longestRestMs = 300_000

/**
 * Blocks requests to an endpoint that keeps failing. After a pause, one request is sent: if it succeeds, all are; if
 * not, the pause doubles.
 */
export const openCircuit = (clock: Clock) => {
  let failures = 0
  let restMs = 0
  let probing = false
  const rest = openRest(clock)
  const isOpen = () => rest.leftMs() > 0

  const close = () => {
    failures = 0
    restMs = 0
    rest.end()
  }

  const noteFailure = () => {
    failures++
    // A request that was in flight when it opened says nothing new.
    if (isOpen() || failures < failuresToOpen) return
    restMs = Math.min(longestRestMs, restMs === 0 ? firstRestMs : restMs * 2)
    rest.extend(restMs)
  }

  /** An endpoint that rejects requests or is busy is up. */
  const noteFault = ({ kind }: EndpointError) => {
    if (kind === 'down' || kind === 'locked') noteFailure()
    else close()
  }

  const guard = async <T>(send: () => Promise<T>): Promise<T> => {
    const isProbe = restMs > 0
    if (isOpen() || (isProbe && probing)) {
      throw new EndpointError(
        'resting',
        'the endpoint keeps failing, so requests are paused',
        Math.max(1_000, rest.leftMs()),
      )
    }
    if (isProbe) probing = true
    try {
      const answer = await send()
      close()
      return answer
    } catch (error) {
      // Aborted requests say nothing about the endpoint.
      if (error instanceof EndpointError) noteFault(error)
      throw error
    } finally {
      if (isProbe) probing = false
    }
  }

  return { guard, isOpen }
}
