// Formats outcomes: rates as percentages and points, scores as numbers.

import { formatNumber, formatPercent, signedPoints } from '../lib/format.ts'
import type { Outcome } from './queries.ts'

export const isShare = ({ kind }: Pick<Outcome, 'kind'>): boolean => kind === 'boolean'

export const formatLevel = (outcome: Pick<Outcome, 'kind'>, value: number | null): string => {
  if (value === null) return '–'
  return isShare(outcome) ? formatPercent(value) : formatNumber(value)
}

export const formatDifference = (outcome: Pick<Outcome, 'kind'>, value: number | null): string => {
  if (value === null) return '–'
  if (isShare(outcome)) return `${signedPoints(value)} points`
  const sign = value > 0 ? '+' : value < 0 ? '−' : ''
  return sign + formatNumber(Math.abs(value))
}

type Ends = { low: number; high: number } | null

export const formatInterval = (outcome: Pick<Outcome, 'kind'>, interval: Ends): string =>
  interval === null
    ? 'None yet'
    : `${formatDifference(outcome, interval.low).replace(' points', '')} to ${formatDifference(outcome, interval.high)}`

/** Formats a p-value as `p < 0.001` or `p 0.034`. */
export const formatP = (p: number | null): string => {
  if (p === null) return '–'
  return p < 0.001 ? '< 0.001' : p.toFixed(3)
}

export const reasons: Record<string, string> = {
  too_few_units: 'Not enough callers for an interval yet.',
  too_few_observations: 'Not enough observations for an interval yet.',
  zero_variance: 'All observations are identical, so there’s no interval yet.',
}
