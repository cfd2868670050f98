// Determines the period of a query, and the earlier period that it is compared with.

import type { Selection } from '../filters/queries.ts'
import type { Db } from '../platform/db/database.ts'
import { readLength, resolvePeriod, type ZonedPeriod } from '../platform/db/periods.ts'
import { dayMs } from '../platform/durations.ts'
import { openZone } from '../platform/time-zone.ts'

/** The period is open at an end that the filter does not limit. */
export type Within = { since: Date | undefined; until: Date | undefined }

export type ClosedPeriod = { since: Date; until: Date }

/**
 * Returns the period of a filter. A current week or month ends now, so that it is compared with the same portion of the
 * one before.
 */
export const readPeriod = async (
  db: Db,
  { since, until, period }: Pick<Selection, 'since' | 'until' | 'period'>,
  now: Date,
): Promise<Within> => {
  if (period) {
    const resolved = await resolvePeriod(db, period, now)
    return { since: resolved.since, until: resolved.until > now ? now : resolved.until }
  }
  if (since !== undefined && until === undefined) return { since: new Date(since), until: now }
  return {
    since: since === undefined ? undefined : new Date(since),
    until: until === undefined ? undefined : new Date(until),
  }
}

/** Months and local days vary in length, so periods in these units are shifted by one of the same unit. */
type Shift = { months: number } | { days: number } | { ms: number }

const monthsOf = { day: 0, week: 0, month: 1, quarter: 3, year: 12 }
const daysOf = { day: 1, week: 7, month: 0, quarter: 0, year: 0 }

const shiftOf = ({ since, until }: ClosedPeriod, period: ZonedPeriod | undefined, timezone: string): Shift => {
  if (period && 'last' in period) {
    const { count, unit } = readLength(period.last) ?? { count: 0, unit: 'm' as const }
    if (unit === 'mo') return { months: count }
    if (unit === 'd') return { days: count }
    if (unit === 'w') return { days: count * 7 }
    return { ms: until.getTime() - since.getTime() }
  }
  if (period) {
    const unit = 'current' in period ? period.current : period.previous
    return monthsOf[unit] > 0 ? { months: monthsOf[unit] } : { days: daysOf[unit] }
  }
  const { wallTime } = openZone(timezone)
  const days = (wallTime(until).getTime() - wallTime(since).getTime()) / dayMs
  return Number.isInteger(days) ? { days } : { ms: until.getTime() - since.getTime() }
}

/** Returns the same time some months earlier. As in PostgreSQL, the 31st becomes the last day of a shorter month. */
const monthsBefore = (wall: Date, months: number): Date => {
  const moved = new Date(wall)
  moved.setUTCDate(1)
  moved.setUTCMonth(moved.getUTCMonth() - months)
  const last = new Date(Date.UTC(moved.getUTCFullYear(), moved.getUTCMonth() + 1, 0)).getUTCDate()
  moved.setUTCDate(Math.min(wall.getUTCDate(), last))
  return moved
}

const move = (instant: Date, shift: Shift, timezone: string): Date => {
  if ('ms' in shift) return new Date(instant.getTime() - shift.ms)
  const { wallTime, instantAt } = openZone(timezone)
  const wall = wallTime(instant)
  return instantAt('days' in shift ? new Date(wall.getTime() - shift.days * dayMs) : monthsBefore(wall, shift.months))
}

export const earlierPeriod = (
  compareTo: 'previous_period' | 'previous_year',
  within: ClosedPeriod,
  { period, timezone }: { period: ZonedPeriod | undefined; timezone: string },
): ClosedPeriod => {
  const shift = compareTo === 'previous_year' ? { months: 12 } : shiftOf(within, period, timezone)
  return { since: move(within.since, shift, timezone), until: move(within.until, shift, timezone) }
}
