// Formats the values of a measure.

import { formatCount, formatDuration, formatMoney, formatMs, formatNumber, formatPercent } from '../lib/format.ts'
import type { Chart } from './queries.ts'

type Measure = Chart['query']['measure']

export const isShare = ({ kind }: Measure): boolean => kind === 'rate' || kind === 'agreement'

/** Returns how to write a value of the measure. */
export const formatOf = (measure: Measure): ((value: number) => string) => {
  switch (measure.kind) {
    case 'rate':
    case 'agreement':
      return formatPercent
    case 'volume':
      return formatCount
    case 'duration':
    case 'delay':
      return formatDuration
    case 'cost':
      return formatMoney
    case 'signal':
      return measure.signal.includes('Ms') ? formatMs : formatNumber
    default:
      return formatNumber
  }
}

/** Returns how to write a value on an axis, which has little room. */
export const tickOf = (measure: Measure): ((value: number) => string) => {
  if (measure.kind !== 'duration' && measure.kind !== 'delay') return formatOf(measure)
  return (seconds) => (seconds < 3_600 ? formatDuration(seconds) : `${formatNumber(Math.round(seconds / 360) / 10)} h`)
}

/** Returns the name of a measure's value, for tooltips and tables. */
export const nameOf = (measure: Measure): string => {
  if (measure.kind === 'rate') return 'Affected'
  if (measure.kind === 'agreement') return 'Agreement'
  if (measure.kind === 'volume') return 'Conversations'
  const words = { mean: 'Mean', sum: 'Sum', p50: 'Median', p90: 'p90', p95: 'p95', p99: 'p99' }
  return words[measure.statistic]
}

const quoted = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/** Spreadsheets would run a cell that starts like a formula. */
const harmless = (cell: string): string => (/^[=+\-@\t\r]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell)

export const toCsv = (rows: (string | number | null)[][]): string =>
  rows.map((row) => row.map((cell) => quoted(harmless(cell === null ? '' : String(cell)))).join(',')).join('\r\n')
