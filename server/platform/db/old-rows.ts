import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from './database.ts'

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

type Due = { org: OrgId; id: string }

/**
 * Groups rows that a sweep found, because it changes them by organization: a statement that changes rows of all of them
 * could lock none on a cluster.
 */
export const idsByOrganization = (due: Due[]): Map<OrgId, string[]> => {
  const ids = new Map<OrgId, string[]>()
  // In one order, so that two sweeps never wait for each other in a circle.
  for (const { org, id } of due.toSorted((a, b) => (a.id < b.id ? -1 : 1))) {
    const own = ids.get(org)
    if (own) own.push(id)
    else ids.set(org, [id])
  }
  return ids
}

/** Answers how many there were. What another process is deleting is left to it. */
export const deleteOldRowsAllOrgs = async (db: Db, { table, since, before, limit, only }: Old): Promise<number> => {
  const isOld = sql<boolean>`${sql.ref(since)} < ${before} ${only ? sql`AND ${only}` : sql``}`
  const { rows: due } = await sql<Due>`
    SELECT organization_id AS org, id FROM ${sql.table(table)}
    WHERE ${isOld} ORDER BY ${sql.ref(since)} LIMIT ${limit}`.execute(db)
  let count = 0
  for (const [org, ids] of idsByOrganization(due)) {
    const { rows: deleted } = await sql`
      WITH due AS (
        SELECT id FROM ${sql.table(table)}
        WHERE organization_id = ${org} AND id = ANY(${ids}::uuid[]) AND ${isOld} FOR UPDATE SKIP LOCKED)
      DELETE FROM ${sql.table(table)} old USING due
      WHERE old.organization_id = ${org} AND old.id = due.id RETURNING 1`.execute(db)
    count += deleted.length
  }
  return count
}
