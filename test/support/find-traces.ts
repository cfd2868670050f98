// Searches for a string everywhere that the service writes.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Db } from '../../server/platform/db/database.ts'
import type { TestServer } from '../server.ts'

/** Searches every column of every table, including those of the queue. Bytes are compared as hexadecimal text. */
const findInTables = async (db: Db, text: string): Promise<string[]> => {
  const { rows: tables } = await sql<{ schema: string; name: string }>`
    SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
    WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`.execute(db)
  const found: string[] = []
  for (const { schema, name } of tables) {
    const { rows } = await sql`
      SELECT 1 FROM ${sql.table(`${schema}.${name}`)} t
      WHERE strpos(lower(t::text), ${text}) > 0 OR strpos(t::text, ${Buffer.from(text).toString('hex')}) > 0
      LIMIT 1`.execute(db)
    if (rows.length > 0) found.push(name)
  }
  return found.sort()
}

const findInFiles = async (folder: string, text: string): Promise<string[]> => {
  const found: string[] = []
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    if (path.includes(text) || (await readFile(path)).includes(text)) found.push('a file')
  }
  return found
}

/** Returns where a string occurs. The string consists of lowercase letters and digits. */
export const findTraces = async ({ deps, logged }: TestServer, text: string): Promise<string[]> => [
  ...(await findInTables(deps.db, text)),
  ...(await findInFiles(deps.config.dataDir, text)),
  ...(logged.some((line) => line.toLowerCase().includes(text)) ? ['the log'] : []),
]
