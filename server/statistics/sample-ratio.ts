// Checks whether the arms receive their expected shares of units. Counts units instead of conversations, because
// returning callers would look like a mismatch.

import { chiSquareTail } from './distributions.ts'
import { edge, type Interval } from './interval.ts'
import { eValueOf, pValueOf, rateLogE } from './mixtures.ts'
import { logBeta } from './special-functions.ts'

/** The number of units, by the arm of their first conversation. */
export type Split = { a: number; b: number }

/**
 * The concentrations of the mixtures around the expected share. With them, a few hundred units show a large mismatch,
 * and thousands a small one.
 */
const concentrations = [100, 1000, 10_000]

const leastUnits = 20
const leastExpectedUnits = 5
const watchBelow = 0.05
const mismatchBelow = 0.01

/**
 * Returns an ordinary test, which has more false alarms if it is read repeatedly. It is shown, but nothing depends on
 * it.
 */
export const splitChiSquare = ({ a, b }: Split, expectedA: number): { chiSquare: number; p: number } => {
  const all = a + b
  if (all === 0) return { chiSquare: 0, p: 1 }
  const chiSquare = (a - all * expectedA) ** 2 / (all * expectedA * (1 - expectedA))
  return { chiSquare, p: chiSquareTail(chiSquare, 1) }
}

/** Returns always-valid evidence against the expected shares, as the mean of the mixtures. */
export const splitLogE = ({ a, b }: Split, expectedA: number): number => {
  const logs = concentrations.map((each) => rateLogE({ affected: a, all: a + b }, expectedA, each))
  const largest = Math.max(...logs)
  if (largest === Number.POSITIVE_INFINITY) return largest
  return largest + Math.log(logs.reduce((sum, each) => sum + Math.exp(each - largest), 0) / logs.length)
}

/** Returns the evidence for any number of arms and any prior. For two arms, it equals `rateLogE`. */
export const dirichletLogE = (
  counts: readonly number[],
  expected: readonly number[],
  prior: readonly number[],
): number => {
  // This is the multivariate beta function, calculated by adding one arm after the other.
  const logMultiBeta = (values: readonly number[]) => {
    let [sum = 0, ...others] = values
    let log = 0
    for (const value of others) {
      log += logBeta(sum, value)
      sum += value
    }
    return log
  }
  const explained = counts.reduce((sum, count, at) => sum + (count === 0 ? 0 : count * Math.log(expected[at] ?? 0)), 0)
  return logMultiBeta(prior.map((each, at) => each + (counts[at] ?? 0))) - logMultiBeta(prior) - explained
}

/** Returns the shares of arm a that are compatible with the split. */
const splitInterval = (split: Split, alpha: number): Interval | null => {
  const all = split.a + split.b
  if (all === 0) return null
  const possible = (share: number) => splitLogE(split, share) < -Math.log(alpha)
  return { low: edge(possible, split.a / all, 0), high: edge(possible, split.a / all, 1) }
}

export type SampleRatio = {
  status: 'not_configured' | 'too_few' | 'fits' | 'watch' | 'mismatch'
  units: Split
  expectedA: number | null
  chiSquareP: number | null
  eValue: number
  /** The lowest p-value so far, so it never rises. */
  p: number
  shareOfA: Interval | null
}

export const sampleRatio = (
  units: Split,
  { expectedA, alpha, smallestP = 1 }: { expectedA: number | null; alpha: number; smallestP?: number },
): SampleRatio => {
  const shareOfA = splitInterval(units, alpha)
  if (expectedA === null) {
    return { status: 'not_configured', units, expectedA, chiSquareP: null, eValue: 1, p: 1, shareOfA }
  }
  const all = units.a + units.b
  const logE = all === 0 ? 0 : splitLogE(units, expectedA)
  const p = Math.min(smallestP, pValueOf(logE))
  const tooFew = all < leastUnits || all * Math.min(expectedA, 1 - expectedA) < leastExpectedUnits
  return {
    status: tooFew ? 'too_few' : p < mismatchBelow ? 'mismatch' : p < watchBelow ? 'watch' : 'fits',
    units,
    expectedA,
    chiSquareP: splitChiSquare(units, expectedA).p,
    eValue: eValueOf(logE),
    p,
    shareOfA,
  }
}
