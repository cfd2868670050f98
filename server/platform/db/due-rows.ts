import { type RawBuilder, sql } from 'kysely'
import { dayMs } from '../durations.ts'
import { placement } from './citus/placement.ts'
import type { Db, OrgId } from './database.ts'

/** Rows of tenants' tables that are deleted or changed once they are due, organization by organization. */
export type DueRows = {
  /** Where something may be due. */
  listOrganizationsAllOrgs: (db: Db, now: Date) => Promise<{ id: OrgId }[]>
  /** Deals with at most `limit` rows of one organization, and answers how many there were. */
  sweep: (db: Db, org: OrgId, place: { now: Date; limit: number }) => Promise<number>
}

type Definition = {
  /** One whose key is the organization and `id`. */
  table: string
  /**
   * An index begins with the organization and what this asks for. Other tables are compared with `org`: a cluster finds the
   * node of one organization by its value.
   */
  isDue: (now: Date, org: RawBuilder<unknown>) => RawBuilder<unknown>
  /** What the rows become; without it they are deleted. */
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
    // Skips what another process is dealing with. A row with a copy on every node is never locked.
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
