// Shares and agreement with 95 % intervals: numbers in, numbers out.

import { wilsonOf } from '../../experiments/stats/proportions.ts'

export type Estimate = { value: number; low: number; high: number }

/** The 0.975 quantile of the normal distribution. */
const z = 1.959963984540054

/** A share of some in all, with Wilson's interval. Counts need not be whole. Of none in all nothing is known. */
export const share = (some: number, all: number): Estimate | null =>
  all <= 0 ? null : { value: some / all, ...wilsonOf({ affected: some, all }, z) }

/** What one of two says is affected, and what the other does. */
export type Matrix = { truePositives: number; falsePositives: number; falseNegatives: number; trueNegatives: number }

/** Cohen's kappa with its standard error of large samples (Fleiss, Cohen and Everitt 1969). */
export const cohensKappa = (matrix: Matrix): { value: number; standardError: number } | null => {
  const { truePositives, falsePositives, falseNegatives, trueNegatives } = matrix
  const all = truePositives + falsePositives + falseNegatives + trueNegatives
  if (all <= 0) return null
  const first = (truePositives + falsePositives) / all
  const second = (truePositives + falseNegatives) / all
  const observed = (truePositives + trueNegatives) / all
  const byChance = first * second + (1 - first) * (1 - second)
  // Both always say the same one thing: that they agree tells nothing.
  if (byChance === 1) return null
  const value = (observed - byChance) / (1 - byChance)
  const left = 1 - value
  const agreeing =
    (truePositives / all) * (1 - (first + second) * left) ** 2 +
    (trueNegatives / all) * (1 - (2 - first - second) * left) ** 2
  const disagreeing =
    left ** 2 *
    ((falsePositives / all) * (second + 1 - first) ** 2 + (falseNegatives / all) * (1 - second + first) ** 2)
  const variance = (agreeing + disagreeing - (value - byChance * left) ** 2) / (all * (1 - byChance) ** 2)
  return { value, standardError: Math.sqrt(Math.max(0, variance)) }
}

/**
 * Kappa with its interval. The usual one, value ± z standard errors, holds in large samples alone: of 20 pairs that all
 * agree it is a single point. Half a pair more in each cell mends that; the interval is then stretched to the value.
 */
export const kappa = (matrix: Matrix): Estimate | null => {
  const plain = cohensKappa(matrix)
  const mended = cohensKappa({
    truePositives: matrix.truePositives + 0.5,
    falsePositives: matrix.falsePositives + 0.5,
    falseNegatives: matrix.falseNegatives + 0.5,
    trueNegatives: matrix.trueNegatives + 0.5,
  })
  if (!plain || !mended) return null
  const half = z * mended.standardError
  return {
    value: plain.value,
    low: Math.max(-1, Math.min(plain.value, mended.value - half)),
    high: Math.min(1, Math.max(plain.value, mended.value + half)),
  }
}
