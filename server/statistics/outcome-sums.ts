// Maintains the sums of one outcome over all units. Each observation is counted once.

import type { Design } from './design.ts'
import {
  type Arm,
  addUnit,
  holdAll,
  meanOf,
  noSums,
  noValueSums,
  type Sums,
  subtractUnit,
  type ValueSums,
} from './sums.ts'

/**
 * `pending`: an evaluation is queued or running. `missing`: there was no evaluation. `failed`: the evaluation failed,
 * or its value is out of range.
 */
export type ValueStatus = 'observed' | 'pending' | 'missing' | 'failed'

export type StatusCounts = Record<ValueStatus, number>

/**
 * The values of a unit in one arm after subtracting the arm's shift, and the number of conversations without a value.
 */
export type OutcomeTotals = { observed: ValueSums; pending: number; missing: number; failed: number }

export type OutcomeUnit = {
  a: OutcomeTotals
  b: OutcomeTotals
  /** Whether the unit has conversations in both arms, even if this outcome does not apply to them. */
  inBothArms: boolean
}

export type OutcomeSums = {
  observed: Sums
  /** The sums without units that are in both arms. */
  inOneArm: Sums
  /** Sums over everything that is not pending. The value is 1 for a missing observation and 0 for an existing one. */
  unobserved: Sums
  counts: Record<Arm, StatusCounts>
}

export const nothingInOutcome: OutcomeTotals = { observed: noValueSums, pending: 0, missing: 0, failed: 0 }

const noCounts: StatusCounts = { observed: 0, pending: 0, missing: 0, failed: 0 }

export const noOutcomeSums = (shiftA = 0, shiftB = 0): OutcomeSums => ({
  observed: noSums(shiftA, shiftB),
  inOneArm: noSums(shiftA, shiftB),
  unobserved: noSums(),
  counts: { a: noCounts, b: noCounts },
})

const unobservedOf = ({ observed, missing, failed }: OutcomeTotals): ValueSums => ({
  count: observed.count + missing + failed,
  sum: missing + failed,
  squares: missing + failed,
})

const changeCounts = (counts: StatusCounts, held: OutcomeTotals, sign: 1 | -1): StatusCounts => ({
  observed: counts.observed + sign * held.observed.count,
  pending: counts.pending + sign * held.pending,
  missing: counts.missing + sign * held.missing,
  failed: counts.failed + sign * held.failed,
})

const change = (sums: OutcomeSums, { a, b, inBothArms }: OutcomeUnit, sign: 1 | -1): OutcomeSums => {
  const changeUnit = sign === 1 ? addUnit : subtractUnit
  const observed = { a: a.observed, b: b.observed }
  return {
    observed: changeUnit(sums.observed, observed),
    inOneArm: inBothArms ? sums.inOneArm : changeUnit(sums.inOneArm, observed),
    unobserved: changeUnit(sums.unobserved, { a: unobservedOf(a), b: unobservedOf(b) }),
    counts: { a: changeCounts(sums.counts.a, a, sign), b: changeCounts(sums.counts.b, b, sign) },
  }
}

export const addOutcomeUnit = (sums: OutcomeSums, unit: OutcomeUnit): OutcomeSums => change(sums, unit, 1)

/** Subtracts a unit. To change a unit, subtract its old values and add its new ones. */
export const subtractOutcomeUnit = (sums: OutcomeSums, unit: OutcomeUnit): OutcomeSums => change(sums, unit, -1)

/** The products of sums of larger scores would overflow. */
const largestScore = 1e75

/** Returns whether a value can be part of a mean. Any other value counts as failed. */
export const isValue = (value: unknown, design: Pick<Design, 'kind' | 'range'>): value is number => {
  // The condition is written so that it is also false for NaN.
  if (typeof value !== 'number' || !(Math.abs(value) <= largestScore)) return false
  if (design.kind === 'boolean') return value === 0 || value === 1
  return design.range === null || (value >= design.range.low && value <= design.range.high)
}

/** One conversation's outcome. */
export type OutcomeValue = { status: 'observed'; value: number } | { status: Exclude<ValueStatus, 'observed'> }

export type UnitAnswers = { a: readonly OutcomeValue[]; b: readonly OutcomeValue[]; inBothArms: boolean }

const valuesOf = (answers: readonly OutcomeValue[], design: Design): number[] =>
  answers.flatMap((answer) => (answer.status === 'observed' && isValue(answer.value, design) ? [answer.value] : []))

const holdAnswers = (answers: readonly OutcomeValue[], shift: number, design: Design): OutcomeTotals => {
  const observed = holdAll(valuesOf(answers, design), shift)
  const count = (status: ValueStatus) => answers.filter((answer) => answer.status === status).length
  // An observation without a valid value counts as failed.
  const failed = count('failed') + count('observed') - observed.count
  return { observed, pending: count('pending'), missing: count('missing'), failed }
}

/**
 * Computes all sums from the rows in two passes. The first one calculates the mean of each arm, which becomes its
 * shift.
 */
export const outcomeSumsOf = (units: readonly UnitAnswers[], design: Design): OutcomeSums => {
  // Booleans are integers, so their sums are exact without a shift.
  const shiftOf = (arm: Arm) =>
    design.kind === 'boolean' ? 0 : meanOf(units.flatMap((unit) => valuesOf(unit[arm], design)))
  let sums = noOutcomeSums(shiftOf('a'), shiftOf('b'))
  const { a, b } = sums.observed
  for (const unit of units) {
    sums = addOutcomeUnit(sums, {
      a: holdAnswers(unit.a, a.shift, design),
      b: holdAnswers(unit.b, b.shift, design),
      inBothArms: unit.inBothArms,
    })
  }
  return sums
}
