import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'

export const periodUnits = ['day', 'week', 'month', 'quarter', 'year'] as const
export type PeriodUnit = (typeof periodUnits)[number]

/** A period that moves as time passes. Weeks start on Monday. */
export type Period = { last: string } | { current: PeriodUnit } | { previous: PeriodUnit }

export type ZonedPeriod = Period & { timezone: string }

const lengths = { m: 'minutes', h: 'hours', d: 'days', w: 'weeks', mo: 'months' } as const

/** Parses a duration such as `7d`. Returns undefined if it is invalid. */
export const readLength = (text: string): { count: number; unit: keyof typeof lengths } | undefined => {
  const [, count = '', unit] = /^([1-9]\d{0,3})(mo|[mhdw])$/.exec(text) ?? []
  return unit === undefined ? undefined : { count: Number(count), unit: unit as keyof typeof lengths }
}

type Bounds = { since: RawBuilder<Date>; until: RawBuilder<Date> | undefined }

const intervalOf = (unit: PeriodUnit) => sql`${unit === 'quarter' ? '3 months' : `1 ${unit}`}::interval`

/**
 * Returns the start and end of a period, according to the database's clock. A period that extends to the present has no
 * end.
 */
export const boundsOfPeriod = (period: ZonedPeriod, now: RawBuilder<Date> = sql<Date>`now()`): Bounds => {
  const zone = sql`${period.timezone}::text`
  if ('last' in period) {
    const { count, unit } = readLength(period.last) ?? { count: 0, unit: 'm' }
    const length = sql`${`${count} ${lengths[unit]}`}::interval`
    return { since: sql<Date>`date_subtract(${now}, ${length}, ${zone})`, until: undefined }
  }
  const unit = 'current' in period ? period.current : period.previous
  const start = sql<Date>`date_trunc(${unit}::text, ${now}, ${zone})`
  if ('current' in period) return { since: start, until: sql<Date>`date_add(${start}, ${intervalOf(unit)}, ${zone})` }
  return { since: sql<Date>`date_subtract(${start}, ${intervalOf(unit)}, ${zone})`, until: start }
}

/** Returns the start and end of a period, now or at another time. */
export const resolvePeriod = async (db: Db, period: ZonedPeriod, at?: Date): Promise<{ since: Date; until: Date }> => {
  const now = at ? sql<Date>`${at}::timestamptz` : sql<Date>`now()`
  const { since, until = now } = boundsOfPeriod(period, now)
  const { rows } = await sql<{ since: Date; until: Date }>`
    SELECT ${since}::timestamptz(3) AS since, ${until}::timestamptz(3) AS until`.execute(db)
  const [bounds] = rows
  if (!bounds) throw new Error('A period must have bounds')
  return bounds
}
