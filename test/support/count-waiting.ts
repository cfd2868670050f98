import { sql } from 'kysely'
import type { Db } from '../../server/platform/db/database.ts'
import { coordinatorUrl } from '../citus.ts'

// A session that waits on a node has the global ID of its coordinator session.
const waiting = coordinatorUrl
  ? sql`(SELECT DISTINCT global_pid, query FROM citus_stat_activity
      WHERE datname = current_database() AND NOT is_worker_query AND global_pid IN (
        SELECT global_pid FROM citus_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'))`
  : sql`(SELECT query FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`

/** Counts the statements that begin with this text and wait for another transaction of the same database. */
export const countWaiting = async (db: Db, statement = ''): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*)::int AS count FROM ${waiting} AS w WHERE starts_with(lower(ltrim(query, E' \\n')), ${statement})`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}
