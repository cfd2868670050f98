// Calculates hours, days, weeks, and months in a time zone with PostgreSQL's rules.

import { sql } from 'kysely'
import { invalid } from '../errors.ts'
import type { Db } from './database.ts'

export type Calendar = { interval: 'hour' | 'day' | 'week' | 'month'; timezone: string }

export type CalendarWindow = { since: Date | undefined; until: Date }

/** Converts the error for an unknown time zone, because PostgreSQL has its own list of them. */
const explainTimeZone = (error: unknown): never => {
  if ((error as { code?: unknown }).code === '22023')
    throw invalid('timezone', 'is not a time zone that the database knows')
  throw error
}

/**
 * Returns the times at which the intervals of a period start, followed by `until`. The first time is `since` itself.
 * Without `since`, the period has thirty days.
 */
export const listPeriodBounds = async (
  db: Db,
  { interval, timezone }: Calendar,
  { since, until }: CalendarWindow,
  limit: number,
): Promise<Date[]> => {
  const last = sql`${until}::timestamptz - interval '1 ms'`
  const start = since
    ? sql`${since}::timestamptz`
    : sql`date_trunc('day', date_subtract(${last}, interval '29 days', ${timezone}), ${timezone})`
  const step = sql`${`1 ${interval}`}::interval`
  // Each bound is computed from the first bound and then moved to the start of its interval. If clocks change at
  // midnight, one day starts at one o'clock, but the next day does not.
  const { rows } = await sql<{ bound: Date }>`
    WITH window_start AS MATERIALIZED (SELECT ${start} AS start)
    SELECT start AS bound FROM window_start
    UNION
    SELECT bound FROM window_start, generate_series(0, ${limit}::integer + 1) n,
      date_add(date_trunc(${interval}, start, ${timezone}), n * ${step}, ${timezone}) within,
      date_trunc(${interval}, within, ${timezone}) bound
    WHERE bound > start AND bound <= ${last}
    ORDER BY bound`
    .execute(db)
    .catch(explainTimeZone)
  if (rows.length > limit) {
    throw invalid('interval', `results in more than ${limit} intervals; choose a longer interval or a shorter period`)
  }
  return [...rows.map(({ bound }) => bound), until]
}
