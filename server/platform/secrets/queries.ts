import { sql } from 'kysely'
import type { Db, OrgId } from '../db/database.ts'

type Column = {
  table: string
  /** The SQL expression for the secret's context within its organization. */
  id: string
  column: string
  /** The column that orders secrets by age. */
  since: string
  /** The boolean column that distinguishes encrypted values, if the column also contains others. */
  flag?: string
}

export const listNewestSealedAllOrgs = async (
  db: Db,
  { table, id, column, since, flag }: Column,
  limit: number,
): Promise<{ org: OrgId; id: string; sealed: string }[]> => {
  const { rows } = await sql<{ org: OrgId; id: string; sealed: string }>`
    SELECT organization_id AS org, ${sql.ref(id)} AS id, ${sql.ref(column)} AS sealed
    FROM ${sql.table(table)} WHERE ${sql.ref(column)} IS NOT NULL ${flag ? sql`AND ${sql.ref(flag)}` : sql``}
    ORDER BY ${sql.ref(since)} DESC LIMIT ${limit}`.execute(db)
  return rows
}
