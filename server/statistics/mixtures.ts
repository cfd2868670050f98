// Always-valid evidence: mixtures over possible differences. E-values are stored as logarithms.

import type { Design } from './design.ts'
import { edge, type Interval } from './interval.ts'
import type { Share } from './rate-intervals.ts'
import { logBeta } from './special-functions.ts'

/** Larger than any double. */
const largestLog = 700

export const eValueOf = (logE: number): number => Math.exp(Math.min(largestLog, logE))

export const pValueOf = (logE: number): number => Math.exp(Math.max(-largestLog, Math.min(0, -logE)))

/** The tuning number is divided by this: the variance of the mixture that is narrowest there. */
const tuned = (alpha: number): number => -2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha))

/** How much a conversation adds to x in the functions below: information, in units of the mixture's own. */
export const informationRate = ({ alpha, tuningConversations }: Pick<Design, 'alpha' | 'tuningConversations'>) =>
  tuned(alpha) / tuningConversations

/** From a t value squared, with a mixture of alternatives (the anytime-valid t test; degrees can be infinite). */
export const tLogE = (tSquare: number, degrees: number, x: number): number => {
  // An infinite one, from a variance near 0, is no more evidence than the largest.
  const square = Math.min(tSquare, Number.MAX_VALUE)
  const logR = -Math.log1p(x)
  const r = 1 / (1 + x)
  if (degrees === Number.POSITIVE_INFINITY) return 0.5 * logR + 0.5 * square * (x / (1 + x))
  return 0.5 * logR + 0.5 * (degrees + 1) * (Math.log1p(square / degrees) - Math.log1p((r * square) / degrees))
}

/** Standard errors required for evidence of 1/alpha; infinite while nothing is sufficient. */
export const tMultiplier = (degrees: number, x: number, alpha: number): number => {
  if (degrees === Number.POSITIVE_INFINITY) return normalMultiplier(x, alpha)
  const r = 1 / (1 + x)
  const exponent = (-Math.log1p(x) + 2 * Math.log(alpha)) / (degrees + 1)
  const q = Math.exp(exponent)
  return q > r ? Math.sqrt((degrees * -Math.expm1(exponent)) / (q - r)) : Number.POSITIVE_INFINITY
}

/** The same with infinite degrees of freedom. */
export const normalMultiplier = (x: number, alpha: number): number =>
  x <= 0 ? Number.POSITIVE_INFINITY : Math.sqrt(((1 + x) / x) * (Math.log1p(x) - 2 * Math.log(alpha)))

/** Against a rate, with a beta mixture around it that is worth this many observations. */
export const rateLogE = ({ affected, all }: Share, rate: number, concentration: number): number => {
  const [before, beforeNot] = [concentration * rate, concentration * (1 - rate)]
  const notAffected = all - affected
  // A single observation excludes impossible rates.
  if (rate <= 0) return affected > 0 ? Number.POSITIVE_INFINITY : 0
  if (rate >= 1) return notAffected > 0 ? Number.POSITIVE_INFINITY : 0
  return (
    logBeta(before + affected, beforeNot + notAffected) -
    logBeta(before, beforeNot) -
    affected * Math.log(rate) -
    notAffected * Math.log1p(-rate)
  )
}

/** All rates that are not excluded, for independent observations; narrowest at this many. */
export const anytimeRateInterval = (
  share: Share,
  { alpha, alphaTuned, tunedFor }: { alpha: number; alphaTuned: number; tunedFor: number },
): Interval => {
  const concentration = Math.max(tunedFor / tuned(alphaTuned) - 1, 0.001)
  const possible = (rate: number) => rateLogE(share, rate, concentration) < -Math.log(alpha)
  const rate = share.affected / share.all
  return { low: edge(possible, rate, 0), high: edge(possible, rate, 1) }
}
