// Calculates shares and agreement with 95% intervals.

import { z95 } from './distributions.ts'
import { wilsonOf } from './rate-intervals.ts'

export type Estimate = { value: number; low: number; high: number }

/** Returns a share with Wilson's interval, or null if there are no observations. Counts can be fractions. */
export const share = (some: number, all: number): Estimate | null =>
  all <= 0 ? null : { value: some / all, ...wilsonOf({ affected: some, all }, z95) }

/** The counts for each combination of two raters' answers, which are affected or not affected. */
export type Matrix = { truePositives: number; falsePositives: number; falseNegatives: number; trueNegatives: number }

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)

/**
 * Returns Cohen's kappa with its large-sample standard error (Fleiss, Cohen and Everitt 1969). In the square table,
 * rows are one rater's answers, and columns are the other's.
 */
export const cohensKappa = (table: number[][]): { value: number; standardError: number } | null => {
  const all = sum(table.flat())
  if (all <= 0) return null
  const shares = table.map((row) => row.map((count) => count / all))
  const first = shares.map(sum)
  const second = shares.map((_, at) => sum(shares.map((row) => row[at] ?? 0)))
  const of = (shared: number[], at: number) => shared[at] ?? 0
  const observed = sum(shares.map((row, at) => of(row, at)))
  const byChance = sum(first.map((part, at) => part * of(second, at)))
  // Both raters always give the same answer, so their agreement is meaningless.
  if (byChance === 1) return null
  const value = (observed - byChance) / (1 - byChance)
  const left = 1 - value
  const agreeing = sum(shares.map((row, at) => of(row, at) * (1 - (of(first, at) + of(second, at)) * left) ** 2))
  const disagreeing = sum(
    shares.flatMap((row, i) => row.map((part, j) => (i === j ? 0 : part * (of(second, i) + of(first, j)) ** 2))),
  )
  const variance = (agreeing + left ** 2 * disagreeing - (value - byChance * left) ** 2) / (all * (1 - byChance) ** 2)
  return { value, standardError: Math.sqrt(Math.max(0, variance)) }
}

const tableOf = ({ truePositives, falsePositives, falseNegatives, trueNegatives }: Matrix, more = 0): number[][] => [
  [truePositives + more, falsePositives + more],
  [falseNegatives + more, trueNegatives + more],
]

/**
 * Returns kappa with its interval. The usual interval, value ± z standard errors, only works for large samples. With 20
 * pairs that all agree, it is a single point. Adding half a pair to each cell corrects that. Afterwards, the interval
 * is extended to include the value.
 */
export const kappa = (matrix: Matrix): Estimate | null => {
  const plain = cohensKappa(tableOf(matrix))
  const mended = cohensKappa(tableOf(matrix, 0.5))
  if (!plain || !mended) return null
  const half = z95 * mended.standardError
  return {
    value: plain.value,
    low: Math.max(-1, Math.min(plain.value, mended.value - half)),
    high: Math.min(1, Math.max(plain.value, mended.value + half)),
  }
}
