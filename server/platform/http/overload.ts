import type { Database } from '../db/database.ts'
import { ApiError } from '../errors.ts'

/** Requests that wait for a database connection; more would only time out in the queue. */
const maxWaiting = 1_000
/** A turn of the event loop that repeatedly takes longer than this: new work makes everything slower. */
const maxTurnMs = 1_500
const lookEveryMs = 250

export type Overload = { check: () => void; close: () => void }

/** Rejects new work quickly with 503 while the process cannot keep up with accepted work. */
export const watchOverload = (database: Pick<Database, 'waiting'>): Overload => {
  let lookedAt = performance.now()
  // A single long pause is over when it is detected, so two are required.
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
