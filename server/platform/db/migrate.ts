// Migrates a database to the schema of this code by running each file of migrations/ once, in order.

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import pg from 'pg'
import type { Log } from '../log.ts'
import { isDistributed } from './citus/placed-tables.ts'
import { runOnCluster } from './citus/statements.ts'
import type { Db } from './database.ts'
import { setSession, unhurried } from './session.ts'

type MigrateOptions = {
  log: Log
  folder?: string
}

type Migration = { name: string; text: string; checksum: string }

type Applied = { name: string; checksum: string }

class MigrationError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'MigrationError'
  }
}

const minimumVersion = 16
const lock = '4702111234474983746'
const ownFolder = join(import.meta.dirname, '../../../migrations')

const readMigrations = async (folder: string): Promise<Migration[]> => {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  for (const [index, name] of names.entries()) {
    if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(name))
      throw new MigrationError(`${name} must have a name like 0001_what_it_adds.sql.`)
    const next = names[index + 1]
    if (next?.startsWith(name.slice(0, 5))) throw new MigrationError(`${name} and ${next} have the same number.`)
  }
  return Promise.all(
    names.map(async (name) => {
      // A checkout on another system may have other line endings.
      const text = (await readFile(join(folder, name), 'utf8')).replaceAll('\r\n', '\n')
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/** Returns the migrations to apply. Throws if they would create a schema that no version of the code ever had. */
const findPending = (migrations: Migration[], applied: Applied[]): Migration[] => {
  const known = new Map(migrations.map((migration) => [migration.name, migration]))
  for (const { name, checksum } of applied) {
    const migration = known.get(name)
    if (!migration) {
      throw new MigrationError(
        `The database contains ${name}, which this version does not know, because a newer version used it. Run that version.`,
      )
    }
    if (migration.checksum !== checksum) {
      throw new MigrationError(
        `${name} was changed after this database applied it. Restore it and add a new file instead.`,
      )
    }
  }
  const done = new Set(applied.map(({ name }) => name))
  const pending = migrations.filter(({ name }) => !done.has(name))
  const last = applied.at(-1)?.name
  const late = last && pending.find(({ name }) => name < last)
  if (late)
    throw new MigrationError(`${late.name} comes before ${last}, which is already applied. Give it a higher number.`)
  return pending
}

const tableExists = `SELECT to_regclass('public.migrations') IS NOT NULL AS exists`
const listApplied = 'SELECT name, checksum FROM public.migrations ORDER BY name'

const readApplied = async (client: pg.ClientBase): Promise<Applied[]> => {
  const { rows } = await client.query<{ exists: boolean }>(tableExists)
  return rows[0]?.exists ? (await client.query<Applied>(listApplied)).rows : []
}

const requireVersion = async (client: pg.ClientBase): Promise<void> => {
  const { rows } = await client.query<{ number: number; text: string }>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS text`,
  )
  const version = rows[0]
  if (version && version.number >= minimumVersion * 10_000) return
  throw new MigrationError(
    `The database is PostgreSQL ${version?.text}, but Earshot requires version ${minimumVersion} or newer.`,
  )
}

const apply = async (client: pg.ClientBase, { name, text, checksum }: Migration, onCluster: boolean): Promise<void> => {
  try {
    await client.query('BEGIN')
    await (onCluster ? runOnCluster(client, text) : client.query(text))
    await client.query('INSERT INTO public.migrations (name, checksum) VALUES ($1, $2)', [name, checksum])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {})
    throw new MigrationError(`${name} failed: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

const migrateLocked = async (client: pg.ClientBase, migrations: Migration[], log: Log) => {
  await client.query(
    `CREATE TABLE IF NOT EXISTS public.migrations (
       name text CONSTRAINT migrations_pkey PRIMARY KEY,
       checksum text NOT NULL,
       applied_at timestamptz(3) NOT NULL DEFAULT now()
     )`,
  )
  const done: string[] = []
  const onCluster = await isDistributed(client)
  for (const migration of findPending(migrations, await readApplied(client))) {
    await apply(client, migration, onCluster)
    done.push(migration.name)
    log.info({ migration: migration.name }, 'migrated')
  }
  return done
}

const withClient = async <T>(connection: pg.ClientConfig, use: (client: pg.ClientBase) => Promise<T>): Promise<T> => {
  const client = new pg.Client({
    ...connection,
    application_name: 'earshot migrations',
    connectionTimeoutMillis: 10_000,
  })
  // If the connection is lost, the current query fails. Without a listener, the error would also end the process.
  client.on('error', () => {})
  try {
    await client.connect()
    await setSession(client, unhurried)
    await requireVersion(client)
    return await use(client)
  } finally {
    // Closing the connection also releases a lock.
    await client.end().catch(() => {})
  }
}

/**
 * Applies the pending migrations and returns their names. Concurrent processes wait for each other, so each file is
 * applied once.
 */
export const migrate = async (connection: pg.ClientConfig, options: MigrateOptions): Promise<string[]> => {
  const { log, folder = ownFolder } = options
  const migrations = await readMigrations(folder)
  return withClient(connection, async (client) => {
    if (findPending(migrations, await readApplied(client)).length === 0) return []
    await client.query('SELECT pg_advisory_lock($1)', [lock])
    return migrateLocked(client, migrations, log)
  })
}

/** Throws if `migrate` would apply migrations or fail. Changes nothing. */
export const requireMigrated = async (connection: pg.ClientConfig, folder = ownFolder): Promise<void> => {
  const migrations = await readMigrations(folder)
  await withClient(connection, async (client) => {
    const applied = await readApplied(client)
    const pending = findPending(migrations, applied).map(({ name }) => name)
    if (pending.length === 0) return
    const lack =
      applied.length === 0
        ? 'The database contains no Earshot schema yet.'
        : `${pending.join(', ')} ${pending.length === 1 ? 'is' : 'are'} not applied yet.`
    throw new MigrationError(`${lack} Start the service or run bin/earshot migrate first.`)
  })
}

/**
 * Returns the names of files that are not applied yet. Throws like `migrate` if the database does not match this code.
 */
export const pendingMigrations = async (db: Db, folder = ownFolder): Promise<string[]> => {
  const migrations = await readMigrations(folder)
  const { rows } = await sql.raw<{ exists: boolean }>(tableExists).execute(db)
  const applied = rows[0]?.exists ? (await sql.raw<Applied>(listApplied).execute(db)).rows : []
  return findPending(migrations, applied).map(({ name }) => name)
}
