// Corrects a judge's errors using people's reviews of a fair sample of the same conversations (prediction-powered
// inference; Angelopoulos, Duchi and Zrnic 2023).

import { mendedVariance } from './arm.ts'
import type { Design } from './design.ts'
import { tQuantile } from './distributions.ts'
import { around, clamp, type Interval } from './interval.ts'
import { informationRate, tMultiplier } from './mixtures.ts'
import type { ArmSums } from './sums.ts'

/** The minimum number of reviews in each arm before a correction is shown. */
const leastReviewed = 30

/**
 * The sums for a unit with a reviewed conversation. `judge…` is about reviewed conversations, and `unreviewed…` is
 * about the unit's other conversations.
 */
export type ReviewedUnit = {
  reviewed: number
  human: number
  judge: number
  judgeSquares: number
  products: number
  unreviewed: number
  unreviewedJudge: number
  unreviewedJudgeSquares: number
}

/**
 * `others` are the units without a reviewed conversation. They contain the sums of the judge's results. Their shift is
 * 0.
 */
export type ReviewedArm = { units: readonly ReviewedUnit[]; others: ArmSums }

export type CorrectedArm = {
  reviewed: number
  human: number
  mean: number
  variance: number
  weight: number
  units: number
}

/** Returns the corrected arm, or null if there are too few reviews. */
export const correctArm = ({ units, others }: ReviewedArm): CorrectedArm | null => {
  const total = (of: (unit: ReviewedUnit) => number) => units.reduce((sum, unit) => sum + of(unit), 0)
  const reviewed = total((unit) => unit.reviewed)
  if (reviewed < leastReviewed || units.length < 2) return null
  const human = total((unit) => unit.human)
  const judge = total((unit) => unit.judge)
  const unreviewed = total((unit) => unit.unreviewed) + others.count
  const unreviewedJudge = total((unit) => unit.unreviewedJudge) + others.sum
  const judged = reviewed + unreviewed
  const judgeSquares = total((unit) => unit.judgeSquares + unit.unreviewedJudgeSquares) + others.squares
  const judgeVariance = (judgeSquares - (judge + unreviewedJudge) ** 2 / judged) / (judged - 1)
  const covariance = (total((unit) => unit.products) - (human * judge) / reviewed) / (reviewed - 1)
  // The weight of the judge's results. If it is 0, only the reviews count.
  const weight =
    judgeVariance > 1e-12 && unreviewed > 0
      ? clamp(covariance / ((1 + reviewed / unreviewed) * judgeVariance), 0, 1)
      : 0
  const reviewedMean = (human - weight * judge) / reviewed
  const unreviewedMean = unreviewed > 0 ? unreviewedJudge / unreviewed : 0
  const allUnits = units.length + others.units
  // Each unit's contribution to the error of both means.
  const ofReviewed = total((unit) => {
    const first = (unit.human - weight * unit.judge - reviewedMean * unit.reviewed) / reviewed
    if (unreviewed === 0) return first ** 2
    return (first + (weight * (unit.unreviewedJudge - unreviewedMean * unit.unreviewed)) / unreviewed) ** 2
  })
  const { sumSum, sumCount, countCount } = others
  const ofOthers =
    unreviewed === 0
      ? 0
      : (weight ** 2 * Math.max(0, sumSum - 2 * unreviewedMean * sumCount + unreviewedMean ** 2 * countCount)) /
        unreviewed ** 2
  const variance =
    (units.length / (units.length - 1)) * ofReviewed +
    (others.units > 1 ? others.units / (others.units - 1) : 1) * ofOthers
  return { reviewed, human, mean: reviewedMean + weight * unreviewedMean, variance, weight, units: allUnits }
}

/** Returns the variance to add if only few judgments are affected, as for the arms themselves. */
export const fewPeople = ({ human, reviewed }: Pick<CorrectedArm, 'human' | 'reviewed'>): number => {
  const share = human / reviewed
  return Math.max(0, mendedVariance(human, reviewed) / (reviewed + 2) - (share * (1 - share)) / reviewed)
}

export type CorrectedDifference = {
  /** The number of reviews in the text "Corrected with N human reviews." */
  reviewedA: number
  reviewedB: number
  meanA: number
  meanB: number
  estimate: number
  standardError: number
  fixed: Interval | null
  anytime: Interval | null
}

/** Returns the corrected difference. It is shown next to the judge's own difference, and never replaces it. */
export const correctedDifference = (a: ReviewedArm, b: ReviewedArm, design: Design): CorrectedDifference | null => {
  const [armA, armB] = [correctArm(a), correctArm(b)]
  if (!armA || !armB) return null
  const estimate = armB.mean - armA.mean
  const mended = design.kind === 'boolean' ? fewPeople(armA) + fewPeople(armB) : 0
  const variance = armA.variance + armB.variance + mended
  const standardError = Math.sqrt(variance)
  // The number of reviewed units limits the precision.
  const degrees = Math.min(a.units.length, b.units.length) - 1
  const multiplier = tMultiplier(degrees, (armA.reviewed + armB.reviewed) * informationRate(design), design.alpha)
  return {
    reviewedA: armA.reviewed,
    reviewedB: armB.reviewed,
    meanA: armA.mean,
    meanB: armB.mean,
    estimate,
    standardError,
    fixed: variance > 0 ? around(estimate, tQuantile(1 - design.alpha / 2, degrees) * standardError) : null,
    anytime: variance > 0 && Number.isFinite(multiplier) ? around(estimate, multiplier * standardError) : null,
  }
}
