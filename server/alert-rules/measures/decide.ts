// Whether what was measured meets a condition. Pure.

import { tQuantile } from '../../statistics/distributions.ts'
import { around, type Interval } from '../../statistics/interval.ts'
import { fisher, wilson } from '../../statistics/rate-intervals.ts'
import type { WindowSums } from './queries.ts'

const alpha = 0.05

/** The sums of a window without conversations. */
export const nothingMeasured: WindowSums = { count: 0, hits: 0, sum: 0, squares: 0, quantile: null }

/** Returns the sums of all periods, from those of one group that has some. */
export const eachPeriod = (sums: (WindowSums & { period: number })[], count: number): WindowSums[] => {
  const periods: WindowSums[] = new Array(count).fill(nothingMeasured)
  for (const { period, ...sum } of sums) periods[period] = sum
  return periods
}

export type Statistic = 'mean' | 'p50' | 'p95' | 'p99'
export type Direction = 'above' | 'below'

/** unknown: there is too little data to tell. */
export type ConditionVerdict = 'met' | 'clear' | 'unknown'

export type Decision = { verdict: ConditionVerdict; value: number | null; interval: Interval | null; sample: number }

const quantiles: Record<Exclude<Statistic, 'mean'>, number> = { p50: 0.5, p95: 0.95, p99: 0.99 }

/** Returns the share of values that lie below a percentile, undefined for the mean. */
export const quantileOf = (statistic: Statistic): number | undefined =>
  statistic === 'mean' ? undefined : quantiles[statistic]

type Threshold = { direction: Direction; threshold: number }

/** An interval excludes the threshold if all of it lies on the far side. */
const excludes = ({ low, high }: Interval, { direction, threshold }: Threshold): boolean =>
  direction === 'above' ? low > threshold : high < threshold

const verdictOf = (isMet: boolean): ConditionVerdict => (isMet ? 'met' : 'clear')

/** A share of affected conversations against a threshold: its interval, or the share itself. */
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

/** The interval of a mean. Undefined for a single value, which has no spread. */
const meanInterval = ({ count, sum, squares }: WindowSums): Interval | null => {
  if (count < 2) return null
  const mean = sum / count
  const variance = Math.max(0, (squares - sum * mean) / (count - 1))
  return around(mean, tQuantile(1 - alpha / 2, count - 1) * Math.sqrt(variance / count))
}

/**
 * A mean against a threshold by its interval; a percentile by the share of values above the threshold, whose interval
 * needs no assumption about how values are distributed.
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
    const interval = meanInterval(sums)
    const isKnown = interval !== null && count >= minimumSample
    const verdict = isKnown ? verdictOf(excludes(interval, threshold)) : 'unknown'
    return { verdict, value: sum / count, interval, sample: count }
  }
  // A percentile lies above the threshold if more values do than may lie above the percentile.
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

/** Beyond this many conversations an exact test takes long and an approximation is exact enough. */
const mostExact = 20_000

/** Fewer conversations in the same proportion, which makes the test more careful. */
const shrink = ({ affected, all }: { affected: number; all: number }) => {
  if (all <= mostExact) return { affected, all }
  return { affected: Math.round((affected * mostExact) / all), all: mostExact }
}

export type Change = { direction: 'up' | 'down' | 'either'; falseAlarmsPerYear: number }

/**
 * Compares a rate with the one before. Each window is tested once, by Fisher's exact test, so that windows without a
 * change raise at most that many alarms a year, whatever the rate and the sizes of the samples.
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
