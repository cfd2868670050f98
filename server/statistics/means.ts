// Means from sums, and their differences.

import { tQuantile } from './distributions.ts'
import { around, type Interval } from './interval.ts'

/** Contains the number of values, their sum, and the sum of their squares. */
export type MeanSums = { count: number; sum: number; squares: number }

const varianceOf = ({ count, sum, squares }: MeanSums): number =>
  Math.max(0, (squares - (sum * sum) / count) / (count - 1))

/** Returns Student's interval of a mean, or null for a single value, which has no spread. */
export const meanInterval = (sums: MeanSums, alpha: number): Interval | null => {
  const { count, sum } = sums
  if (count < 2) return null
  return around(sum / count, tQuantile(1 - alpha / 2, count - 1) * Math.sqrt(varianceOf(sums) / count))
}

/** Returns Welch's interval of b − a, or null if either has a single value. */
export const meanDifference = (a: MeanSums, b: MeanSums, alpha: number): Interval | null => {
  if (a.count < 2 || b.count < 2) return null
  const [ofA, ofB] = [varianceOf(a) / a.count, varianceOf(b) / b.count]
  const difference = b.sum / b.count - a.sum / a.count
  const variance = ofA + ofB
  if (variance === 0) return around(difference, 0)
  const degrees = variance ** 2 / (ofA ** 2 / (a.count - 1) + ofB ** 2 / (b.count - 1))
  return around(difference, tQuantile(1 - alpha / 2, degrees) * Math.sqrt(variance))
}
