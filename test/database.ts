import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { inDatabase } from './global-setup.ts'
import { openPassage } from './passage.ts'

export type TestDatabase = { connection: pg.PoolConfig; drop: () => Promise<void> }

/** A migrated database of one's own; `empty` gives one without tables. */
export const testDatabase = async (options: { empty?: boolean } = {}): Promise<TestDatabase> => {
  const server = inject('testServer')
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`
  const run = async (statement: string) => {
    const client = new pg.Client(
      'connectionString' in server.connection ? server.connection : inDatabase(server.connection, 'postgres'),
    )
    await client.connect()
    try {
      await client.query(statement)
    } finally {
      await client.end()
    }
  }
  await run(`CREATE DATABASE ${name} TEMPLATE ${options.empty ? 'template0' : server.template} STRATEGY file_copy`)
  return {
    connection: inDatabase(server.connection, name),
    drop: () => run(`DROP DATABASE IF EXISTS ${name} (FORCE)`),
  }
}

/** As a switch takes it; what tests connect to is a folder with a socket. */
export const databaseUrl = ({ connectionString, host, port = 5432, user, database }: pg.PoolConfig): string =>
  connectionString ?? `postgres://${user}@localhost/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`

/** A database behind a network that can fail. */
export const behindPassage = async (connection: pg.PoolConfig) => {
  const { host, port, user, password, database, ssl } = new pg.Client(connection)
  const passage = await openPassage(() =>
    host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port },
  )
  return { passage, connection: { host: '127.0.0.1', port: passage.port, user, password, database, ssl } }
}
