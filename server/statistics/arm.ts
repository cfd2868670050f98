// Calculates the mean of an outcome in one arm, and its precision.

import { boundsOf, type Design } from './design.ts'
import { tQuantile } from './distributions.ts'
import { around, clamp, clampInterval, type Interval } from './interval.ts'
import { anytimeRateInterval, informationRate, tMultiplier } from './mixtures.ts'
import { wilson } from './rate-intervals.ts'
import { type ArmSums, type Sums, singleObservations } from './sums.ts'

export type ArmEstimate = {
  units: number
  observed: number
  sum: number
  /** The rate if the outcome is boolean. */
  mean: number | null
  /** The sum of squared deviations from the mean. */
  deviations: number
  /**
   * The variance of the mean, calculated from the differences between units with the delta method. Requires two units.
   */
  unitVariance: number | null
  /** The ratio of this variance to that of independent observations. It is at least 1. */
  designEffect: number
  /** The variance of the mean for independent observations. For booleans, it is adjusted so that it is never 0. */
  independentVariance: number
  /** The variance of the mean that always-valid results use. */
  variance: number
  /** Whether each observation is its own unit. */
  single: boolean
}

export type ArmEstimates = {
  a: ArmEstimate
  b: ArmEstimate
  /** The covariance of the two means. It results from units in both arms. */
  covariance: number
  /** The difference b − a. */
  difference: number | null
  /** Whether every unit has one observation. */
  single: boolean
}

export const estimateArms = (sums: Sums, kind: Design['kind']): ArmEstimates => {
  const [measuredA, measuredB] = [measure(sums.a), measure(sums.b)]
  const a = estimate(measuredA, designEffectOf(measuredA, measuredB), kind)
  const b = estimate(measuredB, designEffectOf(measuredB, measuredA), kind)
  const [meanA, meanB] = [measuredA.shiftedMean, measuredB.shiftedMean]
  return {
    a,
    b,
    covariance: covarianceOf(sums, a, b, meanA, meanB),
    difference: a.mean === null || b.mean === null ? null : sums.b.shift - sums.a.shift + (meanB - meanA),
    single: singleObservations(sums),
  }
}

type Measured = Pick<ArmEstimate, 'units' | 'observed' | 'sum' | 'mean' | 'deviations' | 'unitVariance' | 'single'> & {
  shiftedMean: number
  /** The ratio of the units' variance to that of independent observations. Null without variation. */
  effect: number | null
  /** The ratio if all observations of a unit were equal. */
  largestEffect: number
}

const measure = (sums: ArmSums): Measured => {
  const { shift, units, count, squares, sumSum, sumCount, countCount } = sums
  const shiftedMean = count === 0 ? 0 : sums.sum / count
  const deviations = withoutRounding(squares - sums.sum * shiftedMean, squares)
  const residuals = withoutRounding(
    sumSum - 2 * shiftedMean * sumCount + shiftedMean * shiftedMean * countCount,
    sumSum + shiftedMean * shiftedMean * countCount,
  )
  const unitVariance = units < 2 ? null : ((units / (units - 1)) * residuals) / count ** 2
  const independent = count < 2 ? 0 : deviations / ((count - 1) * count)
  return {
    units,
    observed: count,
    sum: sums.sum + shift * count,
    mean: count === 0 ? null : shift + shiftedMean,
    deviations,
    unitVariance,
    single: countCount === count,
    shiftedMean,
    effect: unitVariance === null || independent === 0 ? null : unitVariance / independent,
    largestEffect: count === 0 ? 1 : countCount / count,
  }
}

/** Replaces a value with 0 if it is only a rounding error of sums as large as `of`. */
const withoutRounding = (value: number, of: number) => (value <= of * 1e-14 ? 0 : value)

/**
 * Returns the design effect. If the arm has no variation, the similarity within units is unknown and is taken from the
 * other arm. If that arm has no variation either, a unit counts as one observation.
 */
const designEffectOf = (arm: Measured, other: Measured): number => {
  const effect = arm.effect ?? 1 + (arm.largestEffect - 1) * (likenessOf(other) ?? 1)
  // Rounding can produce a value slightly above 1.
  return effect > 1 + 1e-9 ? effect : 1
}

/** Returns the similarity of observations within a unit, from 0 for independent ones to 1 for equal ones. */
const likenessOf = ({ effect, largestEffect }: Measured): number | null =>
  effect === null || largestEffect <= 1 ? null : clamp((effect - 1) / (largestEffect - 1), 0, 1)

const estimate = (measured: Measured, designEffect: number, kind: Design['kind']): ArmEstimate => {
  const { units, observed, sum, mean, deviations, unitVariance, single } = measured
  const counted = { units, observed, sum, mean, deviations, unitVariance, single, designEffect }
  return { ...counted, ...variancesOf(counted, kind) }
}

/**
 * Returns the variance of a share after adding one observation of each kind. It is never 0, even if all observations
 * are equal (Agresti and Caffo).
 */
export const mendedVariance = (sum: number, count: number): number => {
  const mended = (sum + 1) / (count + 2)
  return mended * (1 - mended)
}

export const variancesOf = (
  arm: Pick<ArmEstimate, 'observed' | 'sum' | 'deviations' | 'designEffect'>,
  kind: Design['kind'],
): Pick<ArmEstimate, 'independentVariance' | 'variance'> => {
  const { observed, sum, deviations, designEffect } = arm
  if (kind === 'numeric') {
    const independentVariance = observed < 2 ? 0 : deviations / ((observed - 1) * observed)
    return { independentVariance, variance: designEffect * independentVariance }
  }
  const independentVariance = mendedVariance(sum, observed) / (observed + 2)
  // The adjustment uses the effective number of observations, which makes it larger for rare outcomes.
  const [worthSum, worth] = [sum / designEffect, observed / designEffect]
  const variance = Math.max(designEffect * independentVariance, mendedVariance(worthSum, worth) / (worth + 2))
  return { independentVariance, variance }
}

const covarianceOf = ({ shared }: Sums, a: ArmEstimate, b: ArmEstimate, meanA: number, meanB: number): number => {
  if (shared.units === 0 || !a.unitVariance || !b.unitVariance) return 0
  const residuals =
    shared.sumSum - meanB * shared.sumCount - meanA * shared.countSum + meanA * meanB * shared.countCount
  const correction = Math.sqrt((a.units / (a.units - 1)) * (b.units / (b.units - 1)))
  const covariance = (correction * residuals) / (a.observed * b.observed)
  // A covariance that is only a rounding error must not decide which method is used.
  return Math.abs(covariance) < 1e-12 * Math.sqrt(a.unitVariance * b.unitVariance) ? 0 : covariance
}

/**
 * Returns the degrees of freedom for a sum of two variances (Welch and Satterthwaite). Variances of zero are ignored.
 */
export const degreesOfFreedom = (varianceA: number, unitsA: number, varianceB: number, unitsB: number): number => {
  // This calculates with shares, because the squares of small variances would be 0.
  const share = varianceA / (varianceA + varianceB)
  return 1 / (share ** 2 / (unitsA - 1) + (1 - share) ** 2 / (unitsB - 1))
}

/** Returns an interval that is only valid for a single look. */
export const fixedArmInterval = (arm: ArmEstimate, design: Design, alpha = design.alpha): Interval | null => {
  const { mean, unitVariance, units, observed, sum, designEffect } = arm
  if (mean === null || unitVariance === null) return null
  if (design.kind === 'boolean') return wilson({ affected: sum / designEffect, all: observed / designEffect }, alpha)
  return within(around(mean, tQuantile(1 - alpha / 2, units - 1) * Math.sqrt(unitVariance)), design)
}

/** Returns an interval that is valid at any time. */
export const anytimeArmInterval = (arm: ArmEstimate, design: Design, alpha = design.alpha): Interval | null => {
  const { mean, unitVariance, units, observed, sum, designEffect, variance } = arm
  if (mean === null || unitVariance === null) return null
  if (design.kind === 'boolean' && arm.single) {
    return anytimeRateInterval({ affected: sum, all: observed }, { alpha, alphaTuned: design.alpha, tunedFor: 500 })
  }
  const x = (observed / designEffect) * informationRate(design)
  const multiplier = tMultiplier(units - 1, x, alpha)
  if (multiplier === Number.POSITIVE_INFINITY) return boundsOf(design)
  return within(around(mean, multiplier * Math.sqrt(variance)), design)
}

const within = (interval: Interval, design: Design): Interval => {
  const bounds = boundsOf(design)
  return bounds ? clampInterval(interval, bounds) : interval
}
