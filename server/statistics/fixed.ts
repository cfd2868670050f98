// Calculates the difference b − a for a single look. If it is checked repeatedly, it has more false alarms.

import { type ArmEstimates, degreesOfFreedom } from './arm.ts'
import { type Design, differenceBoundsOf } from './design.ts'
import { tQuantile, tTwoSided } from './distributions.ts'
import { around, clampInterval, type Interval } from './interval.ts'
import { fisher, leastExpected, newcombe, type Share, scoreInterval, scoreTest, twoSidedZ } from './rate-intervals.ts'

export type NoInterval = 'too_few_units' | 'too_few_observations' | 'zero_variance'

export type FixedDifference = {
  interval: Interval | null
  /** The reason why there is no interval. */
  reason: NoInterval | null
  p: number
  method: 'welch' | 'score' | 'score_and_fisher'
  standardError: number | null
  degrees: number | null
  /** The number of standard errors on each side of the estimate. For scores, this is the normal quantile. */
  multiplier: number | null
  /** Newcombe's interval, for comparison with the score interval. */
  newcombe: Interval | null
}

const unknown = (method: FixedDifference['method'], reason: NoInterval): FixedDifference => ({
  interval: null,
  reason,
  p: 1,
  method,
  standardError: null,
  degrees: null,
  multiplier: null,
  newcombe: null,
})

const usesScores = ({ covariance }: ArmEstimates, { kind }: Design) => kind === 'boolean' && covariance === 0

export const fixedDifference = (arms: ArmEstimates, design: Design, alpha = design.alpha): FixedDifference =>
  usesScores(arms, design) ? byScore(arms, alpha) : byWelch(arms, design, alpha)

/** Returns the p-value. This is fast enough to run after every conversation. */
export const fixedP = (arms: ArmEstimates, design: Design): number => {
  if (usesScores(arms, design)) return scoreP(arms)?.p ?? 1
  const test = welch(arms)
  return typeof test === 'string' ? 1 : test.p
}

const welch = ({ a, b, covariance, difference }: ArmEstimates) => {
  if (difference === null || a.unitVariance === null || b.unitVariance === null) return 'too_few_units'
  const variance = a.unitVariance + b.unitVariance - 2 * covariance
  // Rounding errors of a larger sum count as 0.
  if (variance <= 1e-14 * (a.unitVariance + b.unitVariance)) return 'zero_variance'
  const standardError = Math.sqrt(variance)
  const degrees = degreesOfFreedom(a.unitVariance, a.units, b.unitVariance, b.units)
  return { difference, standardError, degrees, p: tTwoSided(difference / standardError, degrees) }
}

const byWelch = (arms: ArmEstimates, design: Design, alpha: number): FixedDifference => {
  const test = welch(arms)
  if (typeof test === 'string') return unknown('welch', test)
  const { difference, standardError, degrees, p } = test
  const multiplier = tQuantile(1 - alpha / 2, degrees)
  const interval = around(difference, multiplier * standardError)
  const bounds = differenceBoundsOf(design)
  return {
    interval: bounds ? clampInterval(interval, bounds) : interval,
    reason: null,
    p,
    method: 'welch',
    standardError,
    degrees,
    multiplier,
    newcombe: null,
  }
}

/** Returns the share as if there were fewer observations, if they are similar (Rao and Scott 1992). */
const effectiveShare = ({ sum, observed, designEffect }: ArmEstimates['a']): Share => ({
  affected: sum / designEffect,
  all: observed / designEffect,
})

const scoreP = ({ a, b }: ArmEstimates): { p: number; exact: boolean } | null => {
  if (a.unitVariance === null || b.unitVariance === null) return null
  const [shareA, shareB] = [effectiveShare(a), effectiveShare(b)]
  const exact = a.designEffect === 1 && b.designEffect === 1 && leastExpected(shareA, shareB) < 5
  return { p: exact ? fisher(shareA, shareB) : scoreTest(shareA, shareB).p, exact }
}

const byScore = (arms: ArmEstimates, alpha: number): FixedDifference => {
  const { a, b } = arms
  const test = scoreP(arms)
  if (test === null || a.unitVariance === null || b.unitVariance === null) return unknown('score', 'too_few_units')
  const [shareA, shareB] = [effectiveShare(a), effectiveShare(b)]
  return {
    interval: scoreInterval(shareA, shareB, alpha),
    reason: null,
    p: test.p,
    method: test.exact ? 'score_and_fisher' : 'score',
    standardError: Math.sqrt(a.unitVariance + b.unitVariance),
    degrees: null,
    multiplier: twoSidedZ(alpha),
    newcombe: newcombe(shareA, shareB, alpha),
  }
}
