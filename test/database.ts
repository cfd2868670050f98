import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { coordinatorUrl, onEachNode } from './citus.ts'
import { inDatabase, type TestDatabaseServer } from './global-setup.ts'
import { openPassage } from './passage.ts'

export type TestDatabase = { connection: pg.PoolConfig; drop: () => Promise<void> }

let maintenance: pg.Pool | undefined

/** Opens one connection for all files of a process. It does not keep the process alive. */
const connectForMaintenance = ({ connection }: TestDatabaseServer): pg.Pool => {
  const target = 'connectionString' in connection ? connection : inDatabase(connection, 'postgres')
  const pool = new pg.Pool({ ...target, max: 1, idleTimeoutMillis: 0, allowExitOnIdle: true })
  // The server may end before this process does.
  pool.on('error', () => {})
  return pool
}

type Contents = {
  /** Whether the database has no tables. */
  empty?: boolean
  /** A copy of this database, to which nothing is connected. */
  copyOf?: string | undefined
}

/** Creates a separate database, which is migrated by default. */
export const testDatabase = async ({ empty = false, copyOf }: Contents = {}): Promise<TestDatabase> => {
  const server = inject('testServer')
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`
  const run = async (statement: string, everywhere: boolean) => {
    if (coordinatorUrl && everywhere) return onEachNode(statement)
    maintenance ??= connectForMaintenance(server)
    await maintenance.query(statement)
  }
  const template = copyOf ?? (empty ? 'template0' : server.template)
  // An empty database only exists on the coordinator until its test distributes it.
  await run(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`, !empty)
  const drop = async () => {
    // Citus's background workers take longer to end than DROP DATABASE waits.
    const end = `SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE datname = '${name}'`
    if (coordinatorUrl) await run(end, true)
    await run(`DROP DATABASE IF EXISTS ${name} (FORCE)`, true)
  }
  return { connection: inDatabase(server.connection, name), drop }
}

/** Returns the URL of a database, as in EARSHOT_DATABASE_URL. Tests connect to a folder with a socket. */
export const databaseUrl = ({ connectionString, host, port = 5432, user, database }: pg.PoolConfig): string =>
  connectionString ?? `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`

/** Puts a database behind an unreliable network. */
export const behindPassage = async (connection: pg.PoolConfig) => {
  const { host, port, user, password, database, ssl } = new pg.Client(connection)
  const passage = await openPassage(() =>
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  )
  return { passage, connection: { host: '127.0.0.1', port: passage.port, user, password, database, ssl } }
}
