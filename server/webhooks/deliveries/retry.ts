// When a rejected delivery is retried. Pure.

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

/** After each failed attempt; the attempt after the last of them is the final one. They add up to about 24 hours. */
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

/** So that deliveries that failed together are not retried together. */
const jitter = 0.1

/**
 * Returns the delay after this many failures in a row; undefined if there is no further attempt. `askedMs` is how long
 * the receiver asks to wait: the minimum.
 */
export const retryDelayMs = (failures: number, askedMs: number, random = Math.random()): number | undefined => {
  const delay = retryDelaysMs[failures - 1]
  if (delay === undefined) return undefined
  return Math.round(Math.max(delay * (1 - jitter + 2 * jitter * random), askedMs * (1 + jitter * random)))
}
