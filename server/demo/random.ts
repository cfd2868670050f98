/** Generates pseudorandom numbers, always the same for the same seed. */

export type Random = {
  /** Returns a number in [0, 1). */
  next: () => number
  /** Returns an integer from `low` to `high`, inclusive. */
  int: (low: number, high: number) => number
  chance: (probability: number) => boolean
  pick: <T>(list: readonly T[]) => T
  /** Returns a number around `median`, never below zero and with a long tail, like durations in conversations. */
  spread: (median: number, sigma: number) => number
}

/**
 * Opens the sequence for a seed and a stream. Each pair has its own sequence, so that individual items can be generated
 * independently.
 */
export const openRandom = (seed: number, stream: number): Random => {
  let state = (Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35)) >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  return {
    next,
    int: (low, high) => low + Math.floor(next() * (high - low + 1)),
    chance: (probability) => next() < probability,
    pick: (list) => {
      const picked = list[Math.floor(next() * list.length)]
      if (picked === undefined) throw new Error('Cannot pick from an empty list')
      return picked
    },
    spread: (median, sigma) => median * Math.exp(sigma * normal()),
  }
}
