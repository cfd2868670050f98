// Calculates intervals and tests for one share and for two shares. Counts can be effective counts, which are fractions.

import { normalQuantile, normalTwoSided } from './distributions.ts'
import { clamp, edge, type Interval } from './interval.ts'
import { logGamma } from './special-functions.ts'

/** The number of affected observations, and the number of all observations. */
export type Share = { affected: number; all: number }

const rateOf = ({ affected, all }: Share) => affected / all

export const twoSidedZ = (alpha: number): number => -normalQuantile(alpha / 2)

/** Returns Wilson's score interval with this many standard errors on each side. */
export const wilsonOf = ({ affected, all }: Share, z: number): Interval => {
  const centre = (2 * affected + z * z) / (2 * (all + z * z))
  const half = (z * Math.sqrt(z * z + 4 * affected * (1 - affected / all))) / (2 * (all + z * z))
  // At 0 and 1, rounding could otherwise exclude the share itself.
  return {
    low: affected <= 0 ? 0 : Math.max(0, centre - half),
    high: affected >= all ? 1 : Math.min(1, centre + half),
  }
}

export const wilson = (share: Share, alpha: number): Interval => wilsonOf(share, twoSidedZ(alpha))

/** Returns Newcombe's interval for b − a (method 10), which combines two Wilson intervals. */
export const newcombe = (a: Share, b: Share, alpha: number): Interval => {
  const [rateA, rateB] = [rateOf(a), rateOf(b)]
  const [ofA, ofB] = [wilson(a, alpha), wilson(b, alpha)]
  const difference = rateB - rateA
  return {
    low: difference - Math.hypot(rateB - ofB.low, ofA.high - rateA),
    high: difference + Math.hypot(ofB.high - rateB, rateA - ofA.low),
  }
}

/** Returns the most likely rates with this difference (Miettinen and Nurminen 1985). */
export const likeliestRates = (a: Share, b: Share, difference: number): { rateA: number; rateB: number } => {
  const all = a.all + b.all
  const affected = a.affected + b.affected
  // Arm a's rate is the root of a cubic polynomial.
  const c3 = all
  const c2 = (b.all + 2 * a.all) * difference - all - affected
  const c1 = (a.all * difference - all - 2 * a.affected) * difference + affected
  const c0 = a.affected * difference * (1 - difference)
  const q = c2 ** 3 / (27 * c3 ** 3) - (c1 * c2) / (6 * c3 ** 2) + c0 / (2 * c3)
  const h = Math.sign(q) * Math.sqrt(Math.max(0, c2 ** 2 / (9 * c3 ** 2) - c1 / (3 * c3)))
  const angle = h === 0 ? Math.PI / 2 : (Math.PI + Math.acos(clamp(q / h ** 3, -1, 1))) / 3
  const root = 2 * h * Math.cos(angle) - c2 / (3 * c3)
  const rateA = clamp(root, Math.max(0, -difference), Math.min(1, 1 - difference))
  return { rateA, rateB: clamp(rateA + difference, 0, 1) }
}

/** Returns the number of standard errors by which b − a exceeds this difference. */
const scoreZ = (a: Share, b: Share, difference: number): number => {
  const above = rateOf(b) - rateOf(a) - difference
  const { rateA, rateB } = likeliestRates(a, b, difference)
  const all = a.all + b.all
  const variance = (((rateA * (1 - rateA)) / a.all + (rateB * (1 - rateB)) / b.all) * all) / (all - 1)
  if (above === 0) return 0
  return above / Math.sqrt(Math.max(0, variance))
}

/** Returns Miettinen and Nurminen's score interval for b − a. */
export const scoreInterval = (a: Share, b: Share, alpha: number): Interval => {
  const z = twoSidedZ(alpha)
  const difference = rateOf(b) - rateOf(a)
  return {
    low: edge((at) => scoreZ(a, b, at) < z, difference, -1),
    high: edge((at) => scoreZ(a, b, at) > -z, difference, 1),
  }
}

/** Tests whether two shares are equal, using the same score. */
export const scoreTest = (a: Share, b: Share): { z: number; p: number } => {
  const all = a.all + b.all
  const rate = (a.affected + b.affected) / all
  const variance = (rate * (1 - rate) * (1 / a.all + 1 / b.all) * all) / (all - 1)
  const difference = rateOf(b) - rateOf(a)
  if (difference === 0 || variance <= 0) return { z: 0, p: 1 }
  const z = difference / Math.sqrt(variance)
  return { z, p: normalTwoSided(z) }
}

/** Returns the smallest expected count in a cell of the two-by-two table. */
export const leastExpected = (a: Share, b: Share): number => {
  const affected = a.affected + b.affected
  const all = a.all + b.all
  return (Math.min(affected, all - affected) * Math.min(a.all, b.all)) / all
}

/**
 * Returns the two-sided p-value of Fisher's exact test, which adds up all tables that are at most as likely as this
 * one. Counts must be integers. The test is conservative.
 */
export const fisher = (a: Share, b: Share): number => {
  const affected = a.affected + b.affected
  const all = a.all + b.all
  const logChoose = (of: number, take: number) => logGamma(of + 1) - logGamma(take + 1) - logGamma(of - take + 1)
  const probability = (inA: number) =>
    Math.exp(logChoose(a.all, inA) + logChoose(b.all, affected - inA) - logChoose(all, affected))
  const atMost = probability(a.affected) * (1 + 1e-7)
  let p = 0
  for (let inA = Math.max(0, affected - b.all); inA <= Math.min(a.all, affected); inA++) {
    const one = probability(inA)
    if (one <= atMost) p += one
  }
  return Math.min(1, p)
}

/**
 * With smaller expected counts, chance is not close enough to a normal distribution for the small p-values that a
 * correction for many tests requires.
 */
const enoughExpected = 100

/** Tests whether two shares are equal. If a cell is small, the test is exact. Counts must be integers. */
export const rateTest = (a: Share, b: Share): number =>
  leastExpected(a, b) < enoughExpected ? fisher(a, b) : scoreTest(a, b).p
