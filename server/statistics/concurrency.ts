// Checks whether both arms ran at the same time. If they didn't, other changes can look like a difference.

import { chiSquareTail } from './distributions.ts'
import type { Split } from './sample-ratio.ts'

const leastExpected = 5
const leastOverlap = 0.9
/** The significance level is low because the test is repeated often. */
const differsBelow = 0.0001

const totalOf = (days: readonly Split[]): Split =>
  days.reduce((sum, day) => ({ a: sum.a + day.a, b: sum.b + day.b }), { a: 0, b: 0 })

/** Merges days until each bucket is expected to have at least five units in each arm. */
const bucketsOf = (days: readonly Split[]): Split[] => {
  const total = totalOf(days)
  const least = Math.min(total.a, total.b) / (total.a + total.b)
  const buckets: Split[] = []
  let open: Split = { a: 0, b: 0 }
  for (const day of days) {
    open = { a: open.a + day.a, b: open.b + day.b }
    if ((open.a + open.b) * least < leastExpected) continue
    buckets.push(open)
    open = { a: 0, b: 0 }
  }
  const last = buckets.pop()
  return last ? [...buckets, { a: last.a + open.a, b: last.b + open.b }] : []
}

/** Tests whether the split is the same in all buckets. */
export const sameSplit = (buckets: readonly Split[]): { chiSquare: number; degrees: number; p: number } => {
  const total = totalOf(buckets)
  const all = total.a + total.b
  const degrees = buckets.length - 1
  if (degrees < 1 || total.a === 0 || total.b === 0) return { chiSquare: 0, degrees: 0, p: 1 }
  let chiSquare = 0
  for (const { a, b } of buckets) {
    const size = a + b
    if (size > 0) chiSquare += (a - (size * total.a) / all) ** 2 * (all / (size * total.a) + all / (size * total.b))
  }
  return { chiSquare, degrees, p: chiSquareTail(chiSquare, degrees) }
}

export type Concurrency = {
  status: 'cannot_tell' | 'concurrent' | 'arms_not_concurrent'
  /** The share of units that arrived while both arms were receiving units. */
  overlapShare: number | null
  p: number
}

/** Tests the units by the day of their first conversation. The days are in order. */
export const concurrency = (days: readonly Split[]): Concurrency => {
  const buckets = bucketsOf(days)
  if (buckets.length < 2) return { status: 'cannot_tell', overlapShare: null, p: 1 }
  const total = totalOf(buckets)
  const shared = totalOf(buckets.filter(({ a, b }) => a > 0 && b > 0))
  const overlapShare = (shared.a + shared.b) / (total.a + total.b)
  const { p } = sameSplit(buckets)
  const apart = overlapShare < leastOverlap || p < differsBelow
  return { status: apart ? 'arms_not_concurrent' : 'concurrent', overlapShare, p }
}
