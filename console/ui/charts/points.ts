// Defines values over time with their intervals, for charts with lines and bars.

import type { LinkProps } from '@tanstack/react-router'
import { formatCount } from '../../lib/format.ts'
import type { ChartTable } from './rows.tsx'
import { longTime, percentile90 } from './scale.ts'

export type BandPoint = {
  start: string
  end: string
  /** Null leaves a gap in the line. */
  value: number | null
  /** The confidence interval. */
  low?: number | null
  high?: number | null
  /** The sample size. */
  n?: number
  /** Opens the underlying conversations. */
  link?: LinkProps
}

const present = (values: (number | null | undefined)[]): number[] => values.filter((value) => value != null)

/**
 * Returns the end of the axis. If the widest 10% of intervals would flatten the rest of the chart, they are cut off.
 */
const reachOf = (ends: number[]): number => {
  const [most, all] = [percentile90(ends), Math.max(...ends)]
  return all > 1.6 * most ? most : all
}

/** Returns the range of the axis: all values and their intervals. */
export const extentOf = (points: BandPoint[], more: number[]): [number, number] => {
  const values = [...present(points.map(({ value }) => value)), ...more]
  const highs = present(points.map(({ high }) => high))
  const lows = present(points.map(({ low }) => low))
  return [
    Math.min(...values, ...(lows.length > 0 ? [-reachOf(lows.map((low) => -low))] : []), ...more),
    Math.max(...values, ...(highs.length > 0 ? [reachOf(highs)] : []), ...more),
  ]
}

export const wordsOf = ({ value, low, high, n }: BandPoint, format: (value: number) => string): string[] => [
  value === null ? 'No data' : format(value),
  ...(low != null && high != null ? [`95% interval ${format(low)} to ${format(high)}`] : []),
  ...(n === undefined ? [] : [`n = ${formatCount(n)}`]),
]

/** Returns the points as a table. */
export const tableOfPoints = (
  points: BandPoint[],
  valueName: string,
  format: (value: number) => string,
): ChartTable => {
  const hasN = points.some(({ n }) => n !== undefined)
  return {
    head: ['From', valueName, 'Low', 'High', ...(hasN ? ['n'] : [])],
    rows: points.map((at) => [
      longTime(at),
      ...[at.value, at.low, at.high].map((value) => (value == null ? '–' : format(value))),
      ...(hasN ? [at.n === undefined ? '–' : formatCount(at.n)] : []),
    ]),
  }
}
