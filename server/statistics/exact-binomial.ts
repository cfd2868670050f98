// Calculates evidence about two rates that is exact for any number of independent observations and any split (universal
// inference).

import { edge } from './interval.ts'
import { likeliestRates, type Share } from './rate-intervals.ts'
import { logBeta } from './special-functions.ts'

/** Returns the log likelihood of the data if both rates are learned from it, as a mixture with Jeffreys' priors. */
const logLearnt = ({ affected, all }: Share): number =>
  logBeta(affected + 0.5, all - affected + 0.5) - logBeta(0.5, 0.5)

const timesLog = (times: number, of: number) => (times === 0 ? 0 : times * Math.log(of))

const logLikelihood = ({ affected, all }: Share, rate: number): number =>
  timesLog(affected, rate) + timesLog(all - affected, 1 - rate)

/** Returns the evidence against rates with exactly this difference. */
export const exactLogE = (a: Share, b: Share, difference: number): number => {
  const { rateA, rateB } = likeliestRates(a, b, difference)
  return logLearnt(a) + logLearnt(b) - logLikelihood(a, rateA) - logLikelihood(b, rateB)
}

/** Returns the differences that are not excluded. */
export const exactInterval = (a: Share, b: Share, alpha: number) => {
  const estimate = b.affected / b.all - a.affected / a.all
  const learnt = logLearnt(a) + logLearnt(b)
  const possible = (difference: number) => {
    const { rateA, rateB } = likeliestRates(a, b, difference)
    return learnt - logLikelihood(a, rateA) - logLikelihood(b, rateB) < -Math.log(alpha)
  }
  return { low: edge(possible, estimate, -1), high: edge(possible, estimate, 1) }
}
