import type { Database } from '../db/database.ts'
import { ApiError } from '../errors.ts'

/** The maximum number of requests that can wait for a database connection. More would only time out while they wait. */
const maxWaiting = 1_000
/** If turns of the event loop repeatedly take longer than this, new work makes everything slower. */
const maxTurnMs = 1_500
const lookEveryMs = 250

export type Overload = { check: () => void; close: () => void }

/** Rejects new work immediately with 503 while the process can't keep up with the work that it has accepted. */
export const watchOverload = (database: Pick<Database, 'waiting'>): Overload => {
  let lookedAt = performance.now()
  // A single long pause is already over when it is detected, so two pauses are needed to count as overload.
  let slowTurns = 0
  const timer = setInterval(() => {
    const now = performance.now()
    slowTurns = now - lookedAt > maxTurnMs ? slowTurns + 1 : 0
    lookedAt = now
  }, lookEveryMs)
  timer.unref()
  return {
    check: () => {
      if (slowTurns > 1 || database.waiting() > maxWaiting) {
        throw new ApiError('unavailable', 'The service is overloaded. Try again in a moment.', {
          retryAfterSeconds: 1,
        })
      }
    },
    close: () => clearInterval(timer),
  }
}
