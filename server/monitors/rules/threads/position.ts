/** The progress of a thread, in memory that it shares with its watcher. */

export const cells = {
  /** Incremented with every step. */
  steps: 0,
  /** The conversation and rule in progress: `subject * rules + rule`. */
  pair: 1,
  /** 1 while a transcript is read, otherwise 0. */
  isReading: 2,
  /** The watcher sets this to 1 if the thread should stop after the current rule. */
  isGivenUp: 3,
} as const

export type SharedPosition = Int32Array<SharedArrayBuffer>

export const openPosition = (): SharedPosition => new Int32Array(new SharedArrayBuffer(16))
