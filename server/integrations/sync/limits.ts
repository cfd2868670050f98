import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts'

/** The limits of one integration's sync. */

/** Listed again each time, because providers list some calls late. */
export const overlapMs = hourMs
/** Listed per step while catching up; the position of the run is stored after each. */
export const windowMs = 6 * hourMs
/** A call is left to its webhook for this long after its end. */
export const graceMs = 5 * minuteMs
/** A call that lasts longer will not end anymore, whatever the provider says. */
export const longestCallMs = 24 * hourMs
/** Requests per job, and the pause before the next job: 120 a minute. */
export const requestsAJob = 60
export const pauseSeconds = 30
/** Pages per run; the next run continues there. */
export const mostPages = 5_000
/** Items per page, of which at most a hundred are requested, and characters of the next cursor. */
export const mostOnAPage = 1_000
export const longestCursor = 10_000
/** Calls that could not be stored, and that one run fetches again. */
export const retriedARun = 500
/** Beyond this, something is wrong that retrying does not fix. */
export const mostGaps = 10_000
/** Failed calls in a row before the provider counts as failing, rather than a call. */
export const mostTroubles = 5
/** How often in a row a run is retried because the provider is busy. */
export const mostWaits = 20

export const retryGapMs = (attempts: number): number => Math.min(dayMs, 15 * minuteMs * 2 ** Math.min(attempts, 10))

/** After failed runs: twice the interval, then four times, up to six hours or the interval itself. */
export const nextRunMs = (intervalMinutes: number, failures: number): number => {
  const intervalMs = intervalMinutes * minuteMs
  return Math.max(intervalMs, Math.min(6 * hourMs, intervalMs * 2 ** Math.min(failures, 10)))
}
