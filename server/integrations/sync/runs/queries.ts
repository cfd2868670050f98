import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../../../platform/db/database.ts'
import { daysBefore, dueRows } from '../../../platform/db/due-rows.ts'
import { newestFirst } from '../../../platform/db/pages.ts'
import type { Page } from '../../../platform/http/paging.ts'
import type { Provider } from '../../../transcripts/provider-calls/read-call.ts'

type RunStatus = 'running' | 'completed' | 'failed' | 'cancelled'

/** The counts of a run. Each name is also the name of its column. */
const counters = ['listed', 'stored', 'filled', 'failed', 'unfinished', 'erased'] as const
type Counter = (typeof counters)[number]

const runColumns = [
  'id',
  sql<RunStatus>`status`.as('status'),
  'reason',
  ...counters,
  'started_at as startedAt',
  'ended_at as endedAt',
] as const

/** Returns the newest run of each integration, which is found in the last index entry. */
export const listLastRuns = async (db: Db, org: OrgId, integrationIds: string[]) =>
  db
    .selectFrom('integration_sync_runs')
    .select([...runColumns, 'integration_id as integrationId'])
    .where('organization_id', '=', org)
    .where(
      'id',
      'in',
      sql<string>`(
        SELECT (SELECT r.id FROM integration_sync_runs r
          WHERE r.organization_id = ${org} AND r.integration_id = asked.id ORDER BY r.id DESC LIMIT 1)
        FROM unnest(${integrationIds}::uuid[]) AS asked(id))`,
    )
    .execute()

/** Sums the counts of all runs starting at an ID. */
export const sumRuns = (db: Db, org: OrgId, integrationId: string, sinceId: string) => {
  const sum = (name: Counter) => sql<number>`COALESCE(sum(${sql.ref(name)}), 0)`.as(name)
  return db
    .selectFrom('integration_sync_runs')
    .select([sum('listed'), sum('stored'), sum('filled'), sum('failed'), sum('erased')])
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .where('id', '>=', sinceId)
    .executeTakeFirstOrThrow()
}

export const listRuns = (db: Db, org: OrgId, integrationId: string, page: Page) =>
  db
    .selectFrom('integration_sync_runs')
    .select(runColumns)
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .$call(newestFirst('id', page))
    .execute()

type NewRun = { id: string; integrationId: string; until: Date; windowFrom: Date; windowUntil: Date; startedAt: Date }

/** Inserts a run. Returns false if one is already in progress. */
export const insertRun = async (trx: Db, org: OrgId, run: NewRun, pending: string[]): Promise<boolean> => {
  const { rows } = await sql`
    INSERT INTO integration_sync_runs (organization_id, id, integration_id, status, until, window_from, window_until,
      pending, started_at)
    VALUES (${org}, ${run.id}, ${run.integrationId}, 'running', ${run.until}, ${run.windowFrom}, ${run.windowUntil},
      ${pending}::text[], ${run.startedAt})
    ON CONFLICT DO NOTHING RETURNING 1`.execute(trx)
  return rows.length > 0
}

const selectRunning = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('integration_sync_runs as r')
    .innerJoin('integrations as i', (join) =>
      join.onRef('i.organization_id', '=', 'r.organization_id').onRef('i.id', '=', 'r.integration_id'),
    )
    .innerJoin('organizations as o', 'o.id', 'r.organization_id')
    .select([
      'r.id',
      'r.integration_id as integrationId',
      'r.until',
      'r.window_from as windowFrom',
      'r.window_until as windowUntil',
      'r.page_cursor as pageCursor',
      'r.window_listed as windowListed',
      'r.pages',
      'r.pending',
      'r.waits',
      sql<Provider>`i.provider`.as('provider'),
      'i.name',
      sql<{ agentId?: string } & Record<string, unknown>>`i.settings`.as('settings'),
      'o.suspended_at as suspendedAt',
    ])
    .where('r.organization_id', '=', org)
    .where('r.id', '=', id)
    .where('r.status', '=', 'running')

/** Returns a run with everything that its next step needs. */
export const findRunningRun = (db: Db, org: OrgId, id: string) => selectRunning(db, org, id).executeTakeFirst()

/** Locks a run until the transaction ends. */
export const lockRunningRun = (trx: Db, org: OrgId, id: string) =>
  selectRunning(trx, org, id).forNoKeyUpdate('r').executeTakeFirst()

type RunChange = {
  windowFrom?: Date
  windowUntil?: Date
  pageCursor?: string | null
  windowListed?: boolean
  pages?: number
  waits?: number
  addPending?: string[]
  count?: Partial<Record<Counter, number>>
}

export const updateRun = async (trx: Db, org: OrgId, id: string, change: RunChange): Promise<void> => {
  const { windowFrom, windowUntil, pageCursor, windowListed, pages, waits, addPending = [], count = {} } = change
  const counted = Object.entries(count).map(([name, by]) => [name, sql`${sql.ref(name)} + ${by}::int`] as const)
  await trx
    .updateTable('integration_sync_runs')
    .set({
      ...(windowFrom && { window_from: windowFrom }),
      ...(windowUntil && { window_until: windowUntil }),
      ...(pageCursor !== undefined && { page_cursor: pageCursor }),
      ...(windowListed !== undefined && { window_listed: windowListed }),
      ...(pages !== undefined && { pages }),
      ...(waits !== undefined && { waits }),
      ...(addPending.length > 0 && { pending: sql<string[]>`pending || ${addPending}::text[]` }),
      ...Object.fromEntries(counted),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
}

/**
 * Removes a call from the list of calls to fetch, and counts it. Returns false if another process has already done
 * this, or if the run is over.
 */
export const settlePending = async (trx: Db, org: OrgId, id: string, externalId: string, counter?: Counter) => {
  const count: RawBuilder<unknown> = counter ? sql`, ${sql.ref(counter)} = ${sql.ref(counter)} + 1` : sql``
  const { rows } = await sql`
    UPDATE integration_sync_runs SET pending = array_remove(pending, ${externalId}), waits = 0 ${count}
    WHERE organization_id = ${org} AND id = ${id} AND status = 'running' AND ${externalId} = ANY(pending)
    RETURNING 1`.execute(trx)
  return rows.length > 0
}

type RunEnd = { status: Exclude<RunStatus, 'running'>; reason: string | null; endedAt: Date }

/** Ends a run. Returns false if it was already over. */
export const endRun = async (trx: Db, org: OrgId, id: string, { status, reason, endedAt }: RunEnd) => {
  const { numUpdatedRows } = await trx
    .updateTable('integration_sync_runs')
    .set({ status, reason, ended_at: endedAt, pending: sql`'{}'` })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('status', '=', 'running')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const cancelRunOf = async (trx: Db, org: OrgId, integrationId: string, now: Date): Promise<void> => {
  await trx
    .updateTable('integration_sync_runs')
    .set({ status: 'cancelled', reason: 'The settings were changed.', ended_at: now, pending: sql`'{}'` })
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .where('status', '=', 'running')
    .execute()
}

export const oldRuns = dueRows({
  table: 'integration_sync_runs',
  isDue: (now) => sql`ended_at < ${daysBefore(now, 31)}`,
})
