import { sql } from 'kysely'
import type { Clock } from '../clock.ts'
import type { Db } from './database.ts'

const refreshEveryMs = 10_000
/** Smaller differences can result from the round trip to the database. */
const toleranceMs = 100
/** A slower response would make the reading too imprecise. */
const longestAnswerMs = 1_000

export const readDatabaseTime = async (db: Db): Promise<Date> => {
  const { rows } = await sql<{ at: Date }>`SELECT clock_timestamp()::timestamptz(3) AS at`.execute(db)
  const [row] = rows
  if (!row) throw new Error('The database did not return its time.')
  return row.at
}

/**
 * Opens the clock that all processes of an installation share: the database's clock. Between two readings, this
 * machine's monotonic timer continues it, so setting the machine's clock has no effect.
 */
export const openDatabaseClock = async (db: Db): Promise<Clock & { close: () => void }> => {
  let offsetMs: number | undefined

  const refresh = async () => {
    const askedAt = performance.now()
    const time = (await readDatabaseTime(db)).getTime()
    const answeredAt = performance.now()
    const measured = time - (askedAt + answeredAt) / 2
    if (offsetMs === undefined) offsetMs = measured
    if (answeredAt - askedAt < longestAnswerMs && Math.abs(measured - offsetMs) > toleranceMs) offsetMs = measured
  }

  await refresh()
  // While the database is unavailable, the last reading is used.
  const refreshing = setInterval(() => void refresh().catch(() => undefined), refreshEveryMs).unref()
  return {
    now: () => new Date(Math.round(performance.now() + (offsetMs ?? performance.timeOrigin))),
    close: () => clearInterval(refreshing),
  }
}
