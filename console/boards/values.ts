// Formats the values of a measure.

import { formatCount, formatDuration, formatMoney, formatMs, formatNumber, formatPercent } from '../lib/format.ts'
import type { Measure, Query } from './queries.ts'

export const isShare = ({ kind }: Measure): boolean => ['rate', 'agreement', 'category'].includes(kind)

/** Returns a function that formats values of the measure. */
export const formatOf = (measure: Measure): ((value: number) => string) => {
  switch (measure.kind) {
    case 'rate':
    case 'agreement':
    case 'category':
      return formatPercent
    case 'volume':
      return formatCount
    case 'duration':
    case 'delay':
      return formatDuration
    case 'latency':
      return (seconds) => formatMs(seconds * 1_000)
    case 'cost':
      return formatMoney
    case 'signal':
      return measure.signal.includes('Ms') ? formatMs : formatNumber
    case 'sound':
      return measure.name.includes('Ms') ? formatMs : formatNumber
    default:
      return formatNumber
  }
}

export const signOf = (difference: number): string => (difference > 0 ? '+' : difference < 0 ? '−' : '±')

export const written = (value: number | null, format: (value: number) => string): string =>
  value === null ? 'No data' : format(value)

/** Returns a difference with its sign. Differences of shares are in points. */
export const differenceIn = (measure: Measure, difference: number): string => {
  const size = Math.abs(difference)
  const words = isShare(measure) ? formatPercent(size).replace('%', ' points') : formatOf(measure)(size)
  return `${signOf(difference)}${words}`
}

/** Returns a function that formats values on an axis, where space is limited. */
export const tickOf = (measure: Measure): ((value: number) => string) => {
  if (measure.kind !== 'duration' && measure.kind !== 'delay') return formatOf(measure)
  return (seconds) => (seconds < 3_600 ? formatDuration(seconds) : `${formatNumber(Math.round(seconds / 360) / 10)} h`)
}

/** Returns the name of a measure's value, for tooltips and tables. */
export const nameOf = (measure: Measure): string => {
  if (measure.kind === 'rate') return 'Affected'
  if (measure.kind === 'agreement') return 'Agreement'
  if (measure.kind === 'volume') return 'Conversations'
  if (measure.kind === 'category') return 'Share'
  const words = { mean: 'Mean', sum: 'Sum', p50: 'Median', p90: 'p90', p95: 'p95', p99: 'p99' }
  return words[measure.statistic]
}

/** Returns the dimensions of the answer. If the measure has no category, it has a group for each category. */
export const groupsOf = ({ measure, groupBy = [] }: Pick<Query, 'measure' | 'groupBy'>): string[] =>
  measure.kind === 'category' && measure.category === undefined
    ? [`category:${measure.monitorId}`, ...groupBy]
    : groupBy

/** Returns the name of a dimension for use in a sentence. */
export const dimensionName = (dimension: string): string => {
  if (dimension.startsWith('metadata:')) return dimension.slice('metadata:'.length)
  if (dimension === 'hourOfDay') return 'hour of day'
  if (dimension.startsWith('category:')) return 'category'
  return dimension === 'endReason' ? 'end reason' : dimension
}
