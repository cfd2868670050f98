// Opens connections for all commands that manage a Citus cluster.

import pg from 'pg'
import type { Queryable } from '../database.ts'
import { setSession, unhurried } from '../session.ts'

/** The message is shown to the operator unchanged. */
export class ClusterError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClusterError'
  }
}

/**
 * If the first setting were on, Citus would manage every table that refers to a reference table, and could not
 * distribute any of them afterwards. The second setting makes statements about both kinds of tables use the same
 * connection to each node.
 */
export const placingSettings = [
  'SET citus.enable_local_reference_table_foreign_keys = off',
  "SET citus.multi_shard_modify_mode = 'sequential'",
]

export const withClient = async <T>(
  connection: pg.ClientConfig,
  applicationName: string,
  use: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const client = new pg.Client({
    ...connection,
    application_name: applicationName,
    connectionTimeoutMillis: 10_000,
  })
  // If the connection is lost, the current query fails. Without a listener, the error would also end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    // The migrations and some Citus views need these schemas.
    await setSession(client, { ...unhurried, search_path: 'public' })
    return await use(client)
  } finally {
    // Closing the connection also releases a lock.
    await client.end().catch(() => {})
  }
}

export const hasCitus = async (client: Queryable): Promise<boolean> =>
  (await client.query("SELECT FROM pg_extension WHERE extname = 'citus'")).rowCount === 1

export const requireCitus = async (client: pg.ClientBase): Promise<void> => {
  if (await hasCitus(client)) return
  throw new ClusterError(
    'Citus is not installed in the database. Install it on every node, add citus to shared_preload_libraries, restart, and run ' +
      'CREATE EXTENSION citus in this database. Nothing was changed.',
  )
}

/** Waits until no other command is moving tables or shards. The next command sees the result. */
export const lockPlacement = async (client: pg.ClientBase): Promise<void> => {
  await client.query("SELECT pg_advisory_lock(hashtextextended('earshot.db.distribute', 0))")
}
