// Maintains the exact sums of an outcome while units are added, changed, and removed. For results, the sums are
// converted to numbers relative to each arm's mean.

import type { OutcomeSums, StatusCounts } from '../../statistics/outcome-sums.ts'
import { type ArmSums, addUnit, noSums, type SharedSums, type Sums, subtractUnit } from '../../statistics/sums.ts'
import { type Exact, exactOf, minus, numberOf, plus, times } from './exact.ts'
import {
  type Amount,
  asExact,
  changeAmount,
  noUnitTotals,
  product,
  readAmount,
  storeAmount,
  type UnitTotals,
} from './unit-totals.ts'

type ExactArm = {
  units: number
  count: number
  sum: Amount
  squares: Amount
  sumSum: Amount
  sumCount: Amount
  countCount: number
}

type ExactShared = { units: number; sumSum: Amount; sumCount: Amount; countSum: Amount; countCount: number }

type ExactSums = { a: ExactArm; b: ExactArm; shared: ExactShared }

export type ExactOutcome = {
  observed: ExactSums
  inOneArm: ExactSums
  /** These sums are integers. */
  unobserved: Sums
  counts: OutcomeSums['counts']
}

export type TotalsByArm = { a: UnitTotals; b: UnitTotals }

const noArm: ExactArm = {
  units: 0,
  count: 0,
  sum: 0,
  squares: 0,
  sumSum: 0,
  sumCount: 0,
  countCount: 0,
}
const noShared: ExactShared = { units: 0, sumSum: 0, sumCount: 0, countSum: 0, countCount: 0 }
const noExactSums: ExactSums = { a: noArm, b: noArm, shared: noShared }
const noCounts: StatusCounts = { observed: 0, pending: 0, missing: 0, failed: 0 }

export const noExactOutcome: ExactOutcome = {
  observed: noExactSums,
  inOneArm: noExactSums,
  unobserved: noSums(),
  counts: { a: noCounts, b: noCounts },
}

type Sign = 1 | -1

const changeArm = (sums: ExactArm, { count, sum, squares }: UnitTotals, sign: Sign): ExactArm => {
  if (count === 0) return sums
  return {
    units: sums.units + sign,
    count: sums.count + sign * count,
    sum: changeAmount(sums.sum, sum, sign),
    squares: changeAmount(sums.squares, squares, sign),
    sumSum: changeAmount(sums.sumSum, product(sum, sum), sign),
    sumCount: changeAmount(sums.sumCount, product(sum, count), sign),
    countCount: sums.countCount + sign * count * count,
  }
}

const changeShared = (sums: ExactShared, { a, b }: TotalsByArm, sign: Sign): ExactShared => {
  if (a.count === 0 || b.count === 0) return sums
  return {
    units: sums.units + sign,
    sumSum: changeAmount(sums.sumSum, product(a.sum, b.sum), sign),
    sumCount: changeAmount(sums.sumCount, product(a.sum, b.count), sign),
    countSum: changeAmount(sums.countSum, product(a.count, b.sum), sign),
    countCount: sums.countCount + sign * a.count * b.count,
  }
}

const changeSums = ({ a, b, shared }: ExactSums, held: TotalsByArm, sign: Sign): ExactSums => ({
  a: changeArm(a, held.a, sign),
  b: changeArm(b, held.b, sign),
  shared: changeShared(shared, held, sign),
})

const unobservedOf = ({ count, missing, failed }: UnitTotals) => {
  const sum = missing + failed
  return { count: count + sum, sum, squares: sum }
}

const changeCounts = (
  counts: StatusCounts,
  { count, pending, missing, failed }: UnitTotals,
  sign: Sign,
): StatusCounts => ({
  observed: counts.observed + sign * count,
  pending: counts.pending + sign * pending,
  missing: counts.missing + sign * missing,
  failed: counts.failed + sign * failed,
})

/** Adds a unit (1) or removes it (-1). To change a unit, remove its old values and add its new ones. */
export const changeOutcome = (
  sums: ExactOutcome,
  held: TotalsByArm,
  { inBothArms, sign }: { inBothArms: boolean; sign: Sign },
): ExactOutcome => {
  if (held.a === noUnitTotals && held.b === noUnitTotals) return sums
  return {
    observed: changeSums(sums.observed, held, sign),
    inOneArm: inBothArms ? sums.inOneArm : changeSums(sums.inOneArm, held, sign),
    unobserved: (sign === 1 ? addUnit : subtractUnit)(sums.unobserved, {
      a: unobservedOf(held.a),
      b: unobservedOf(held.b),
    }),
    counts: { a: changeCounts(sums.counts.a, held.a, sign), b: changeCounts(sums.counts.b, held.b, sign) },
  }
}

/** Returns the sums of an arm after subtracting `shift` from each value. Rounds only afterwards. */
const armAbout = (arm: ExactArm, shift: number): ArmSums => {
  const c = exactOf(shift)
  const [count, countCount] = [exactOf(arm.count), exactOf(arm.countCount)]
  const [sum, sumCount] = [asExact(arm.sum), asExact(arm.sumCount)]
  const twice = (value: Exact) => times({ digits: 2n, scale: 0 }, value)
  return {
    shift,
    units: arm.units,
    count: arm.count,
    sum: numberOf(minus(sum, times(c, count))),
    squares: numberOf(plus(minus(asExact(arm.squares), twice(times(c, sum))), times(times(c, c), count))),
    sumSum: numberOf(plus(minus(asExact(arm.sumSum), twice(times(c, sumCount))), times(times(c, c), countCount))),
    sumCount: numberOf(minus(sumCount, times(c, countCount))),
    countCount: arm.countCount,
  }
}

const sharedAbout = (shared: ExactShared, shiftA: number, shiftB: number): SharedSums => {
  const [a, b] = [exactOf(shiftA), exactOf(shiftB)]
  const [sumCount, countSum] = [asExact(shared.sumCount), asExact(shared.countSum)]
  const countCount = exactOf(shared.countCount)
  const crossed = minus(minus(asExact(shared.sumSum), times(b, sumCount)), times(a, countSum))
  return {
    units: shared.units,
    sumSum: numberOf(plus(crossed, times(times(a, b), countCount))),
    sumCount: numberOf(minus(sumCount, times(a, countCount))),
    countSum: numberOf(minus(countSum, times(b, countCount))),
    countCount: shared.countCount,
  }
}

const sumsAbout = ({ a, b, shared }: ExactSums, shiftA: number, shiftB: number): Sums => ({
  a: armAbout(a, shiftA),
  b: armAbout(b, shiftB),
  shared: sharedAbout(shared, shiftA, shiftB),
})

const meanOf = ({ count, sum }: ExactArm): number => (count === 0 ? 0 : numberOf(asExact(sum)) / count)

/** Returns the sums in the format that the statistics expect. Booleans are integers and stay exact. */
export const outcomeSums = (exact: ExactOutcome, kind: 'boolean' | 'numeric'): OutcomeSums => {
  const { observed, inOneArm, unobserved, counts } = exact
  const [a, b] = kind === 'boolean' ? [0, 0] : [meanOf(observed.a), meanOf(observed.b)]
  return { observed: sumsAbout(observed, a, b), inOneArm: sumsAbout(inOneArm, a, b), unobserved, counts }
}

const isExact = (value: unknown): value is Exact => typeof value === 'object' && value !== null && 'digits' in value

/** Returns the sums as JSON. Numbers that are not integers become strings. */
export const storeOutcome = (sums: ExactOutcome): string =>
  JSON.stringify(sums, (_key, value: unknown) => (isExact(value) ? storeAmount(value) : value))

/** Reads the JSON that `storeOutcome` wrote. */
export const readOutcome = (stored: unknown): ExactOutcome => {
  const revive = (value: unknown): unknown => {
    if (typeof value === 'string') return readAmount(value)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, revive(inner)]))
  }
  // Only `storeOutcome` writes this value.
  return revive(stored) as ExactOutcome
}
