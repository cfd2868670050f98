import { type RawBuilder, sql } from 'kysely'
import { dayMs } from '../durations.ts'
import { placement } from './citus/placement.ts'
import type { Db, OrgId } from './database.ts'

/** Deletes or updates rows when they are due, one organization at a time. */
export type DueRows = {
  /** Finds organizations that may have due rows. */
  listOrganizationsAllOrgs: (db: Db, now: Date) => Promise<{ id: OrgId }[]>
  /** Processes at most `limit` rows of one organization, and returns the number of processed rows. */
  sweep: (db: Db, org: OrgId, place: { now: Date; limit: number }) => Promise<number>
}

type Definition = {
  /** The primary key of the table must be the organization and `id`. */
  table: string
  /**
   * The condition for due rows. An index must start with the organization and this condition. Other tables are compared
   * with `org`, because a cluster finds an organization's node by value.
   */
  isDue: (now: Date, org: RawBuilder<unknown>) => RawBuilder<unknown>
  /** The columns to update. Without it, rows are deleted. */
  change?: RawBuilder<unknown>
}

export const dueRows = ({ table, isDue, change }: Definition): DueRows => ({
  listOrganizationsAllOrgs: async (db, now) => {
    const { rows } = await sql<{ id: OrgId }>`
      SELECT DISTINCT organization_id AS id FROM ${sql.table(table)} WHERE ${isDue(now, sql.ref(`${table}.organization_id`))}`.execute(
      db,
    )
    return rows
  },
  sweep: async (db, org, { now, limit }) => {
    // This skips rows that another process is handling. Rows that are copied to every node are never locked.
    const lock = placement[table] === 'reference' ? sql`` : sql`FOR UPDATE SKIP LOCKED`
    const due = sql`
      SELECT id FROM ${sql.table(table)}
      WHERE organization_id = ${org} AND ${isDue(now, sql`${org}`)} LIMIT ${limit} ${lock}`
    const isOne = sql`swept.organization_id = ${org} AND swept.id = due.id`
    const { rows } = change
      ? await sql`
          WITH due AS (${due})
          UPDATE ${sql.table(table)} swept SET ${change} FROM due WHERE ${isOne} RETURNING 1`.execute(db)
      : await sql`
          WITH due AS (${due}) DELETE FROM ${sql.table(table)} swept USING due WHERE ${isOne} RETURNING 1`.execute(db)
    return rows.length
  },
})

export const daysBefore = (now: Date, days: number): Date => new Date(now.getTime() - days * dayMs)
