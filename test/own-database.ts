// Starts a separate PostgreSQL for tests that control roles, settings, and replication.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { openEmbedded } from '../server/platform/db/embedded.ts'
import { openLog } from '../server/platform/log.ts'
import { makeDataDir } from './earshot.ts'
import { afterwards } from './server.ts'

const log = openLog({ write: () => {} })

export const startDatabase = async (settings: Record<string, string> = {}, dataDir?: string) => {
  const folder = dataDir ?? (await makeDataDir())
  const { connection, close } = await openEmbedded({
    dataDir: folder,
    log,
    applicationName: 'test',
    settings: { fsync: 'off', ...settings },
  })
  afterwards(close)
  return { dataDir: folder, connection }
}

/** Runs statements one after another, and returns the column `value` of the last one's first row. */
export const runOn = async (database: pg.ClientConfig, ...statements: string[]) => {
  const client = new pg.Client(database)
  await client.connect()
  try {
    let value: unknown
    for (const statement of statements) value = (await client.query(statement)).rows[0]?.value
    return value
  } finally {
    await client.end()
  }
}

/** Adds a line to pg_hba.conf. Without it, only the superuser can connect if this process runs as root. */
export const letIn = async ({ dataDir, connection }: Awaited<ReturnType<typeof startDatabase>>, line: string) => {
  if (process.getuid?.() !== 0) return
  const path = join(dataDir, 'postgres.hba')
  // PostgreSQL uses the first line that matches.
  await writeFile(path, `${line}\n${await readFile(path, 'utf8')}`)
  await runOn(connection, 'SELECT pg_reload_conf()')
}
