// Decides whether a measurement meets a condition. All functions are pure.

import type { Interval } from '../../statistics/interval.ts'
import { meanInterval } from '../../statistics/means.ts'
import { fisher, wilson } from '../../statistics/rate-intervals.ts'
import type { WindowSums } from './queries.ts'

const alpha = 0.05

/** The sums of a window without conversations. */
export const nothingMeasured: WindowSums = { count: 0, hits: 0, sum: 0, squares: 0, quantile: null }

/** Returns the sums of every period of a group. `sums` only contains the periods that have conversations. */
export const eachPeriod = (sums: (WindowSums & { period: number })[], count: number): WindowSums[] => {
  const periods: WindowSums[] = new Array(count).fill(nothingMeasured)
  for (const { period, ...sum } of sums) periods[period] = sum
  return periods
}

export type Statistic = 'mean' | 'p50' | 'p95' | 'p99'
export type Direction = 'above' | 'below'

/** `unknown` means that there is too little data to decide. */
export type ConditionVerdict = 'met' | 'clear' | 'unknown'

export type Decision = { verdict: ConditionVerdict; value: number | null; interval: Interval | null; sample: number }

const quantiles: Record<Exclude<Statistic, 'mean'>, number> = { p50: 0.5, p95: 0.95, p99: 0.99 }

/** Returns the share of values below a percentile, or undefined for the mean. */
export const quantileOf = (statistic: Statistic): number | undefined =>
  statistic === 'mean' ? undefined : quantiles[statistic]

type Threshold = { direction: Direction; threshold: number }

/** Returns whether the entire interval is beyond the threshold. */
const excludes = ({ low, high }: Interval, { direction, threshold }: Threshold): boolean =>
  direction === 'above' ? low > threshold : high < threshold

const verdictOf = (isMet: boolean): ConditionVerdict => (isMet ? 'met' : 'clear')

/** Compares a share of affected conversations with a threshold, using either its interval or the share itself. */
export const decideRate = (
  { count, hits }: WindowSums,
  threshold: Threshold & { certainty: 'interval' | 'point' },
  minimumSample: number,
): Decision => {
  if (count === 0) return { verdict: 'unknown', value: null, interval: null, sample: 0 }
  const value = hits / count
  const interval = wilson({ affected: hits, all: count }, alpha)
  const isMet = excludes(threshold.certainty === 'point' ? { low: value, high: value } : interval, threshold)
  return { verdict: count < minimumSample ? 'unknown' : verdictOf(isMet), value, interval, sample: count }
}

/**
 * Compares the interval of a mean with a threshold. For a percentile, compares the share of values above the threshold
 * instead, because the interval of a share makes no assumption about how values are distributed.
 */
export const decideStatistic = (
  sums: WindowSums,
  { statistic, ...threshold }: Threshold & { statistic: Statistic },
  minimumSample: number,
): Decision => {
  const { count, hits, sum, quantile } = sums
  if (count === 0) return { verdict: 'unknown', value: null, interval: null, sample: 0 }
  const below = quantileOf(statistic)
  if (below === undefined) {
    const interval = meanInterval(sums, alpha)
    const isKnown = interval !== null && count >= minimumSample
    const verdict = isKnown ? verdictOf(excludes(interval, threshold)) : 'unknown'
    return { verdict, value: sum / count, interval, sample: count }
  }
  // A percentile is above the threshold if the share of values above it is larger than the percentile allows.
  const shareAbove = wilson({ affected: hits, all: count }, alpha)
  const isMet = excludes(shareAbove, { direction: threshold.direction, threshold: 1 - below })
  return {
    verdict: count < minimumSample ? 'unknown' : verdictOf(isMet),
    value: quantile,
    interval: null,
    sample: count,
  }
}

export const decideVolume = (count: number, { direction, threshold }: Threshold): Decision => ({
  verdict: verdictOf(direction === 'above' ? count > threshold : count < threshold),
  value: count,
  interval: null,
  sample: count,
})

const minutesPerYear = 365 * 24 * 60

/** With more conversations, an exact test is slow and an approximation is accurate enough. */
const mostExact = 20_000

/** Reduces the counts to at most `mostExact` in the same proportion, which makes the test more conservative. */
const shrink = ({ affected, all }: { affected: number; all: number }) => {
  if (all <= mostExact) return { affected, all }
  return { affected: Math.round((affected * mostExact) / all), all: mostExact }
}

export type Change = { direction: 'up' | 'down' | 'either'; falseAlarmsPerYear: number }

/**
 * Compares a rate with the previous one. Fisher's exact test runs once for each window. Its significance level limits
 * the number of false alarms to `falseAlarmsPerYear`, regardless of the rate and the sample sizes.
 */
export const decideChange = (
  { before, now }: { before: WindowSums; now: WindowSums },
  { direction, falseAlarmsPerYear }: Change,
  { windowMinutes, groups, minimumSample }: { windowMinutes: number; groups: number; minimumSample: number },
): Decision => {
  const value = now.count === 0 ? null : now.hits / now.count
  const interval = now.count === 0 ? null : wilson({ affected: now.hits, all: now.count }, alpha)
  const decision = { value, interval, sample: now.count }
  if (value === null || Math.min(before.count, now.count) < minimumSample) return { verdict: 'unknown', ...decision }
  const difference = value - before.hits / before.count
  const isAsked = direction === 'either' || (direction === 'up' ? difference > 0 : difference < 0)
  if (!isAsked || difference === 0) return { verdict: 'clear', ...decision }
  const allowed = (falseAlarmsPerYear * windowMinutes) / (minutesPerYear * Math.max(1, groups))
  const p = fisher(shrink({ affected: before.hits, all: before.count }), shrink({ affected: now.hits, all: now.count }))
  return { verdict: verdictOf(p <= Math.min(1, allowed)), ...decision }
}

/**
 * Compares the values in a window with earlier values, using the share of values above the median of both together. If
 * nothing has changed, all orders of the values are equally likely, so the exact test of these shares makes no
 * assumption about how the values are distributed.
 */
export const decideFieldChange = (
  pair: { before: WindowSums; now: WindowSums },
  change: Change,
  about: Parameters<typeof decideChange>[2],
): Decision => ({ ...decideChange(pair, change, about), value: pair.now.quantile, interval: null })
