// Evidence that may be looked at after every observation: mixtures over what the difference might be. E-values are kept
// by their logarithms.

import type { Design } from './design.ts'
import { edge, type Interval } from './interval.ts'
import type { Share } from './proportions.ts'
import { logBeta } from './special-functions.ts'

/** So large that no double is beyond. */
const largestLog = 700

export const eValueOf = (logE: number): number => Math.exp(Math.min(largestLog, logE))

export const pValueOf = (logE: number): number => Math.exp(Math.max(-largestLog, Math.min(0, -logE)))

/** What is divided by the tuning number: the variance of the mixture that is narrowest there. */
const tuned = (alpha: number): number => -2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha))

/** How much a conversation adds to x, which all below take: information, in units of the mixture's own. */
export const informationRate = ({ alpha, tuningConversations }: Pick<Design, 'alpha' | 'tuningConversations'>) =>
  tuned(alpha) / tuningConversations

/** Of a t value squared, by a mixture of alternatives (the anytime-valid t test; degrees may be infinite). */
export const tLogE = (tSquare: number, degrees: number, x: number): number => {
  // An infinite one, of a variance next to 0, is no more evidence than the largest.
  const square = Math.min(tSquare, Number.MAX_VALUE)
  const logR = -Math.log1p(x)
  const r = 1 / (1 + x)
  if (degrees === Number.POSITIVE_INFINITY) return 0.5 * logR + 0.5 * square * (x / (1 + x))
  return 0.5 * logR + 0.5 * (degrees + 1) * (Math.log1p(square / degrees) - Math.log1p((r * square) / degrees))
}

/** How many standard errors it takes for evidence of 1/alpha; infinite while nothing can be enough. */
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

/** Against a rate, by a beta mixture about it that is worth so many observations. */
export const rateLogE = ({ affected, all }: Share, rate: number, concentration: number): number => {
  const [before, beforeNot] = [concentration * rate, concentration * (1 - rate)]
  const notAffected = all - affected
  // Impossible rates are excluded by a single observation.
  if (rate <= 0) return affected > 0 ? Number.POSITIVE_INFINITY : 0
  if (rate >= 1) return notAffected > 0 ? Number.POSITIVE_INFINITY : 0
  return (
    logBeta(before + affected, beforeNot + notAffected) -
    logBeta(before, beforeNot) -
    affected * Math.log(rate) -
    notAffected * Math.log1p(-rate)
  )
}

/** All rates that were not excluded, for independent observations; the narrowest at so many of them. */
export const anytimeRateInterval = (
  share: Share,
  { alpha, alphaTuned, tunedFor }: { alpha: number; alphaTuned: number; tunedFor: number },
): Interval => {
  const concentration = Math.max(tunedFor / tuned(alphaTuned) - 1, 0.001)
  const possible = (rate: number) => rateLogE(share, rate, concentration) < -Math.log(alpha)
  const rate = share.affected / share.all
  return { low: edge(possible, rate, 0), high: edge(possible, rate, 1) }
}
