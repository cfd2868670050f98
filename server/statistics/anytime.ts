// Calculates the always-valid difference b − a, which is the headline number. The false alarm rate is at most alpha, no
// matter how often the result is checked.

import { type ArmEstimates, degreesOfFreedom, mendedVariance } from './arm.ts'
import { type Design, differenceBoundsOf, tShare } from './design.ts'
import { exactInterval, exactLogE } from './exact-binomial.ts'
import type { NoInterval } from './fixed.ts'
import { around, clampInterval, type Interval } from './interval.ts'
import { eValueOf, informationRate, pValueOf, tLogE, tMultiplier } from './mixtures.ts'

/** The precision of the difference. */
export type Precision = {
  variance: number
  degrees: number
  /** The number of conversations, reduced according to their similarity. */
  effectiveConversations: number
  /** The information in the units that the mixtures use. */
  x: number
}

export type SequentialEvidence = { logE: number; eValue: number; p: number }

export type AnytimeDifference = Omit<SequentialEvidence, 'logE'> & {
  interval: Interval | null
  /** The reason why there is no interval. */
  reason: NoInterval | null
  standardError: number | null
  degrees: number | null
  effectiveConversations: number | null
  /** The number of standard errors on each side of the estimate, for the t part. Null if infinite. */
  multiplier: number | null
}

const noEvidence: SequentialEvidence = { logE: 0, eValue: 1, p: 1 }

/** Returns the precision, or null while an arm has fewer than two units. */
export const precisionOf = ({ a, b, covariance }: ArmEstimates, design: Design): Precision | null => {
  if (a.units < 2 || b.units < 2) return null
  const observed = a.observed + b.observed
  // The variance is at least that of equal arms. This keeps the result valid for uneven splits and arms without
  // variation.
  const pooled = pooledOf(a, b, design)
  const ifAlike = pooled.worth * (a.designEffect / a.observed + b.designEffect / b.observed)
  const ifAlikeAndIndependent = pooled.independent * (1 / a.observed + 1 / b.observed)
  const independent = Math.max(a.independentVariance + b.independentVariance, ifAlikeAndIndependent)
  const variance = Math.max(Math.max(a.variance + b.variance, ifAlike) - 2 * covariance, independent)
  if (variance <= 0) return { variance: 0, degrees: 0, effectiveConversations: 0, x: 0 }
  const effectiveConversations = (observed * independent) / variance
  return {
    variance,
    degrees: degreesOfFreedom(a.variance, a.units, b.variance, b.units),
    effectiveConversations,
    x: effectiveConversations * informationRate(design),
  }
}

/**
 * Returns the variance of one observation if both arms are equal, once for independent observations and once for
 * effective ones.
 */
const pooledOf = (
  a: ArmEstimates['a'],
  b: ArmEstimates['a'],
  { kind }: Design,
): { independent: number; worth: number } => {
  const observed = a.observed + b.observed
  if (kind === 'numeric') {
    const both = (a.deviations + b.deviations) / (observed - 2)
    return { independent: both, worth: both }
  }
  const independent = mendedVariance(a.sum + b.sum, observed)
  const worthSum = a.sum / a.designEffect + b.sum / b.designEffect
  const worth = mendedVariance(worthSum, a.observed / a.designEffect + b.observed / b.designEffect)
  return { independent, worth: Math.max(independent, worth) }
}

/** Returns the evidence. This is fast enough to run after every conversation. */
export const anytimeEvidence = (
  arms: ArmEstimates,
  design: Design,
  precision = precisionOf(arms, design),
): SequentialEvidence => {
  if (arms.difference === null || precision === null || precision.variance === 0) return noEvidence
  const byT = tLogE(arms.difference ** 2 / precision.variance, precision.degrees, precision.x)
  const logE = design.kind === 'boolean' ? hybridLogE(byT, arms) : byT
  return { logE, eValue: eValueOf(logE), p: pValueOf(logE) }
}

const hybridLogE = (byT: number, arms: ArmEstimates): number => {
  const part = Math.log(tShare) + byT
  return arms.single ? Math.max(part, Math.log(1 - tShare) + exactLogE(shareOf(arms.a), shareOf(arms.b), 0)) : part
}

const shareOf = ({ sum, observed }: ArmEstimates['a']) => ({ affected: sum, all: observed })

/** Returns the alpha of the t part. */
export const tLevel = ({ kind }: Design, alpha: number): number => (kind === 'boolean' ? tShare * alpha : alpha)

export const anytimeDifference = (arms: ArmEstimates, design: Design, alpha = design.alpha): AnytimeDifference => {
  const precision = precisionOf(arms, design)
  const { eValue, p } = anytimeEvidence(arms, design, precision)
  const without = (reason: NoInterval): AnytimeDifference => ({
    interval: null,
    reason,
    eValue,
    p,
    standardError: null,
    degrees: null,
    effectiveConversations: null,
    multiplier: null,
  })
  if (arms.difference === null || precision === null) return without('too_few_units')
  if (precision.variance === 0) return without('zero_variance')
  const multiplier = tMultiplier(precision.degrees, precision.x, tLevel(design, alpha))
  const standardError = Math.sqrt(precision.variance)
  const interval = anytimeInterval(arms, arms.difference, multiplier * standardError, design, alpha)
  return {
    interval,
    reason: interval ? null : 'too_few_observations',
    eValue,
    p,
    standardError,
    degrees: precision.degrees,
    effectiveConversations: precision.effectiveConversations,
    multiplier: Number.isFinite(multiplier) ? multiplier : null,
  }
}

const anytimeInterval = (
  arms: ArmEstimates,
  difference: number,
  half: number,
  design: Design,
  alpha: number,
): Interval | null => {
  const bounds = differenceBoundsOf(design)
  if (half === Number.POSITIVE_INFINITY && !bounds) return null
  const byT = bounds ? clampInterval(around(difference, half), bounds) : around(difference, half)
  if (design.kind === 'numeric' || !arms.single) return byT
  // The interval is the intersection of both parts, because a value that either part excludes is excluded.
  const exact = exactInterval(shareOf(arms.a), shareOf(arms.b), (1 - tShare) * alpha)
  return { low: Math.max(byT.low, exact.low), high: Math.min(byT.high, exact.high) }
}
