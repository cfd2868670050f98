import type { Clock } from '../../platform/clock.ts'
import { EndpointError } from './endpoint-error.ts'

/** So many failures in a row open it. */
const failuresToOpen = 5
const firstRestMs = 30_000
const longestRestMs = 300_000

/**
 * Keeps requests from an endpoint that fails each of them. When its rest is over, one request is let through: if that
 * is answered all are, if not the rest is twice as long. A clock that was set back since ends it.
 */
export const openCircuit = (clock: Clock) => {
  let failures = 0
  let restMs = 0
  let openedAt = 0
  let probing = false
  const now = () => clock.now().getTime()
  const isOpen = () => {
    const age = now() - openedAt
    return age >= 0 && age < restMs
  }

  const close = () => {
    failures = 0
    restMs = 0
  }

  const noteFailure = () => {
    failures++
    // A request that was under way when it opened says nothing new.
    if (isOpen() || failures < failuresToOpen) return
    restMs = Math.min(longestRestMs, restMs === 0 ? firstRestMs : restMs * 2)
    openedAt = now()
  }

  const guard = async <T>(send: () => Promise<T>): Promise<T> => {
    const isProbe = restMs > 0
    if (isOpen() || (isProbe && probing)) {
      const retryAfterMs = Math.max(1_000, openedAt + restMs - now())
      throw new EndpointError(
        'resting',
        'the endpoint failed several times in a row and is left alone for a while',
        retryAfterMs,
      )
    }
    if (isProbe) probing = true
    try {
      const answer = await send()
      close()
      return answer
    } catch (error) {
      // What was ended from here says nothing of the endpoint; and one that refuses or is busy is up.
      if (error instanceof EndpointError) {
        if (error.kind === 'down' || error.kind === 'locked') noteFailure()
        else close()
      }
      throw error
    } finally {
      if (isProbe) probing = false
    }
  }

  return { guard, isOpen }
}
