/** The progress of a thread, in memory that it shares with its watcher. */

export const cells = {
  /** Incremented with every step. */
  steps: 0,
  /** The pair of conversation and rule in progress: subject * rules + rule. */
  pair: 1,
  /** 1 while a transcript is read. */
  isReading: 2,
  /** Set to 1 by the watcher if the thread should stop after the current pair. */
  isGivenUp: 3,
} as const

export type SharedPosition = Int32Array<SharedArrayBuffer>

export const openPosition = (): SharedPosition => new Int32Array(new SharedArrayBuffer(16))
