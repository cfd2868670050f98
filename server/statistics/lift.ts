// Calculates the difference relative to arm a. Uses Fieller's interval with the absolute difference's multiplier, so
// that both agree on whether there is a difference.

import type { AnytimeDifference } from './anytime.ts'
import type { ArmEstimates } from './arm.ts'
import type { Design } from './design.ts'
import type { FixedDifference } from './fixed.ts'
import type { Interval } from './interval.ts'

export type Lift = {
  estimate: number | null
  fixed: Interval | null
  anytime: Interval | null
  /** The reason why an interval is missing. */
  reason: 'baseline_is_zero' | 'baseline_not_distinguishable_from_zero' | 'difference_unknown' | null
}

/** Returns null if the baseline is 0 or almost 0. */
export const relativeLift = (meanA: number, meanB: number): number | null => {
  const lift = (meanB - meanA) / Math.abs(meanA)
  return Number.isFinite(lift) ? lift : null
}

export type Ratio = {
  numerator: number
  denominator: number
  numeratorVariance: number
  denominatorVariance: number
  covariance: number
}

/** Returns the interval for a ratio, or null if the denominator could be 0. */
export const fieller = (ratio: Ratio, multiplier: number): Interval | null => {
  const { numerator, denominator, numeratorVariance, denominatorVariance, covariance } = ratio
  const square = multiplier ** 2
  const a = denominator ** 2 - square * denominatorVariance
  const b = denominator * numerator - square * covariance
  const c = numerator ** 2 - square * numeratorVariance
  const root = b * b - a * c
  if (a <= 0 || root < 0 || !Number.isFinite(root)) return null
  return { low: (b - Math.sqrt(root)) / a, high: (b + Math.sqrt(root)) / a }
}

type LiftParts = { interval: Interval | null; standardError: number | null; multiplier: number | null }

export const liftOf = (
  arms: ArmEstimates,
  design: Design,
  { fixed, anytime }: { fixed: FixedDifference; anytime: AnytimeDifference },
): Lift => {
  const { a, b } = arms
  if (a.mean === null || b.mean === null) return noLift('difference_unknown')
  if (a.mean === 0) return noLift('baseline_is_zero')
  const intervals = {
    fixed: agreeing(arms, design, fixed),
    anytime: liftInterval(arms, design, anytime),
  }
  const known = fixed.interval !== null && anytime.interval !== null
  const complete = intervals.fixed !== null && intervals.anytime !== null
  return {
    estimate: relativeLift(a.mean, b.mean),
    ...intervals,
    reason: complete ? null : known ? 'baseline_not_distinguishable_from_zero' : 'difference_unknown',
  }
}

const noLift = (reason: Lift['reason']): Lift => ({ estimate: null, fixed: null, anytime: null, reason })

const excludesZero = ({ low, high }: Interval) => low > 0 || high < 0

/**
 * Returns an interval that agrees with the absolute one. A score interval has no standard error. If counts are so small
 * that Fieller's interval would disagree on whether there is a difference, the standard error is derived from the side
 * of the score interval that is closer to 0.
 */
const agreeing = (arms: ArmEstimates, design: Design, fixed: FixedDifference): Interval | null => {
  const { interval, multiplier } = fixed
  const lift = liftInterval(arms, design, fixed)
  if (fixed.method === 'welch' || !interval || !multiplier || arms.difference === null) return lift
  if (lift && excludesZero(lift) === excludesZero(interval)) return lift
  const half = arms.difference > 0 ? arms.difference - interval.low : interval.high - arms.difference
  return liftInterval(arms, design, { interval, multiplier, standardError: half / multiplier })
}

const liftInterval = ({ a, b, covariance }: ArmEstimates, design: Design, known: LiftParts): Interval | null => {
  const { standardError, multiplier } = known
  const variance = a.variance + b.variance - 2 * covariance
  if (a.mean === null || b.mean === null || !standardError || multiplier === null || variance <= 0) return null
  // The variances of the arms are scaled so that their sum equals the variance of the difference.
  const scale = standardError ** 2 / variance
  const ratio = fieller(
    {
      numerator: b.mean,
      denominator: a.mean,
      numeratorVariance: scale * b.variance,
      denominatorVariance: scale * a.variance,
      covariance: scale * covariance,
    },
    multiplier,
  )
  if (!ratio) return null
  const lift = a.mean > 0 ? { low: ratio.low - 1, high: ratio.high - 1 } : { low: 1 - ratio.high, high: 1 - ratio.low }
  return design.kind === 'boolean' ? { low: Math.max(-1, lift.low), high: Math.max(-1, lift.high) } : lift
}
