// Shared by all commands about a Citus cluster.

import pg from 'pg'
import type { Queryable } from '../database.ts'
import { setSession, unhurried } from '../session.ts'

/** Shown to the operator as it is. */
export class ClusterError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClusterError'
  }
}

/**
 * With the first setting on, Citus manages every table that refers to a reference table, and then cannot distribute any
 * of them. The second keeps statements about both kinds of tables on one connection per node.
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
  // A lost connection fails the current query; without a listener, it would also end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    // The schemas of the migrations, and of some Citus views.
    await setSession(client, { ...unhurried, search_path: 'public' })
    return await use(client)
  } finally {
    // Also releases a lock.
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

/** One command at a time changes where tables and shards are: the next one waits, and sees the result. */
export const lockPlacement = async (client: pg.ClientBase): Promise<void> => {
  await client.query("SELECT pg_advisory_lock(hashtextextended('earshot.db.distribute', 0))")
}
