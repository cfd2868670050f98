// Decides when a rejected delivery is retried. All functions are pure.

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/**
 * The delays after each failed attempt, which add up to about 24 hours. The attempt after the last delay is the final
 * one.
 */
export const retryDelaysMs = [
  5 * second,
  30 * second,
  2 * minute,
  10 * minute,
  30 * minute,
  hour,
  2 * hour,
  4 * hour,
  8 * hour,
  8 * hour,
]

/** The delays vary, so that deliveries that failed at the same time are not retried at the same time. */
const jitter = 0.1

/**
 * Returns the delay after this many consecutive failures, or undefined if there are no further attempts. The delay is
 * at least `askedMs`, which the receiver requested.
 */
export const retryDelayMs = (failures: number, askedMs: number, random = Math.random()): number | undefined => {
  const delay = retryDelaysMs[failures - 1]
  if (delay === undefined) return undefined
  return Math.round(Math.max(delay * (1 - jitter + 2 * jitter * random), askedMs * (1 + jitter * random)))
}
