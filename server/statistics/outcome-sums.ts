// The sums of one outcome over all units: each observation is counted once.

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

/** Pending: an evaluation is queued or running. Missing: never produced. Failed: tried, or out of range. */
export type ValueStatus = 'observed' | 'pending' | 'missing' | 'failed'

export type StatusCounts = Record<ValueStatus, number>

/** The values of a unit in one arm, less the arm's shift, and the number of conversations without one. */
export type OutcomeTotals = { observed: ValueSums; pending: number; missing: number; failed: number }

export type OutcomeUnit = {
  a: OutcomeTotals
  b: OutcomeTotals
  /** It has conversations in both arms, whether or not this outcome applies to them. */
  inBothArms: boolean
}

export type OutcomeSums = {
  observed: Sums
  /** The same without units in both arms. */
  inOneArm: Sums
  /** For all settled, so not pending: 1 is not observed, 0 is observed. */
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

/** To change a unit, subtract its former values and add its current ones. */
export const subtractOutcomeUnit = (sums: OutcomeSums, unit: OutcomeUnit): OutcomeSums => change(sums, unit, -1)

/** Products of sums of larger scores would overflow. */
const largestScore = 1e75

/** Values that can be averaged. Anything else counts as failed. */
export const isValue = (value: unknown, design: Pick<Design, 'kind' | 'range'>): value is number => {
  // NaN is not below anything.
  if (typeof value !== 'number' || !(Math.abs(value) <= largestScore)) return false
  if (design.kind === 'boolean') return value === 0 || value === 1
  return design.range === null || (value >= design.range.low && value <= design.range.high)
}

/** For one conversation. */
export type OutcomeValue = { status: 'observed'; value: number } | { status: Exclude<ValueStatus, 'observed'> }

export type UnitAnswers = { a: readonly OutcomeValue[]; b: readonly OutcomeValue[]; inBothArms: boolean }

const valuesOf = (answers: readonly OutcomeValue[], design: Design): number[] =>
  answers.flatMap((answer) => (answer.status === 'observed' && isValue(answer.value, design) ? [answer.value] : []))

const holdAnswers = (answers: readonly OutcomeValue[], shift: number, design: Design): OutcomeTotals => {
  const observed = holdAll(valuesOf(answers, design), shift)
  const count = (status: ValueStatus) => answers.filter((answer) => answer.status === status).length
  // An observation without a valid value has failed.
  const failed = count('failed') + count('observed') - observed.count
  return { observed, pending: count('pending'), missing: count('missing'), failed }
}

/** Computes everything from the rows in two passes: the mean of each arm comes first and is the shift. */
export const outcomeSumsOf = (units: readonly UnitAnswers[], design: Design): OutcomeSums => {
  // Booleans are whole numbers and stay exact.
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
