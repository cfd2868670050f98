// Session settings are statements. PgBouncer rejects them in the startup packet.

import pg from 'pg'

/** Names and values of settings that any role can change. */
export type SessionSettings = Record<string, string | number>

/** SET takes no time, so a server without a response for longer is gone. */
const answerTimeoutMs = 5_000

/** Timeouts for work that can take hours. A role or a database can have others. */
export const unhurried: SessionSettings = {
  statement_timeout: 0,
  lock_timeout: 0,
  idle_in_transaction_session_timeout: 0,
}

/**
 * How statements are planned, as in the embedded database. PostgreSQL's defaults suit spinning disks and a few long
 * statements, and scan whole tables for some lists.
 */
export const planning: SessionSettings = { random_page_cost: 1.1, jit: 'off' }

/** Every session uses UTC, whatever the time zone of the server. */
const timeZone: SessionSettings = { TimeZone: 'UTC' }

/**
 * Sets these settings for every session of the database. On a cluster, Citus repeats this on each node: the sessions
 * that the coordinator opens there do not have its own settings.
 */
export const setDatabase = async (client: pg.Client): Promise<void> => {
  for (const [name, value] of Object.entries({ ...timeZone, ...planning })) {
    await client.query(
      `ALTER DATABASE ${pg.escapeIdentifier(client.database ?? '')} SET ${name} = ${pg.escapeLiteral(String(value))}`,
    )
  }
}

/** Sets up a new connection in one round trip. If this rejects, close the client. */
export const setSession = async (client: pg.ClientBase, settings: SessionSettings): Promise<void> => {
  const text = Object.entries({ ...timeZone, ...settings })
    .map(([name, value]) => `SET ${name} = ${pg.escapeLiteral(String(value))}`)
    .join('; ')
  // pg supports the timeout per query, too; its types only have it for the client.
  const query: pg.QueryConfig & { query_timeout: number } = { text, query_timeout: answerTimeoutMs }
  await client.query(query)
}
