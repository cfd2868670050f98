// Reads and writes a page's period and comparison. In the address, a period is `last:7d`, or its first and last day:
// `2026-11-01..2026-11-14`.

import type { Schemas } from '../api/schema.d.ts'
import { formatDayTime, formatMonthDay } from '../lib/format.ts'
import { instantIn, localIn } from '../lib/zones.ts'
import type { Filter } from './filter.ts'
import { boundsOf, codeOf, labelOf, type Period } from './periods.ts'
import type { Comparison } from './range-search.ts'

export type TimeRange = Pick<Filter, 'period' | 'since' | 'until'>
export type CompareTo = NonNullable<Schemas['AnalyticsQuery']['compareTo']>

export const comparisons: { value: string; label: string }[] = [
  { value: 'none', label: 'No comparison' },
  { value: 'previous_period', label: 'Previous period' },
  { value: 'previous_year', label: 'Previous year' },
  { value: 'dates', label: 'Custom…' },
]

const dayMs = 86_400_000

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00Z`).toISOString().startsWith(text)

const plusDays = (day: string, days: number): string =>
  new Date(Date.parse(`${day}T00:00Z`) + days * dayMs).toISOString().slice(0, 10)

const readPeriod = (code: string): Period | undefined => {
  const [, last] = /^last:(\d{1,4}(?:m|h|d|w|mo))$/.exec(code) ?? []
  if (last !== undefined) return { last }
  const [, kind, unit] = /^(current|previous):(day|week|month|quarter|year)$/.exec(code) ?? []
  return kind === undefined ? undefined : ({ [kind]: unit } as Period)
}

/** Returns the period of whole days, including the last one. Returns undefined if the days are not in order. */
export const rangeOfDays = (from: string, to: string, timezone: string): TimeRange | undefined => {
  if (!isDay(from) || !isDay(to) || to < from) return undefined
  const [since, until] = [instantIn(`${from}T00:00`, timezone), instantIn(`${plusDays(to, 1)}T00:00`, timezone)]
  return since && until ? { since, until } : undefined
}

/** Parses the period in the address. */
export const readRange = (code: string | undefined, timezone: string): TimeRange | undefined => {
  if (code === undefined) return undefined
  const period = readPeriod(code)
  if (period) return { period: { ...period, timezone } }
  const [from = '', to = ''] = code.split('..')
  return rangeOfDays(from, to, timezone)
}

/** Returns the first and last day of a period, for the two date fields. */
export const daysOf = ({ period, ...dates }: TimeRange, timezone: string, now = new Date()) => {
  const { since, until } = period ? boundsOf(period, now) : dates
  const last = until === undefined ? now.toISOString() : new Date(Date.parse(until) - 1).toISOString()
  return {
    from: since === undefined ? '' : localIn(since, timezone).slice(0, 10),
    to: localIn(last, timezone).slice(0, 10),
  }
}

/** Returns the period in the address's format, or undefined if it has neither a unit nor whole days. */
export const codeOfRange = (range: TimeRange, timezone: string): string | undefined => {
  if (range.period) return codeOf(range.period)
  const { from, to } = daysOf(range, timezone)
  const days = rangeOfDays(from, to, timezone)
  return days && days.since === range.since && days.until === range.until ? `${from}..${to}` : undefined
}

const hourMs = 3_600_000

/** Returns the start and end of a period. It never ends in the future. */
export const windowOf = ({ period, ...dates }: TimeRange, now = new Date()) => {
  const { since, until } = period ? boundsOf(period, now) : dates
  const end = now.toISOString()
  return { since, until: until === undefined || until > end ? end : until }
}

/** Returns the intervals that show the course of a period. */
export const intervalOf = (range: TimeRange, now = new Date()): 'hour' | 'day' | 'week' => {
  const { since, until } = windowOf(range, now)
  if (since === undefined) return 'week'
  const hours = (Date.parse(until) - Date.parse(since)) / hourMs
  if (hours <= 72) return 'hour'
  return hours <= 200 * 24 ? 'day' : 'week'
}

const daysInWords = (from: string, to: string): string => {
  const [first, last] = [new Date(`${from}T00:00`), new Date(`${to}T00:00`)]
  const year = `, ${last.getFullYear()}`
  if (from === to) return formatMonthDay(first) + year
  const isOneYear = first.getFullYear() === last.getFullYear()
  return `${formatMonthDay(first)}${isOneYear ? '' : `, ${first.getFullYear()}`} – ${formatMonthDay(last)}${year}`
}

/** Returns a period in words, such as `Last 7 days`, or `Nov 1 – Nov 14, 2026`. */
export const rangeInWords = (range: TimeRange, timezone: string): string => {
  const { period, since, until } = range
  if (period) return labelOf(period)
  if (since === undefined && until === undefined) return 'Any time'
  if (codeOfRange(range, timezone) !== undefined) {
    const { from, to } = daysOf(range, timezone)
    return daysInWords(from, to)
  }
  const say = (at: string) => formatDayTime(new Date(at))
  if (until === undefined) return `Since ${say(since ?? '')}`
  return since === undefined ? `Before ${say(until)}` : `${say(since)} – ${say(until)}`
}

type Days = { from: string; to: string }

const splitDays = (code: string): Days => {
  const [from = '', to = ''] = code.split('..')
  return { from, to }
}

export const isDates = (comparison: Comparison): boolean => comparison.includes('..')

/** Returns the days to compare with: those of the comparison, or equally many days before the period. */
export const comparedDays = (comparison: Comparison, { from, to }: Days): Days => {
  if (isDates(comparison)) return splitDays(comparison)
  if (!isDay(from) || !isDay(to)) return { from: '', to: '' }
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  return { from: plusDays(from, -days), to: plusDays(from, -1) }
}

/** Returns the comparison in the API's format, or undefined if there is none. */
export const compareToOf = (comparison: Comparison, timezone: string): CompareTo | undefined => {
  if (comparison === 'previous_period' || comparison === 'previous_year') return comparison
  const { from, to } = splitDays(comparison)
  const { since, until } = rangeOfDays(from, to, timezone) ?? {}
  return since && until ? { since, until } : undefined
}

const comparisonWords: Record<string, string> = {
  none: '',
  previous_period: ' vs. previous period',
  previous_year: ' vs. previous year',
}

export const comparisonInWords = (comparison: Comparison): string => {
  const { from, to } = splitDays(comparison)
  const known = comparisonWords[comparison]
  return known ?? (rangeOfDays(from, to, 'UTC') ? ` vs. ${daysInWords(from, to)}` : '')
}

/** Returns a filter without its period. */
export const withoutTime = ({ period: _period, since: _since, until: _until, ...others }: Filter): Filter => others
