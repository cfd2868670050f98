// What a unit has of an outcome in one arm, and how it is stored.

import { type Exact, exactOf, minus, nothing, numberOf, parseExact, plus, textOf, times } from './exact.ts'
import type { StoredHeld } from './queries.ts'

/** By the number that is stored of a conversation. */
const statuses = ['not_applicable', 'observed', 'pending', 'missing', 'failed'] as const

export const observed = statuses.indexOf('observed')
export const pending = statuses.indexOf('pending')
export const missing = statuses.indexOf('missing')
export const failed = statuses.indexOf('failed')

export type Held = { count: number; sum: Exact; squares: Exact; pending: number; missing: number; failed: number }

export const nothingHeld: Held = { count: 0, sum: nothing, squares: nothing, pending: 0, missing: 0, failed: 0 }

/** With one conversation more (1) or less (-1). */
export const holdChanged = (held: Held, status: number, value: number, sign: 1 | -1): Held => {
  switch (status) {
    case observed: {
      const exact = exactOf(value)
      const change = sign === 1 ? plus : minus
      return {
        ...held,
        count: held.count + sign,
        sum: change(held.sum, exact),
        squares: change(held.squares, times(exact, exact)),
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

const storable = (value: Exact): number | string => {
  const near = numberOf(value)
  return Number.isSafeInteger(near) && value.scale === 0 ? near : textOf(value)
}

export const storeHeld = (held: Held): StoredHeld => {
  const stored = [held.count, storable(held.sum), storable(held.squares), held.pending, held.missing, held.failed]
  while (stored.at(-1) === 0) stored.pop()
  return stored
}

const exactFrom = (value: number | string = 0): Exact =>
  typeof value === 'number' ? exactOf(value) : parseExact(value)

export const readHeld = ([count, sum, squares, ...others]: StoredHeld): Held => ({
  count: Number(count ?? 0),
  sum: exactFrom(sum),
  squares: exactFrom(squares),
  pending: Number(others[0] ?? 0),
  missing: Number(others[1] ?? 0),
  failed: Number(others[2] ?? 0),
})
