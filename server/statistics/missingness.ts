// Compares missing outcomes: whether one arm has more of them, and which differences they could hide.

import { type AnytimeDifference, anytimeDifference, precisionOf, tLevel } from './anytime.ts'
import { type ArmEstimate, type ArmEstimates, estimateArms, variancesOf } from './arm.ts'
import { boundsOf, type Design, differenceBoundsOf } from './design.ts'
import { type FixedDifference, fixedDifference } from './fixed.ts'
import { clamp, clampInterval, type Interval } from './interval.ts'
import { tMultiplier } from './mixtures.ts'
import type { OutcomeSums } from './outcome-sums.ts'

/** If a larger share of an arm is missing, the observed values may not represent the others. */
const highShare = 0.1

export type Missingness = {
  /** The share of missing outcomes among all settled conversations. */
  shareA: number | null
  shareB: number | null
  fixed: FixedDifference
  anytime: AnytimeDifference
  flags: ('differential_missingness' | 'high_missingness')[]
  /** Null if scores have no range, or if nothing is settled in an arm. */
  worstCase: WorstCase | null
}

/** The bounds for the arms' means and their difference, no matter what the missing values are (Manski). */
export type WorstCase = {
  a: Interval
  b: Interval
  difference: Interval
  /** Whether the difference is certainly not 0. */
  signSurvives: boolean
  /** The bounds for the difference, including sampling uncertainty. Null while that uncertainty is unknown. */
  differenceAtAnyLook: Interval | null
}

export const missingness = (sums: OutcomeSums, arms: ArmEstimates, design: Design): Missingness => {
  const asOutcome: Design = { ...design, kind: 'boolean', range: null }
  const settled = estimateArms(sums.unobserved, 'boolean')
  const anytime = anytimeDifference(settled, asOutcome)
  const flags: Missingness['flags'] = []
  if (anytime.p < design.alpha) flags.push('differential_missingness')
  if (Math.max(settled.a.mean ?? 0, settled.b.mean ?? 0) > highShare) flags.push('high_missingness')
  return {
    shareA: settled.a.mean,
    shareB: settled.b.mean,
    fixed: fixedDifference(settled, asOutcome),
    anytime,
    flags,
    worstCase: worstCase(arms, settled, design),
  }
}

const worstCase = (arms: ArmEstimates, settled: ArmEstimates, design: Design): WorstCase | null => {
  const bounds = boundsOf(design)
  if (!bounds || settled.a.observed === 0 || settled.b.observed === 0) return null
  const meanBetween = (observed: ArmEstimate, { observed: all, sum: unobserved }: ArmEstimate): Interval => ({
    low: (observed.sum + unobserved * bounds.low) / all,
    high: (observed.sum + unobserved * bounds.high) / all,
  })
  const [a, b] = [meanBetween(arms.a, settled.a), meanBetween(arms.b, settled.b)]
  const difference = { low: b.low - a.high, high: b.high - a.low }
  return {
    a,
    b,
    difference,
    signSurvives: difference.low > 0 || difference.high < 0,
    differenceAtAnyLook: widened(difference, arms, settled, design, bounds),
  }
}

const widened = (
  difference: Interval,
  arms: ArmEstimates,
  settled: ArmEstimates,
  design: Design,
  bounds: Interval,
): Interval | null => {
  const completed: ArmEstimates = {
    a: completedArm(arms.a, settled.a, design, bounds),
    b: completedArm(arms.b, settled.b, design, bounds),
    // A covariance that would narrow the interval is ignored.
    covariance: Math.min(0, arms.covariance),
    difference: null,
    single: false,
  }
  const precision = precisionOf(completed, design)
  if (!precision) return null
  const half = Math.sqrt(precision.variance) * tMultiplier(precision.degrees, precision.x, tLevel(design, design.alpha))
  if (Number.isNaN(half)) return null
  const wider = { low: difference.low - half, high: difference.high + half }
  return clampInterval(wider, differenceBoundsOf(design) ?? wider)
}

/** Returns the arm as if everything settled were observed, with the maximum uncertainty. */
const completedArm = (
  observed: ArmEstimate,
  settled: ArmEstimate,
  { kind }: Design,
  { low, high }: Interval,
): ArmEstimate => {
  const count = settled.observed
  const unobserved = settled.sum
  const sum = kind === 'boolean' ? clamp(count / 2, observed.sum, observed.sum + unobserved) : observed.sum
  const farthest = observed.mean === null ? high - low : Math.max(observed.mean - low, high - observed.mean)
  const deviations =
    kind === 'boolean' ? (sum * (count - sum)) / count : observed.deviations + unobserved * farthest ** 2
  const designEffect = Math.max(observed.designEffect, settled.designEffect)
  const counted = { ...settled, sum, deviations, designEffect }
  const variances = variancesOf(counted, kind)
  return { ...counted, ...variances, unitVariance: variances.variance }
}
