import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'

export type NamedTable = 'agents' | 'companies' | 'monitors' | 'findings' | 'experiments'

/** Returns the names of these IDs. */
export const findNames = async (db: Db, org: OrgId, table: NamedTable, ids: string[]): Promise<Map<string, string>> => {
  const name = sql.ref(table === 'findings' ? 'title' : 'name')
  const { rows } = await sql<{ id: string; name: string }>`
    SELECT id, ${name} AS name FROM ${sql.table(table)}
    WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[])`.execute(db)
  return new Map(rows.map((row) => [row.id, row.name]))
}
