// Decides which differences the intervals of one look exclude, without computing the ends of the intervals.

import { precisionOf, tLevel } from '../../server/statistics/anytime.ts'
import type { ArmEstimate, ArmEstimates } from '../../server/statistics/arm.ts'
import { type Design, tShare } from '../../server/statistics/design.ts'
import { exactLogE } from '../../server/statistics/exact-binomial.ts'
import { fixedP } from '../../server/statistics/fixed.ts'
import { tLogE } from '../../server/statistics/mixtures.ts'
import { type Share, scoreTest } from '../../server/statistics/rate-intervals.ts'

const shareOf = ({ sum, observed }: ArmEstimate): Share => ({ affected: sum, all: observed })

/** Returns whether the always-valid interval excludes a difference. */
export const anytimeExcludes = (arms: ArmEstimates, design: Design, difference: number): boolean => {
  const precision = precisionOf(arms, design)
  if (arms.difference === null || precision === null || precision.variance === 0) return false
  const byT = tLogE((arms.difference - difference) ** 2 / precision.variance, precision.degrees, precision.x)
  if (byT > -Math.log(tLevel(design, design.alpha))) return true
  if (design.kind === 'numeric' || !arms.single) return false
  return exactLogE(shareOf(arms.a), shareOf(arms.b), difference) > -Math.log((1 - tShare) * design.alpha)
}

const effective = ({ sum, observed, designEffect }: ArmEstimate): Share => ({
  affected: sum / designEffect,
  all: observed / designEffect,
})

/**
 * Returns whether the ordinary interval excludes 0. Uses p, which is Fisher's for small counts and has fewer false
 * alarms than the interval.
 */
export const fixedExcludesZero = (arms: ArmEstimates, design: Design): boolean => {
  if (design.kind === 'numeric' || arms.covariance !== 0) return fixedP(arms, design) < design.alpha
  if (arms.a.unitVariance === null || arms.b.unitVariance === null) return false
  return scoreTest(effective(arms.a), effective(arms.b)).p < design.alpha
}
