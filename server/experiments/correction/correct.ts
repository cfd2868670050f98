// Corrects a monitor's results, using people's reviews of a fair sample.

import type { Design } from '../../statistics/design.ts'
import {
  type CorrectedDifference,
  correctedDifference,
  type ReviewedArm,
  type ReviewedUnit,
} from '../../statistics/judge-correction.ts'
import type { Arm } from '../../statistics/sums.ts'
import { numberOf } from '../observations/exact.ts'
import { changeOutcome, type ExactOutcome, outcomeSums, type TotalsByArm } from '../observations/exact-sums.ts'
import type { StoredUnit } from '../observations/queries.ts'
import { asExact, noUnitTotals, readTotals } from '../observations/unit-totals.ts'
import type { Reviewed } from './queries.ts'

const nothing = { reviewed: 0, human: 0, judge: 0, judgeSquares: 0, products: 0 }

const totalsOf = ({ held }: StoredUnit, position: number): TotalsByArm => {
  const [a = [], b = []] = held[position] ?? []
  return { a: readTotals(a), b: readTotals(b) }
}

/** Returns the reviewed units of one arm. */
const unitsOf = (reviews: Reviewed[], arm: Arm, held: ReadonlyMap<string, TotalsByArm>): ReviewedUnit[] => {
  const sums = new Map<string, typeof nothing>()
  for (const { unitId, arm: ofArm, judge, human } of reviews) {
    if (ofArm !== arm) continue
    const sum = sums.get(unitId) ?? nothing
    sums.set(unitId, {
      reviewed: sum.reviewed + 1,
      human: sum.human + human,
      judge: sum.judge + judge,
      judgeSquares: sum.judgeSquares + judge * judge,
      products: sum.products + judge * human,
    })
  }
  return [...sums].map(([unitId, sum]) => {
    const { count, sum: all, squares } = held.get(unitId)?.[arm] ?? noUnitTotals
    return {
      ...sum,
      unreviewed: count - sum.reviewed,
      unreviewedJudge: numberOf(asExact(all)) - sum.judge,
      unreviewedJudgeSquares: numberOf(asExact(squares)) - sum.judgeSquares,
    }
  })
}

export type Correction = CorrectedDifference & {
  /** The reviewed share of the conversations observed in arm A. */
  shareReviewedA: number
  shareReviewedB: number
}

type CorrectionInput = {
  reviews: Reviewed[]
  /** The units that the reviewed conversations belong to. */
  units: ReadonlyMap<string, StoredUnit>
  sums: ExactOutcome
  position: number
  design: Design
}

/**
 * Returns the correction for a boolean outcome. Returns null for other outcomes, and as long as either arm has too few
 * reviews.
 */
export const correctionOf = ({ reviews, units, sums, position, design }: CorrectionInput): Correction | null => {
  if (design.kind !== 'boolean') return null
  const ofOutcome = reviews.filter((review) => review.position === position)
  const held = new Map<string, TotalsByArm>()
  for (const { unitId } of ofOutcome) {
    const unit = units.get(unitId)
    if (unit) held.set(unitId, totalsOf(unit, position))
  }
  // All other units stay in the sums. If a unit has no review in an arm, its values in that arm stay, too.
  const armOf = (arm: Arm): ReviewedArm => {
    const reviewed = new Set(ofOutcome.filter((review) => review.arm === arm).map(({ unitId }) => unitId))
    let others = sums
    for (const unitId of reviewed) {
      const own = held.get(unitId)?.[arm] ?? noUnitTotals
      const inArm = arm === 'a' ? { a: own, b: noUnitTotals } : { a: noUnitTotals, b: own }
      others = changeOutcome(others, inArm, { inBothArms: true, sign: -1 })
    }
    return { units: unitsOf(ofOutcome, arm, held), others: outcomeSums(others, 'boolean').observed[arm] }
  }
  const [a, b] = [armOf('a'), armOf('b')]
  const corrected = correctedDifference(a, b, design)
  if (!corrected) return null
  const share = (arm: Arm, reviewed: number) => reviewed / sums.counts[arm].observed
  return {
    ...corrected,
    shareReviewedA: share('a', corrected.reviewedA),
    shareReviewedB: share('b', corrected.reviewedB),
  }
}
