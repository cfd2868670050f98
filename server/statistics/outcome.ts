// Calculates the results of one outcome from its sums.

import { type AnytimeDifference, anytimeDifference } from './anytime.ts'
import { type ArmEstimate, type ArmEstimates, anytimeArmInterval, estimateArms, fixedArmInterval } from './arm.ts'
import type { Design } from './design.ts'
import { type FixedDifference, fixedDifference } from './fixed.ts'
import type { Interval } from './interval.ts'
import { type Lift, liftOf } from './lift.ts'
import { type Missingness, missingness } from './missingness.ts'
import type { OutcomeSums, StatusCounts } from './outcome-sums.ts'
import { defaultTarget, type ExpectedPrecision, expectedPrecision } from './precision.ts'

export type ArmResult = StatusCounts & {
  conversations: number
  units: number
  sum: number
  mean: number | null
  /** Null unless the outcome is a score. */
  standardDeviation: number | null
  designEffect: number
  fixed: Interval | null
  anytime: Interval | null
}

export type Difference = { estimate: number | null; fixed: FixedDifference; anytime: AnytimeDifference }

export type OutcomeResult = {
  arms: { a: ArmResult; b: ArmResult }
  difference: Difference & {
    /** The difference without units that are in both arms, which shows how much depends on those units. */
    withoutUnitsInBothArms: Difference
  }
  lift: Lift
  missingness: Missingness
  precision: ExpectedPrecision
}

export type Wishes = {
  /** The difference to detect reliably. If null, the default is used. */
  target: number | null
  /** The average over the last seven days. */
  conversationsPerDay: number | null
}

export const outcomeResult = (sums: OutcomeSums, design: Design, wishes: Wishes): OutcomeResult => {
  const arms = estimateArms(sums.observed, design.kind)
  const difference = differenceOf(arms, design)
  return {
    arms: { a: armResult(arms.a, sums.counts.a, design), b: armResult(arms.b, sums.counts.b, design) },
    difference: {
      ...difference,
      withoutUnitsInBothArms: differenceOf(estimateArms(sums.inOneArm, design.kind), design),
    },
    lift: liftOf(arms, design, difference),
    missingness: missingness(sums, arms, design),
    precision: expectedPrecision(arms, design, difference, {
      target: wishes.target ?? defaultTarget(arms, design),
      conversationsPerDay: wishes.conversationsPerDay,
    }),
  }
}

/**
 * Returns the difference. If alpha is divided by the number of secondary outcomes, their intervals are all valid at
 * once.
 */
export const differenceOf = (arms: ArmEstimates, design: Design, alpha = design.alpha): Difference => ({
  estimate: arms.difference,
  fixed: fixedDifference(arms, design, alpha),
  anytime: anytimeDifference(arms, design, alpha),
})

const armResult = (arm: ArmEstimate, counts: StatusCounts, design: Design): ArmResult => ({
  ...counts,
  conversations: counts.observed + counts.pending + counts.missing + counts.failed,
  units: arm.units,
  sum: arm.sum,
  mean: arm.mean,
  standardDeviation:
    design.kind === 'boolean' || arm.observed < 2 ? null : Math.sqrt(arm.deviations / (arm.observed - 1)),
  designEffect: arm.designEffect,
  fixed: fixedArmInterval(arm, design),
  anytime: anytimeArmInterval(arm, design),
})
