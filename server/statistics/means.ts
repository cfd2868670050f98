// Calculates means and their differences from sums.

import { tQuantile, tTwoSided } from './distributions.ts'
import { around, type Interval } from './interval.ts'

/** The number of values, their sum, and the sum of their squares. */
export type MeanSums = { count: number; sum: number; squares: number }

const varianceOf = ({ count, sum, squares }: MeanSums): number =>
  Math.max(0, (squares - (sum * sum) / count) / (count - 1))

/** Returns Student's interval for a mean, or null for a single value, which has no spread. */
export const meanInterval = (sums: MeanSums, alpha: number): Interval | null => {
  const { count, sum } = sums
  if (count < 2) return null
  return around(sum / count, tQuantile(1 - alpha / 2, count - 1) * Math.sqrt(varianceOf(sums) / count))
}

/** Returns b − a with its variance and degrees of freedom (Welch), or null if either side has only one value. */
const welch = (a: MeanSums, b: MeanSums) => {
  if (a.count < 2 || b.count < 2) return null
  const [ofA, ofB] = [varianceOf(a) / a.count, varianceOf(b) / b.count]
  const variance = ofA + ofB
  return {
    difference: b.sum / b.count - a.sum / a.count,
    variance,
    // Shares are used here, because the squares of very large or very small variances are out of range.
    degrees: 1 / ((ofA / variance) ** 2 / (a.count - 1) + (ofB / variance) ** 2 / (b.count - 1)),
  }
}

/** Returns Welch's interval for b − a, or null if either side has only one value. */
export const meanDifference = (a: MeanSums, b: MeanSums, alpha: number): Interval | null => {
  const found = welch(a, b)
  if (!found) return null
  const { difference, variance, degrees } = found
  return around(difference, variance === 0 ? 0 : tQuantile(1 - alpha / 2, degrees) * Math.sqrt(variance))
}

/** If a spread is this small compared with the values, it is a rounding error of their sums. */
const roundingError = 1e-12

/** Tests whether two means are equal. Returns null if either side has only one value, or if neither has a spread. */
export const meanTest = (a: MeanSums, b: MeanSums): number | null => {
  const found = welch(a, b)
  const size = a.squares / a.count ** 2 + b.squares / b.count ** 2
  if (!found || found.variance <= roundingError * size) return null
  return tTwoSided(found.difference / Math.sqrt(found.variance), found.degrees)
}
