// Test jobs insert rows into this table, in the order of their commits.
import { sql } from 'kysely'
import type { Db } from '../../../server/platform/db/database.ts'

export const note = async (db: Db, text: string) => {
  await sql`INSERT INTO effects (note) VALUES (${text})`.execute(db)
}

export const notes = async (db: Db): Promise<string[]> => {
  const { rows } = await sql<{ note: string }>`SELECT note FROM effects ORDER BY id`.execute(db)
  return rows.map((row) => row.note)
}
