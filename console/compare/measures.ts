// Formats the measures of a comparison. Pure.

import type { Measure } from '../boards/queries.ts'
import { differenceIn, isShare } from '../boards/values.ts'
import { soundLabel } from '../conversations/sound-names.ts'
import type { Filter } from '../filters/filter.ts'
import { signedPoints } from '../lib/format.ts'
import type { ComparedRow } from './requests.ts'

const statistics: Record<string, string> = {
  mean: 'Mean',
  sum: 'Total',
  p50: 'Median',
  p90: '90th percentile of',
  p95: '95th percentile of',
  p99: '99th percentile of',
}

const withStatistic = (statistic: string, of: string): string => `${statistics[statistic] ?? statistic} ${of}`

/** Returns the name of a row. */
export const nameOfRow = ({ measure, monitorName }: Pick<ComparedRow, 'measure' | 'monitorName'>): string => {
  const monitor = monitorName ?? 'deleted monitor'
  switch (measure.kind) {
    case 'volume':
      return 'Conversations'
    case 'rate':
      return monitor
    case 'agreement':
      return `Agreement with reviewers: ${monitor}`
    case 'score':
      return withStatistic(measure.statistic, `score: ${monitor}`)
    case 'duration':
      return withStatistic(measure.statistic, 'duration')
    case 'signal':
      return withStatistic(
        measure.statistic,
        measure.signal.startsWith('responseLatencyMs') ? 'response latency' : measure.signal,
      )
    case 'sound':
      return withStatistic(measure.statistic, soundLabel(measure.name))
    case 'metric':
      return withStatistic(measure.statistic, measure.key)
    case 'cost':
      return withStatistic(measure.statistic, 'cost per result')
    case 'latency':
      return withStatistic(measure.statistic, 'judge response time')
    case 'delay':
      return withStatistic(measure.statistic, 'ingestion delay')
    case 'category':
      return `${measure.category ?? 'Categories'}: ${monitor}`
    case 'field':
      return withStatistic(measure.statistic, `${measure.field}: ${monitor}`)
  }
}

/** Returns the ends of a difference's interval, such as `−1.2 to +3.4`. */
export const endsOf = (measure: Measure, { low, high }: { low: number; high: number }): string => {
  const write = (value: number) => (isShare(measure) ? signedPoints(value) : differenceIn(measure, value))
  return `${write(low)} to ${write(high)}`
}

/** Describes whether a difference is more than chance. Returns an empty string if there is nothing to describe. */
export const verdictOf = ({ difference, p, isNotable, measure }: ComparedRow): string => {
  if (measure.kind === 'volume' || difference === null) return ''
  if (p === null) return 'Too few values'
  if (!isNotable) return 'No clear difference'
  return difference > 0 ? 'Higher in B' : 'Lower in B'
}

const statisticOf = (measure: Measure): string => ('statistic' in measure ? measure.statistic : measure.kind)

/** Returns the conversations behind one side's value: for rates, the affected ones. */
export const conversationsBehind = ({ measure }: Pick<ComparedRow, 'measure'>, side: Filter): Filter =>
  measure.kind === 'rate'
    ? { ...side, monitors: [...(side.monitors ?? []), { id: measure.monitorId, result: 'affected' }] }
    : side

/** Sorts notable rows first, then the clearest ones. Rows without a test come last and keep their order. */
export const byClarity = (one: ComparedRow, other: ComparedRow): number =>
  Number(other.isNotable) - Number(one.isNotable) || (one.p ?? 2) - (other.p ?? 2)

const csvColumns = [
  ...['measure', 'statistic', 'A n', 'A', 'A low', 'A high', 'B n', 'B', 'B low', 'B high'],
  ...['difference', 'low', 'high', 'p', 'adjusted p', 'notable', 'definition changed'],
]

/** Returns the rows of the table as cells, preceded by the header. */
export const cellsOf = (rows: ComparedRow[]): (string | number | null)[][] => {
  const figure = ({ n, value, interval95 }: ComparedRow['a']) => [
    n,
    value,
    interval95?.low ?? null,
    interval95?.high ?? null,
  ]
  return [
    csvColumns,
    ...rows.map((row) => [
      nameOfRow(row),
      statisticOf(row.measure),
      ...figure(row.a),
      ...figure(row.b),
      row.difference,
      row.differenceInterval95?.low ?? null,
      row.differenceInterval95?.high ?? null,
      row.p,
      row.adjustedP,
      row.isNotable ? 'yes' : 'no',
      row.definitionChanged ? 'yes' : 'no',
    ]),
  ]
}
