import type { Interval } from './interval.ts'

/** The settings and the kind of outcome that are pinned at launch. */
export type Design = {
  kind: 'boolean' | 'numeric'
  /** The maximum false alarm rate. */
  alpha: number
  /** The number of conversations at which always-valid intervals are narrowest. */
  tuningConversations: number
  /** The range of a numeric outcome's scores, if it has one. */
  range: Interval | null
}

/** The share of alpha used for the t part of always-valid boolean intervals. The exact part uses the rest. */
export const tShare = 0.9

export const standardDesign = { alpha: 0.05, tuningConversations: 1000, power: 0.8 }

/** Returns the bounds for one arm's mean. */
export const boundsOf = ({ kind, range }: Design): Interval | null => (kind === 'boolean' ? { low: 0, high: 1 } : range)

/** Returns the bounds for the difference between two means. */
export const differenceBoundsOf = (design: Design): Interval | null => {
  const bounds = boundsOf(design)
  return bounds && { low: bounds.low - bounds.high, high: bounds.high - bounds.low }
}
