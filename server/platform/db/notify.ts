import { sql } from 'kysely'
import type { Db } from './database.ts'

/** PostgreSQL rejects longer payloads. */
export const longestNotice = 7_999

/** The statement by which a connection to a node recognizes a notification. */
export const notifyText = 'SELECT pg_notify($1, $2)'

/**
 * Sends a notification to all processes when the transaction commits. All notifications must be sent this way, because
 * a cluster would plan a statement that also stores rows each time, in several steps.
 */
export const notify = (trx: Db, channel: string, payload: string) =>
  sql`SELECT pg_notify(${channel}, ${payload})`.execute(trx)
