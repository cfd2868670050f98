// Compares two answers to each of the same questions, such as those of two versions of a judge.

import { clamp, edge, type Interval } from './interval.ts'
import { twoSidedZ } from './rate-intervals.ts'
import { incompleteBeta } from './special-functions.ts'

/**
 * The number of pairs that only the second answer got right, that only the first answer got right, and of all pairs.
 */
export type Pairs = { fixed: number; broken: number; all: number }

/** Returns the exact two-sided p-value of McNemar's test. Pairs that both got right or wrong don't count. */
export const exactMcNemar = ({ fixed, broken }: Pairs): number => {
  const [most, least] = [Math.max(fixed, broken), Math.min(fixed, broken)]
  // The upper tail of the binomial distribution with a probability of a half.
  return most === least ? 1 : Math.min(1, 2 * incompleteBeta(most, least + 1, 0.5, 0.5))
}

/** Returns the score statistic of Tango (1998) for a difference: how far the pairs are from it. */
const scoreOf = ({ fixed, broken, all }: Pairs, difference: number): number => {
  const a = 2 * all
  const b = -fixed - broken + (2 * all - fixed + broken) * difference
  const c = -broken * difference * (1 - difference)
  // The likeliest share of broken pairs if this is the difference.
  const share = (Math.sqrt(Math.max(0, b * b - 4 * a * c)) - b) / (2 * a)
  const variance = all * (2 * share + difference * (1 - difference))
  const shift = fixed - broken - all * difference
  if (shift === 0) return 0
  return variance <= 0 ? Math.sign(shift) * Number.POSITIVE_INFINITY : shift / Math.sqrt(variance)
}

/** Returns the score interval of the difference of the two shares of right answers (Tango 1998). */
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
