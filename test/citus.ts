// Runs the tests on a Citus cluster. EARSHOT_TEST_CITUS is one URL with several hosts, the coordinator first, such as
// postgres://postgres@127.0.0.1:9700,127.0.0.1:9701,127.0.0.1:9702/postgres.

import pg from 'pg'
import { describe, it } from 'vitest'
import { placingSettings, withClient } from '../server/platform/db/citus/connection.ts'
import { distribute, planPlacing } from '../server/platform/db/citus/distribute.ts'
import { addNodes } from '../server/platform/db/citus/nodes.ts'
import { listReferences, placingStatement } from '../server/platform/db/citus/placed-tables.ts'
import { placement } from '../server/platform/db/citus/placement.ts'

type Node = { host: string; port: number; url: string }

const readNodes = (cluster: string): Node[] => {
  const [, credentials = '', hosts = '', rest = ''] =
    /^postgres(?:ql)?:\/\/([^@/]*@)?([^/]+)(\/.*)$/.exec(cluster) ?? []
  const nodes = hosts.split(',').map((address) => {
    const { hostname, port } = new URL(`tcp://${address}`)
    return { host: hostname, port: Number(port || 5432), url: `postgres://${credentials}${address}${rest}` }
  })
  if (nodes.length < 2) throw new Error('EARSHOT_TEST_CITUS needs the URL of a coordinator and at least one worker.')
  return nodes
}

const { EARSHOT_TEST_CITUS } = process.env
const nodes = EARSHOT_TEST_CITUS ? readNodes(EARSHOT_TEST_CITUS) : []

export const workers = nodes.slice(1)

/** The URL of the coordinator's maintenance database, if the tests run on a cluster. */
export const coordinatorUrl = nodes[0]?.url

/** Skips tests that do not apply to a cluster, such as those that read the plans of plain PostgreSQL. */
export const onPlainPostgres = (_reason: string) =>
  coordinatorUrl ? { it: it.skip, describe: describe.skip } : { it, describe }

let maintenance: pg.Pool[] | undefined

const connectToEach = (): pg.Pool[] =>
  nodes.map(({ url }) => {
    const pool = new pg.Pool({ connectionString: url, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
    pool.on('error', () => {})
    return pool
  })

/** Runs a statement in the maintenance database of every node. */
export const onEachNode = async (statement: string): Promise<void> => {
  maintenance ??= connectToEach()
  await Promise.all(maintenance.map((pool) => pool.query(statement)))
}

const inDatabase = (url: string, database: string): pg.ClientConfig => {
  const target = new URL(url)
  target.pathname = `/${database}`
  return { connectionString: target.href }
}

/** The number of shards per table: enough to distinguish one shard from all of them, but fast to clone. */
const shardCount = 4

/**
 * Distributes a migrated database of the coordinator. A clone keeps object IDs, shards, and metadata. Cloning the
 * database under the same name on every node therefore gives another distributed database.
 */
export const spreadTemplate = async (name: string): Promise<void> => {
  await distribute(inDatabase(coordinatorUrl ?? '', name), {
    dryRun: false,
    nodes: workers,
    shards: shardCount,
    onStatement: () => {},
  })
  // Databases with connections cannot be cloned, and Citus's maintenance daemon keeps some open.
  await onEachNode(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
  await onEachNode(`SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${name}'`)
}

/** Distributes existing tables, such as those of an earlier version. */
export const spreadTables = (connection: pg.ClientConfig): Promise<void> =>
  withClient(connection, 'earshot db tests', async (client) => {
    await addNodes(client, workers)
    for (const setting of placingSettings) await client.query(setting)
    const { rows } = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace",
    )
    const isThere = new Set(rows.map(({ name }) => name))
    let anchor: string | undefined
    for (const { table } of planPlacing([], await listReferences(client))) {
      const statement = isThere.has(table) && placingStatement(table, anchor, shardCount)
      if (!statement) continue
      await client.query(statement)
      if (placement[table] === 'distributed') anchor ??= table
    }
  })
