import type { Segment } from '../voice/segments.ts'

/** Moments that people may want to hear. */

export const markKinds = ['clipping', 'dropout', 'packet_gap', 'dtmf', 'tone', 'beep', 'hold_music', 'cut_off'] as const

export type MarkKind = (typeof markKinds)[number]

export type Mark = Segment & {
  kind: MarkKind
  /** The keys that were pressed. Null if the organization redacts them. */
  digits?: string | null
  /** The probability that an estimate is right, from 0 to 1. */
  confidence?: number
}

/** The maximum number of marks of each kind. A file of noise could have more than anyone looks at. */
export const mostMarks = 1_000
