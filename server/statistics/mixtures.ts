// Calculates always-valid evidence with mixtures over possible differences. E-values are stored as logarithms.

import type { Design } from './design.ts'
import { edge, type Interval } from './interval.ts'
import type { Share } from './rate-intervals.ts'
import { logBeta } from './special-functions.ts'

/** The exponential of a logarithm up to this number is still finite. */
const largestLog = 700

export const eValueOf = (logE: number): number => Math.exp(Math.min(largestLog, logE))

export const pValueOf = (logE: number): number => Math.exp(Math.max(-largestLog, Math.min(0, -logE)))

/** Returns the x at which intervals are narrowest. It corresponds to the tuning number of conversations. */
const tuned = (alpha: number): number => -2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha))

/**
 * Returns the amount that a conversation adds to the x in the functions below. x is the information in units of the
 * mixture.
 */
export const informationRate = ({ alpha, tuningConversations }: Pick<Design, 'alpha' | 'tuningConversations'>) =>
  tuned(alpha) / tuningConversations

/**
 * Returns the evidence that a squared t value provides against a mixture of alternatives (the anytime-valid t test).
 * The degrees can be infinite.
 */
export const tLogE = (tSquare: number, degrees: number, x: number): number => {
  // A variance near 0 can lead to an infinite value, which is no stronger evidence than the largest number.
  const square = Math.min(tSquare, Number.MAX_VALUE)
  const logR = -Math.log1p(x)
  const r = 1 / (1 + x)
  if (degrees === Number.POSITIVE_INFINITY) return 0.5 * logR + 0.5 * square * (x / (1 + x))
  return 0.5 * logR + 0.5 * (degrees + 1) * (Math.log1p(square / degrees) - Math.log1p((r * square) / degrees))
}

/**
 * Returns the number of standard errors that amounts to evidence of 1/alpha. Infinite as long as no number is
 * sufficient.
 */
export const tMultiplier = (degrees: number, x: number, alpha: number): number => {
  if (degrees === Number.POSITIVE_INFINITY) return normalMultiplier(x, alpha)
  const r = 1 / (1 + x)
  const exponent = (-Math.log1p(x) + 2 * Math.log(alpha)) / (degrees + 1)
  const q = Math.exp(exponent)
  return q > r ? Math.sqrt((degrees * -Math.expm1(exponent)) / (q - r)) : Number.POSITIVE_INFINITY
}

/** Returns the multiplier for infinite degrees of freedom. */
export const normalMultiplier = (x: number, alpha: number): number =>
  x <= 0 ? Number.POSITIVE_INFINITY : Math.sqrt(((1 + x) / x) * (Math.log1p(x) - 2 * Math.log(alpha)))

/**
 * Returns the evidence against a rate. The mixture is a beta distribution around the rate, worth `concentration`
 * observations.
 */
export const rateLogE = ({ affected, all }: Share, rate: number, concentration: number): number => {
  const [before, beforeNot] = [concentration * rate, concentration * (1 - rate)]
  const notAffected = all - affected
  // A single observation excludes a rate of 0 or 1.
  if (rate <= 0) return affected > 0 ? Number.POSITIVE_INFINITY : 0
  if (rate >= 1) return notAffected > 0 ? Number.POSITIVE_INFINITY : 0
  return (
    logBeta(before + affected, beforeNot + notAffected) -
    logBeta(before, beforeNot) -
    affected * Math.log(rate) -
    notAffected * Math.log1p(-rate)
  )
}

/**
 * Returns the rates that are not excluded, for independent observations. The interval is narrowest at the tuning
 * number.
 */
export const anytimeRateInterval = (
  share: Share,
  { alpha, alphaTuned, tunedFor }: { alpha: number; alphaTuned: number; tunedFor: number },
): Interval => {
  const concentration = Math.max(tunedFor / tuned(alphaTuned) - 1, 0.001)
  const possible = (rate: number) => rateLogE(share, rate, concentration) < -Math.log(alpha)
  const rate = share.affected / share.all
  return { low: edge(possible, rate, 0), high: edge(possible, rate, 1) }
}
