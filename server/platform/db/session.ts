// Settings of a session are statements. PgBouncer refuses them in the packet that starts a connection.

import pg from 'pg'

/** Names and values of settings that any role may change. */
export type SessionSettings = Record<string, string | number>

/** SET takes no time, so a server that stays silent for longer is gone. */
const answerTimeoutMs = 5_000

/** Limits of time for work that may take hours. A role or a database may have others. */
export const unhurried: SessionSettings = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
}

/**
 * How statements are planned, as on the embedded database. The defaults of PostgreSQL suit spinning disks and a few long
 * statements, and read whole tables for some lists.
 */
export const planning: SessionSettings = { random_page_cost: 1.1, jit: 'off' }

/** Every session uses UTC, whatever the time zone of the server. */
const timeZone: SessionSettings = { TimeZone: 'UTC' }

/**
 * Makes the database give these settings to every session. On a cluster, Citus repeats this on each node: the sessions that
 * the coordinator opens there know nothing of its own.
 */
export const setDatabase = async (client: pg.Client): Promise<void> => {
  for (const [name, value] of Object.entries({ ...timeZone, ...planning })) {
    await client.query(
      `ALTER DATABASE ${pg.escapeIdentifier(client.database ?? '')} SET ${name} = ${pg.escapeLiteral(String(value))}`,
    )
  }
}

/**
 * Sets up a new connection, in one round trip. If this
 * rejects, end the client.
 */
export const setSession = async (client: pg.ClientBase, settings: SessionSettings): Promise<void> => {
  const text = Object.entries({ ...timeZone, ...settings })
    .map(([name, value]) => `SET ${name} = ${pg.escapeLiteral(String(value))}`)
    .join('; ')
  // pg takes the limit per query, too; its types list it for the client only.
  const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: answerTimeoutMs }
  await client.query(query)
}
