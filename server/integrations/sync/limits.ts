import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts'

/** The limits of one integration's sync. */

/** The overlap between runs, because providers list some calls late. */
export const overlapMs = hourMs
/**
 * The length of the period that is listed in one step while catching up. The position of the run is stored after each
 * step.
 */
export const windowMs = 6 * hourMs
/** The time after the end of a call in which only its webhook may deliver it. */
export const graceMs = 5 * minuteMs
/** A call that lasts longer will not end, whatever the provider says. */
export const longestCallMs = 24 * hourMs
/** The number of requests in a job, and the pause before the next job. This results in 120 requests a minute. */
export const requestsAJob = 60
export const pauseSeconds = 30
/** The maximum number of pages of a run. The next run continues there. */
export const mostPages = 5_000
/** The maximum number of items on a page, although at most a hundred are requested, and of characters in a cursor. */
export const mostOnAPage = 1_000
export const longestCursor = 10_000
/** The maximum number of calls that one run fetches again because they could not be stored. */
export const retriedARun = 500
/** With more gaps than this, something is wrong that retrying does not fix. */
export const mostGaps = 10_000
/** After this many failed calls in a row, the provider counts as failing. */
export const mostTroubles = 5
/** The maximum number of times in a row that a run is postponed because the provider is busy. */
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
