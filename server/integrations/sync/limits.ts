import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts'

/** What bounds the sync of one integration. */

/** Listed once more each time: providers list some calls late. */
export const overlapMs = hourMs
/** Listed at once while catching up; the place that a run has come to is kept after each. */
export const windowMs = 6 * hourMs
/** For so long after its end a call is left to the webhook, which is on its way. */
export const graceMs = 5 * minuteMs
/** A call that goes on for longer will not end any more, whatever the provider says. */
export const longestCallMs = 24 * hourMs
/** Requests of a job, and how long the next job waits: 120 a minute. */
export const requestsAJob = 60
export const pauseSeconds = 30
/** Pages of a run; the next run goes on where it came to. */
export const mostPages = 5_000
/** Entries of a page, of which at most a hundred are asked for, and characters of the cursor of the next one. */
export const mostOnAPage = 1_000
export const longestCursor = 10_000
/** Calls that could not be taken in, and that are fetched once more in one run. */
export const retriedARun = 500
/** Beyond this something is wrong that trying again does not mend. */
export const mostGaps = 10_000
/** Calls in a row that the provider fails at before it is the provider's trouble and not that of a call. */
export const mostTroubles = 5
/** How often in a row a run comes again because the provider is busy. */
export const mostWaits = 20

export const retryGapMs = (attempts: number): number => Math.min(dayMs, 15 * minuteMs * 2 ** Math.min(attempts, 10))

/** After runs that failed: twice the interval, then four times as much, up to six hours or the interval itself. */
export const nextRunMs = (intervalMinutes: number, failures: number): number => {
  const intervalMs = intervalMinutes * minuteMs
  return Math.max(intervalMs, Math.min(6 * hourMs, intervalMs * 2 ** Math.min(failures, 10)))
}
