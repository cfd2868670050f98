// Calculates and stores a unit's values for an outcome in one arm.

import { type Exact, exactOf, minus, numberOf, parseExact, plus, textOf, times } from './exact.ts'
import type { StoredTotals } from './queries.ts'

/** The position of each status is the number that is stored. */
const statuses = ['not_applicable', 'observed', 'pending', 'missing', 'failed'] as const

export const notApplicable = statuses.indexOf('not_applicable')
export const observed = statuses.indexOf('observed')
export const pending = statuses.indexOf('pending')
export const missing = statuses.indexOf('missing')
export const failed = statuses.indexOf('failed')

/** Most amounts are small integers, which JavaScript adds and multiplies exactly and much faster. */
export type Amount = number | Exact

export const asExact = (amount: Amount): Exact => (typeof amount === 'number' ? exactOf(amount) : amount)

/** Returns the amount as a JavaScript number if that is exact. */
const amountFrom = (value: Exact): Amount => {
  const near = value.scale === 0 || value.digits === 0n ? numberOf(value) : Number.NaN
  return Number.isSafeInteger(near) ? near : value
}

const amountOf = (value: number): Amount => (Number.isSafeInteger(value) ? value : exactOf(value))

/** Returns the amount after adding (1) or removing (-1) the change. */
export const changeAmount = (amount: Amount, change: Amount, sign: 1 | -1): Amount => {
  if (typeof amount === 'number' && typeof change === 'number') {
    const changed = amount + sign * change
    if (Number.isSafeInteger(changed)) return changed
  }
  return amountFrom((sign === 1 ? plus : minus)(asExact(amount), asExact(change)))
}

export const product = (one: Amount, other: Amount): Amount => {
  if (typeof one === 'number' && typeof other === 'number') {
    const whole = one * other
    if (Number.isSafeInteger(whole)) return whole
  }
  return amountFrom(times(asExact(one), asExact(other)))
}

export const storeAmount = (amount: Amount): number | string => (typeof amount === 'number' ? amount : textOf(amount))

export const readAmount = (stored: number | string): Amount =>
  typeof stored === 'number' ? stored : amountFrom(parseExact(stored))

export type UnitTotals = {
  count: number
  sum: Amount
  squares: Amount
  pending: number
  missing: number
  failed: number
}

export const noUnitTotals: UnitTotals = { count: 0, sum: 0, squares: 0, pending: 0, missing: 0, failed: 0 }

/** Returns the totals after adding (1) or removing (-1) a conversation. */
export const changeTotals = (held: UnitTotals, status: number, value: number, sign: 1 | -1): UnitTotals => {
  switch (status) {
    case observed: {
      const amount = amountOf(value)
      return {
        ...held,
        count: held.count + sign,
        sum: changeAmount(held.sum, amount, sign),
        squares: changeAmount(held.squares, product(amount, amount), sign),
      }
    }
    case pending:
      return { ...held, pending: held.pending + sign }
    case missing:
      return { ...held, missing: held.missing + sign }
    case failed:
      return { ...held, failed: held.failed + sign }
    default:
      return held
  }
}

export const storeTotals = ({ count, sum, squares, pending, missing, failed }: UnitTotals): StoredTotals => {
  const stored = [count, storeAmount(sum), storeAmount(squares), pending, missing, failed]
  while (stored.at(-1) === 0) stored.pop()
  return stored
}

export const readTotals = ([count = 0, sum = 0, squares = 0, ...others]: StoredTotals): UnitTotals => ({
  count: Number(count),
  sum: readAmount(sum),
  squares: readAmount(squares),
  pending: Number(others[0] ?? 0),
  missing: Number(others[1] ?? 0),
  failed: Number(others[2] ?? 0),
})
