// Test jobs add notes to the table `effects`, and tests read them in the order they were added.
import { sql } from 'kysely'
import type { Db } from '../../../server/platform/db/database.ts'

export const note = async (db: Db, text: string) => {
  await sql`INSERT INTO effects (note) VALUES (${text})`.execute(db)
}

export const notes = async (db: Db): Promise<string[]> => {
  const { rows } = await sql<{ note: string }>`SELECT note FROM effects ORDER BY id`.execute(db)
  return rows.map((row) => row.note)
}
