// Calculates percentiles of counted values, and their differences, without assumptions about the values.

import { normalTwoSided, z95 } from './distributions.ts'
import type { Interval } from './interval.ts'

/** The distinct values in ascending order, and the number of values up to each. */
export type Distribution = { values: ArrayLike<number>; upto: ArrayLike<number> }

/** Returns, for each position, the sum of all counts up to it. */
export const cumulative = (counts: ArrayLike<number>): Float64Array => {
  const upto = new Float64Array(counts.length)
  let sum = 0
  for (let at = 0; at < counts.length; at++) {
    sum += counts[at] ?? 0
    upto[at] = sum
  }
  return upto
}

const countOf = (upto: ArrayLike<number>): number => upto[upto.length - 1] ?? 0

/** Returns the position of the value with this rank. The smallest value has rank 1. */
const positionOf = (rank: number, upto: ArrayLike<number>): number | null => {
  if (rank < 1 || rank > countOf(upto)) return null
  let [low, high] = [0, upto.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((upto[middle] ?? 0) >= rank) high = middle
    else low = middle + 1
  }
  return low
}

/**
 * Returns the position of a percentile and those of its lower and upper bounds, with ranks z standard errors away. A
 * position is null if there are too few values for its rank.
 */
export const percentilePositions = (upto: ArrayLike<number>, quantile: number, z = z95) => {
  const count = countOf(upto)
  const spread = z * Math.sqrt(quantile * (1 - quantile) * count)
  return {
    at: positionOf(Math.max(1, Math.ceil(quantile * count)), upto),
    low: positionOf(Math.floor(quantile * count - spread), upto),
    high: positionOf(Math.ceil(quantile * count + spread) + 1, upto),
  }
}

/** Returns a percentile with its interval. Null if there are too few values for one. */
const percentileOf = ({ values, upto }: Distribution, quantile: number, z: number) => {
  const { at, low, high } = percentilePositions(upto, quantile, z)
  if (at === null || low === null || high === null) return null
  return { value: values[at] ?? 0, low: values[low] ?? 0, high: values[high] ?? 0 }
}

/**
 * Returns an interval for b − a, which combines those of both percentiles like Newcombe's for rates (Zou and Donner
 * 2008). Null if either has too few values.
 */
const differenceWithin = (a: Distribution, b: Distribution, quantile: number, z: number): Interval | null => {
  const [ofA, ofB] = [percentileOf(a, quantile, z), percentileOf(b, quantile, z)]
  if (!ofA || !ofB) return null
  const difference = ofB.value - ofA.value
  return {
    low: difference - Math.hypot(ofB.value - ofB.low, ofA.high - ofA.value),
    high: difference + Math.hypot(ofB.high - ofB.value, ofA.value - ofA.low),
  }
}

export const percentileDifference = (a: Distribution, b: Distribution, quantile: number): Interval | null =>
  differenceWithin(a, b, quantile, z95)

const mostErrors = 9
const halvings = 40

/**
 * Tests whether two percentiles are equal. Returns the p of the narrowest interval of their difference that contains 0,
 * or null if there are too few values for a 95% interval.
 */
export const percentileTest = (a: Distribution, b: Distribution, quantile: number): number | null => {
  if (!percentileDifference(a, b, quantile)) return null
  const isDifferent = (z: number): boolean => {
    const interval = differenceWithin(a, b, quantile, z)
    return interval !== null && (interval.low > 0 || interval.high < 0)
  }
  let [low, high] = [0, mostErrors]
  if (!isDifferent(low)) return 1
  for (let halving = 0; halving < halvings; halving++) {
    const middle = (low + high) / 2
    if (isDifferent(middle)) low = middle
    else high = middle
  }
  return normalTwoSided(low)
}
