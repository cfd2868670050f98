import { sql } from 'kysely'
import type { Db } from '../../platform/db/database.ts'

/** How many statements that begin like this wait for another transaction of the same database. */
export const countWaiting = async (db: Db, statement: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'
      AND starts_with(lower(ltrim(query, E' \\n')), ${statement})`.execute(db)
  return rows[0]?.count ?? 0
}
