import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts'

/** The limits for the sync of one integration. */

/** The overlap between runs, because providers list some calls late. */
export const overlapMs = hourMs
/** The length of the period that one step lists while catching up. After each step, the run's position is stored. */
export const windowMs = 6 * hourMs
/** How long after the end of a call the sync waits for the call's webhook. */
export const graceMs = 5 * minuteMs
/** A call that lasts longer than this will not end, whatever the provider reports. */
export const longestCallMs = 24 * hourMs
/**
 * The number of requests in a job, and the pause before the next job. Together, they result in 120 requests a minute.
 */
export const requestsAJob = 60
export const pauseSeconds = 30
/** The maximum number of pages in a run. The next run continues after them. */
export const mostPages = 5_000
/**
 * The maximum number of items on a page, although at most a hundred are requested, and the maximum number of characters
 * in a cursor.
 */
export const mostOnAPage = 1_000
export const longestCursor = 10_000
/** The maximum number of calls that one run retries because they could not be stored. */
export const retriedARun = 500
/** With more gaps than this, there is a problem that retrying doesn't fix. */
export const mostGaps = 10_000
/** After this many consecutive failed calls, the provider counts as failing. */
export const mostTroubles = 5
/** The maximum number of consecutive times that a run is postponed because the provider is busy. */
export const mostWaits = 20

export const retryGapMs = (attempts: number): number => Math.min(dayMs, 15 * minuteMs * 2 ** Math.min(attempts, 10))

/**
 * Returns the time until the next run. It doubles with each failed run, up to six hours, or the interval if that is
 * longer.
 */
export const nextRunMs = (intervalMinutes: number, failures: number): number => {
  const intervalMs = intervalMinutes * minuteMs
  return Math.max(intervalMs, Math.min(6 * hourMs, intervalMs * 2 ** Math.min(failures, 10)))
}
