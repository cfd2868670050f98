/** Where a thread stands, in memory that it shares with whoever watches it. */

export const cells = {
  /** Counts on with everything that is done. */
  steps: 0,
  /** Which pair of conversation and rule is evaluated: subject * rules + rule. */
  pair: 1,
  /** 1 while a transcript is read. */
  isReading: 2,
  /** Set to 1 by the watcher, when the thread is to stop after the pair in hand. */
  isGivenUp: 3,
} as const

export type Position = Int32Array<SharedArrayBuffer>

export const openPosition = (): Position => new Int32Array(new SharedArrayBuffer(16))
