import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Database } from '../db/database.ts'
import { ApiError } from '../errors.ts'

/** Requests that wait for a database connection; more of them would only time out in the queue. */
const maxWaiting = 1_000
/** The event loop's lag, as the 99th percentile of the last second, beyond which new work makes all slower. */
const maxDelayMs = 1_500

export type Overload = { check: () => void; close: () => void }

/** Refuses new work, quickly and with 503, while the process cannot keep up with what it has accepted. */
export const watchOverload = (database: Pick<Database, 'waiting'>): Overload => {
  const delay = monitorEventLoopDelay({ resolution: 20 })
  delay.enable()
  let lagging = false
  const timer = setInterval(() => {
    lagging = delay.percentile(99) / 1e6 > maxDelayMs
    delay.reset()
  }, 1_000)
  timer.unref()
  return {
    check: () => {
      if (lagging || database.waiting() > maxWaiting) {
        throw new ApiError('unavailable', 'The service has more requests than it can answer; try again shortly.', {
          retryAfterSeconds: 1,
        })
      }
    },
    close: () => {
      clearInterval(timer)
      delay.disable()
    },
  }
}
