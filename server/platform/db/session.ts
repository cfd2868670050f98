// Sets session settings with statements, because PgBouncer rejects them in the startup packet.

import pg from 'pg'

/** Names and values of settings that any role can change. */
export type SessionSettings = Record<string, string | number>

/** SET is immediate, so if a server takes longer than this, the connection has been lost. */
const answerTimeoutMs = 5_000

/** The timeouts for work that can take hours. They override the timeouts of the role or database. */
export const unhurried: SessionSettings = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
}

/**
 * The planner settings, which are the same as in the embedded database. PostgreSQL's defaults suit spinning disks and a
 * few long statements, and would scan whole tables for some lists.
 */
export const planning: SessionSettings = { random_page_cost: 1.1, jit: 'off' }

/** All sessions use UTC, regardless of the server's time zone. */
const timeZone: SessionSettings = { TimeZone: 'UTC' }

/**
 * Applies these settings to all sessions of the database. On a cluster, Citus repeats this on each node, because the
 * sessions that the coordinator opens there don't have its own settings.
 */
export const setDatabase = async (client: pg.Client): Promise<void> => {
  for (const [name, value] of Object.entries({ ...timeZone, ...planning })) {
    await client.query(
      `ALTER DATABASE ${pg.escapeIdentifier(client.database ?? '')} SET ${name} = ${pg.escapeLiteral(String(value))}`,
    )
  }
}

/** Sets up a new connection in one round trip. If this rejects, the caller closes the client. */
export const setSession = async (client: pg.ClientBase, settings: SessionSettings): Promise<void> => {
  const text = Object.entries({ ...timeZone, ...settings })
    .map(([name, value]) => `SET ${name} = ${pg.escapeLiteral(String(value))}`)
    .join('; ')
  // pg also supports this timeout for single queries, but its types only declare it for clients.
  const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: answerTimeoutMs }
  await client.query(query)
}
