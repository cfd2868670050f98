/**
 * Monitors with `similarTo` in their scope can't be evaluated while the embedding model is not responding. They are
 * retried later. All other monitors are evaluated immediately.
 */

/** The number of retries. The pauses add up to a day. */
const mostRounds = 29
const shortestPauseSeconds = 30
const longestPauseSeconds = 3_600

/** Returns the pause after a failed attempt, counted from 1, or undefined after the last one. */
export const pauseSecondsAfter = (round: number): number | undefined =>
  round > mostRounds ? undefined : Math.min(longestPauseSeconds, shortestPauseSeconds * 2 ** (round - 1))
