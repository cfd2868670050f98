import { type RawBuilder, sql } from 'kysely'
import type { Db } from './database.ts'

type Old = {
  /** One whose key is the organization and `id`. */
  table: string
  /** When a row came about; an index begins with it. */
  since: string
  before: Date
  /** So many at once, the oldest first. */
  limit: number
  /** Of these alone. */
  only?: RawBuilder<boolean>
}

/** Answers how many there were. What another process is deleting is left to it. */
export const deleteOldRowsAllOrgs = async (db: Db, { table, since, before, limit, only }: Old): Promise<number> => {
  const { rows } = await sql`
    WITH due AS (
      SELECT organization_id, id FROM ${sql.table(table)}
      WHERE ${sql.ref(since)} < ${before} ${only ? sql`AND ${only}` : sql``}
      ORDER BY ${sql.ref(since)} LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    DELETE FROM ${sql.table(table)} old USING due
    WHERE old.organization_id = due.organization_id AND old.id = due.id RETURNING 1`.execute(db)
  return rows.length
}
