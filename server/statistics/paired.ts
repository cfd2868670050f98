// Compares two answers to each of the same questions, such as the answers of two versions of a judge.

import { clamp, edge, type Interval } from './interval.ts'
import { twoSidedZ } from './rate-intervals.ts'
import { incompleteBeta } from './special-functions.ts'

/**
 * The number of pairs in which only the second answer is right, in which only the first answer is right, and of all
 * pairs.
 */
export type Pairs = { fixed: number; broken: number; all: number }

/**
 * Returns the exact two-sided p-value of McNemar's test. Pairs in which both answers are right or wrong don't count.
 */
export const exactMcNemar = ({ fixed, broken }: Pairs): number => {
  const [most, least] = [Math.max(fixed, broken), Math.min(fixed, broken)]
  // The upper tail of the binomial distribution with a probability of one half.
  return most === least ? 1 : Math.min(1, 2 * incompleteBeta(most, least + 1, 0.5, 0.5))
}

/** Returns Tango's score statistic (1998) for a difference: the distance between the pairs and the difference. */
const scoreOf = ({ fixed, broken, all }: Pairs, difference: number): number => {
  const a = 2 * all
  const b = -fixed - broken + (2 * all - fixed + broken) * difference
  const c = -broken * difference * (1 - difference)
  // The most likely share of broken pairs if this is the difference.
  const share = (Math.sqrt(Math.max(0, b * b - 4 * a * c)) - b) / (2 * a)
  const variance = all * (2 * share + difference * (1 - difference))
  const shift = fixed - broken - all * difference
  if (shift === 0) return 0
  return variance <= 0 ? Math.sign(shift) * Number.POSITIVE_INFINITY : shift / Math.sqrt(variance)
}

/** Returns the score interval for the difference between the two shares of right answers (Tango 1998). */
export const pairedInterval = (pairs: Pairs, alpha: number): Interval => {
  if (pairs.all === 0) return { low: -1, high: 1 }
  const estimate = (pairs.fixed - pairs.broken) / pairs.all
  const z = twoSidedZ(alpha)
  const isPossible = (difference: number) => Math.abs(scoreOf(pairs, difference)) <= z
  return {
    low: clamp(edge(isPossible, estimate, -1), -1, estimate),
    high: clamp(edge(isPossible, estimate, 1), estimate, 1),
  }
}
