import { instantIn, localIn, midnightIn } from '../lib/zones.ts'
import type { Filter } from './filter.ts'

export type Period = NonNullable<Filter['period']>

/** Returns an option's value: the period's kind, and its length or unit. */
export const codeOf = ({ last, current, previous }: Period): string => {
  if (last !== undefined) return `last:${last}`
  return current !== undefined ? `current:${current}` : `previous:${previous}`
}

/** The most common periods. */
export const common: [period: Period, label: string][] = [
  [{ last: '1h' }, 'Last hour'],
  [{ last: '24h' }, 'Last 24 hours'],
  [{ last: '7d' }, 'Last 7 days'],
  [{ last: '30d' }, 'Last 30 days'],
  [{ last: '90d' }, 'Last 90 days'],
  [{ current: 'day' }, 'Today'],
  [{ current: 'week' }, 'This week'],
  [{ current: 'month' }, 'This month'],
  [{ current: 'quarter' }, 'This quarter'],
  [{ previous: 'day' }, 'Yesterday'],
  [{ previous: 'week' }, 'Last week'],
  [{ previous: 'month' }, 'Last month'],
  [{ previous: 'quarter' }, 'Last quarter'],
]

const anyTime = ''
const dates = 'dates'

const units: Record<string, string> = { m: 'minute', h: 'hour', d: 'day', w: 'week', mo: 'month' }

/** Returns the label of a period. */
export const labelOf = (period: Period): string => {
  const known = common.find(([one]) => codeOf(one) === codeOf(period))
  if (known) return known[1]
  const { last, current, previous } = period
  if (last === undefined) return current === undefined ? `Last ${previous}` : `This ${current}`
  const count = Number.parseInt(last, 10)
  const unit = units[last.replace(/^\d+/, '')]
  return count === 1 ? `Last ${unit}` : `Last ${count} ${unit}s`
}

/** Returns the options for a filter's time. They include the filter's period, even if it was selected elsewhere. */
export const timeOptions = ({ period }: Filter): { value: string; label: string }[] => {
  const options = common.map(([one, label]) => ({ value: codeOf(one), label }))
  const isOther = period && !options.some(({ value }) => value === codeOf(period))
  return [
    { value: anyTime, label: 'Any time' },
    ...options,
    ...(isOther ? [{ value: codeOf(period), label: labelOf(period) }] : []),
    { value: dates, label: 'Dates…' },
  ]
}

export const chosenTime = ({ period, since, until }: Filter): string => {
  if (period) return codeOf(period)
  return since !== undefined || until !== undefined ? dates : anyTime
}

/** Returns the filter with a different time. Days, weeks, and months start in the reader's time zone. */
export const withTime = (filter: Filter, value: string, timezone: string): Filter => {
  const { period, since: _since, until: _until, ...others } = filter
  if (period && codeOf(period) === value) return filter
  const found = common.find(([one]) => codeOf(one) === value)?.[0]
  return found ? { ...others, period: { ...found, timezone } } : (others as Filter)
}

export const isDates = (value: string): boolean => value === dates

const monthsOf = { m: 0, h: 0, d: 0, w: 0, mo: 1 } as const
const minutesOf = { m: 1, h: 60, d: 1_440, w: 10_080, mo: 0 } as const

/** Moves a local time by whole months. If the month doesn't have that day, uses the month's last day. */
const plusMonths = (local: string, months: number): string => {
  const [year = 0, month = 1, day = 1] = local.slice(0, 10).split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 + months, 1))
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate()
  return `${first.toISOString().slice(0, 8)}${String(Math.min(day, days)).padStart(2, '0')}${local.slice(10)}`
}

const plusMinutes = (local: string, minutes: number): string =>
  new Date(Date.parse(`${local}Z`) + minutes * 60_000).toISOString().slice(0, 16)

const monthsInUnit = { day: 0, week: 0, month: 1, quarter: 3, year: 12 } as const
const daysInUnit = { day: 1, week: 7, month: 0, quarter: 0, year: 0 } as const

/** Returns the local start of the day, week, month, quarter, or year. */
const startOf = (unit: keyof typeof monthsInUnit, timezone: string, now: Date): string => {
  const today = midnightIn(timezone, 0, now)
  const months = monthsInUnit[unit]
  if (months > 0) {
    const month = Number(today.slice(5, 7)) - 1
    return plusMonths(`${today.slice(0, 8)}01T00:00`, -(month % months))
  }
  const weekday = (new Date(`${today}Z`).getUTCDay() + 6) % 7
  return unit === 'week' ? midnightIn(timezone, -weekday, now) : today
}

/** Returns the current start and end of a period, for features that require two dates. */
export const boundsOf = (period: Period, now = new Date()): { since?: string; until?: string } => {
  const { last, current, previous, timezone = 'UTC' } = period
  const instants = (since: string, until: string) => {
    const [from, to] = [instantIn(since, timezone), instantIn(until, timezone)]
    return { ...(from && { since: from }), ...(to && { until: to }) }
  }
  if (last !== undefined) {
    const unit = last.replace(/^\d+/, '') as keyof typeof minutesOf
    const count = Number.parseInt(last, 10)
    if (unit === 'm' || unit === 'h') {
      return {
        since: new Date(now.getTime() - count * minutesOf[unit] * 60_000).toISOString(),
        until: now.toISOString(),
      }
    }
    const local = localIn(now.toISOString(), timezone)
    const start = plusMonths(plusMinutes(local, -count * minutesOf[unit]), -count * monthsOf[unit])
    return { ...instants(start, local), until: now.toISOString() }
  }
  const unit = current ?? previous ?? 'day'
  const start = startOf(unit, timezone, now)
  const step = (local: string, sign: number) =>
    plusMonths(plusMinutes(local, sign * daysInUnit[unit] * 1_440), sign * monthsInUnit[unit])
  return current === undefined ? instants(step(start, -1), start) : instants(start, step(start, 1))
}
