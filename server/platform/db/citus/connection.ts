// What every command about a Citus cluster begins with.

import pg from 'pg'
import { setSession, unhurried } from '../session.ts'

/** Told to the operator as it stands. */
export class ClusterError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'ClusterError'
  }
}

/**
 * With the first setting on, Citus takes every table that refers to a reference table under its own management, and then
 * refuses to distribute any of them. The second keeps statements about tables of both kinds on one connection to a node.
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
  // A lost connection fails the query under way; without a listener it would end the process as well.
  client.on('error', () => {})
  try {
    await client.connect()
    // Where the migrations put the tables, and Citus some of its views.
    await setSession(client, { ...unhurried, search_path: 'public' })
    return await use(client)
  } finally {
    // Also gives a lock back.
    await client.end().catch(() => {})
  }
}

export const hasCitus = async (client: pg.ClientBase): Promise<boolean> =>
  (await client.query("SELECT FROM pg_extension WHERE extname = 'citus'")).rowCount === 1

export const requireCitus = async (client: pg.ClientBase): Promise<void> => {
  if (await hasCitus(client)) return
  throw new ClusterError(
    'Citus is not installed in the database. Install it on every node, add citus to shared_preload_libraries, restart, and run ' +
      'CREATE EXTENSION citus in this database. Nothing was changed.',
  )
}

/** One command at a time changes where tables and shards lie: the next one waits, and finds what this one left. */
export const lockPlacement = async (client: pg.ClientBase): Promise<void> => {
  await client.query("SELECT pg_advisory_lock(hashtextextended('earshot.db.distribute', 0))")
}
