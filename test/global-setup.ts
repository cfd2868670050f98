// Starts one PostgreSQL for the whole run, with a migrated database that each test file clones.

import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { openEmbedded } from '../server/platform/db/embedded.ts'
import { migrate } from '../server/platform/db/migrate.ts'
import { isAlive, isPostmasterOf, signal, waitForEnd } from '../server/platform/db/process-control.ts'
import { coordinatorUrl, onEachNode, spreadTemplate } from './citus.ts'
import { noteSegments, sharedMemory } from './shared-memory.ts'

/** The address of a server, and the database on it that `testDatabase()` clones. */
export type TestDatabaseServer = {
  connection: { connectionString: string } | { host: string; port: number; user: string; ssl: false }
  template: string
  /** The names of volatile functions. */
  changingFunctions: string[]
}

declare module 'vitest' {
  interface ProvidedContext {
    testServer: TestDatabaseServer
    /** The number of processes that answer requests instead of the test's own process (test/scale). */
    processes?: number
  }
}

const log = pino({ level: 'error' })

/** A crash may lose these databases, because they only contain test data. */
const fastSettings = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '300',
  shared_buffers: '128MB',
  autovacuum: 'off',
}

const folderPrefix = 'earshot-test-'

/** Removes the leftovers of killed runs: their servers, which are still running, and their folders. */
const sweepKilledRuns = async () => {
  for (const name of await readdir(tmpdir())) {
    const runner = Number(new RegExp(`^${folderPrefix}(\\d+)-`).exec(name)?.[1])
    if (!runner || (await isAlive(runner))) continue
    const folder = join(tmpdir(), name)
    const server = Number.parseInt(await readFile(join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => ''), 10)
    if (server > 0 && (await isPostmasterOf(server, join(folder, 'postgres')))) {
      signal(server, 'SIGQUIT')
      await waitForEnd(server, 10_000)
    }
    await rm(folder, { recursive: true, force: true })
  }
}

const openServer = async (): Promise<{ connection: TestDatabaseServer['connection']; close: () => Promise<void> }> => {
  const connectionString = coordinatorUrl ?? process.env.DATABASE_URL
  if (connectionString) return { connection: { connectionString }, close: async () => {} }
  await sweepKilledRuns()
  const dataDir = await mkdtemp(join(tmpdir(), `${folderPrefix}${process.pid}-`))
  // If this process runs as root, the database runs as another user, who must be able to enter the parent folders.
  await chmod(dataDir, 0o711)
  const remove = () => rm(dataDir, { recursive: true, force: true })
  try {
    const embedded = await openEmbedded({ dataDir, log, applicationName: 'tests', settings: fastSettings })
    const { host = '', port = 5432, user = '' } = embedded.connection
    const close = async () => {
      await embedded.close()
      await remove()
    }
    return { connection: { host, port, user, ssl: false }, close }
  } catch (error) {
    await remove()
    throw error
  }
}

const withMaintenance = async <T>(connection: pg.ClientConfig, run: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({ ...connection, ...('host' in connection && { database: 'postgres' }) })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

const listChangingFunctions = async (client: pg.Client): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    "SELECT proname AS name FROM pg_proc GROUP BY proname HAVING bool_and(provolatile <> 'i')",
  )
  return rows.map(({ name }) => name)
}

const template = `earshot_template_${process.pid}`

/** Returns a connection to a database. It is set in the URL, because pg prefers that to the separate option. */
export const inDatabase = (connection: TestDatabaseServer['connection'], database: string): pg.PoolConfig => {
  if (!('connectionString' in connection)) return { ...connection, database }
  const url = new URL(connection.connectionString)
  url.pathname = `/${database}`
  return { connectionString: url.href }
}

export default async (project: TestProject) => {
  const sweepSegments = await noteSegments()
  const { connection, close } = await openServer()
  const drop = async () => {
    const statement = `DROP DATABASE IF EXISTS ${template} (FORCE)`
    if (coordinatorUrl) await onEachNode(statement)
    else await withMaintenance(connection, (client) => client.query(statement))
  }
  let changingFunctions: string[]
  try {
    changingFunctions = await withMaintenance(connection, listChangingFunctions)
    await withMaintenance(connection, (client) => client.query(`CREATE DATABASE ${template} TEMPLATE template0`))
    const target = inDatabase(connection, template)
    await migrate(target, { log })
    if (coordinatorUrl) await spreadTemplate(template)
  } catch (error) {
    if (coordinatorUrl) await drop()
    await close()
    throw error
  }
  project.provide('testServer', { connection, template, changingFunctions })
  return async () => {
    try {
      await drop()
    } finally {
      await close()
      await sweepSegments()
      // Programs that tests run, such as npm, leave this cache behind. It only matters in memory.
      if (tmpdir() === sharedMemory) await rm(join(tmpdir(), 'node-compile-cache'), { recursive: true, force: true })
    }
  }
}
