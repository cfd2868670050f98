// Calculates figures and their intervals from sums. Pure.

import { valueOfStep } from '../platform/db/rounded-values.ts'
import { share } from '../statistics/agreement.ts'
import type { Interval } from '../statistics/interval.ts'
import { meanDifference, meanInterval } from '../statistics/means.ts'
import { newcombe } from '../statistics/rate-intervals.ts'
import type { Sums } from './queries.ts'
import type { Measure, Statistic } from './query-schema.ts'

const alpha = 0.05

export type Figure = { n: number; value: number | null; interval95: Interval | null }

/** The figures that can be calculated from sums. */
export type Kind = 'count' | 'share' | Statistic

export const kindOf = (measure: Measure): Kind => {
  if (measure.kind === 'volume') return 'count'
  return 'statistic' in measure ? measure.statistic : 'share'
}

const quantiles: Partial<Record<Kind, number>> = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99 }

/** Returns the share of values below a percentile, or undefined for other figures. */
export const quantileOf = (kind: Kind): number | undefined => quantiles[kind]

export const noSums: Sums = { count: 0, hits: 0, sum: 0, squares: 0, step: null, lowStep: null, highStep: null }

const valueAt = (step: number | null): number | null => (step === null ? null : valueOfStep(step))

export const figureOf = (kind: Kind, sums: Sums): Figure => {
  const { count: n, hits, sum, step, lowStep, highStep } = sums
  if (kind === 'count') return { n, value: n, interval95: null }
  if (n === 0) return { n, value: null, interval95: null }
  if (kind === 'share') {
    const estimate = share(hits, n)
    return { n, value: hits / n, interval95: estimate && { low: estimate.low, high: estimate.high } }
  }
  if (kind === 'sum') return { n, value: sum, interval95: null }
  if (kind === 'mean') return { n, value: sum / n, interval95: meanInterval(sums, alpha) }
  const [low, high] = [valueAt(lowStep), valueAt(highStep)]
  return { n, value: valueAt(step), interval95: low === null || high === null ? null : { low, high } }
}

/** Returns the interval of `now` − `before` for rates and means. */
export const differenceInterval = (kind: Kind, before: Sums, now: Sums): Interval | null => {
  if (before.count === 0 || now.count === 0) return null
  if (kind === 'share') {
    const shareOf = ({ hits, count }: Sums) => ({ affected: hits, all: count })
    return newcombe(shareOf(before), shareOf(now), alpha)
  }
  return kind === 'mean' ? meanDifference(before, now, alpha) : null
}
