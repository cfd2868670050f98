import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import type { Page } from '../../platform/http/paging.ts'

type Status = 'generating' | 'delivering' | 'succeeded' | 'failed'

const runColumns = [
  'id',
  'schedule_id as scheduleId',
  'planned_for as plannedFor',
  'is_manual as isManual',
  'is_moved as isMoved',
  'since',
  'until',
  'export_id as exportId',
  sql<Status>`status`.as('status'),
  'object_key as objectKey',
  'attempts',
  'error',
  'created_at as createdAt',
  'finished_at as finishedAt',
] as const

const selectRuns = (db: Db, org: OrgId) =>
  db.selectFrom('export_schedule_runs').select(runColumns).where('organization_id', '=', org)

export type ScheduleRun = NonNullable<Awaited<ReturnType<typeof findRun>>>

export const findRun = (db: Db, org: OrgId, id: string) => selectRuns(db, org).where('id', '=', id).executeTakeFirst()

export const listRuns = (db: Db, org: OrgId, scheduleId: string, page: Page) =>
  selectRuns(db, org).where('schedule_id', '=', scheduleId).$call(newestFirst('id', page)).execute()

/** Lists the latest run of each schedule that has runs. */
export const listLastRuns = (db: Db, org: OrgId, scheduleIds: string[]) =>
  selectRuns(db, org)
    .distinctOn('schedule_id')
    .where('schedule_id', '=', sql<string>`ANY(${scheduleIds}::uuid[])`)
    .orderBy('schedule_id')
    .orderBy('id', 'desc')
    .execute()

export const hasRunAt = async (db: Db, org: OrgId, scheduleId: string, plannedFor: Date): Promise<boolean> => {
  const made = await db
    .selectFrom('export_schedule_runs')
    .select('id')
    .where('organization_id', '=', org)
    .where('schedule_id', '=', scheduleId)
    .where('planned_for', '=', plannedFor)
    .executeTakeFirst()
  return made !== undefined
}

export const hasUnfinishedRun = async (db: Db, org: OrgId, scheduleId: string): Promise<boolean> => {
  const unfinished = await db
    .selectFrom('export_schedule_runs')
    .select('id')
    .where('organization_id', '=', org)
    .where('schedule_id', '=', scheduleId)
    .where(sql<boolean>`status IN ('generating', 'delivering')`)
    .executeTakeFirst()
  return unfinished !== undefined
}

/** Finds the run that an export belongs to. The caller has locked the schedule. */
export const findRunOfExport = (trx: Db, org: OrgId, exportId: string) =>
  selectRuns(trx, org).where('export_id', '=', exportId).executeTakeFirst()

type NewRun = {
  id: string
  scheduleId: string
  plannedFor: Date
  isManual: boolean
  since: Date
  until: Date
  exportId: string | null
  createdAt: Date
}

export const insertRun = (trx: Db, org: OrgId, run: NewRun) =>
  trx
    .insertInto('export_schedule_runs')
    .values({
      organization_id: org,
      id: run.id,
      schedule_id: run.scheduleId,
      planned_for: run.plannedFor,
      is_manual: run.isManual,
      since: run.since,
      until: run.until,
      export_id: run.exportId,
      status: 'generating',
      created_at: run.createdAt,
    })
    .returning(runColumns)
    .executeTakeFirstOrThrow()

type RunChange = {
  status?: Status
  objectKey?: string
  attempts?: number
  error?: string | null
  finishedAt?: Date
}

export const updateRun = (trx: Db, org: OrgId, id: string, change: RunChange) =>
  trx
    .updateTable('export_schedule_runs')
    .set({
      ...(change.status !== undefined && { status: change.status }),
      ...(change.objectKey !== undefined && { object_key: change.objectKey }),
      ...(change.attempts !== undefined && { attempts: change.attempts }),
      ...(change.error !== undefined && { error: change.error }),
      ...(change.finishedAt !== undefined && { finished_at: change.finishedAt }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(runColumns)
    .executeTakeFirstOrThrow()

/**
 * Marks unfinished runs with attempts that may have used another bucket. The caller has locked the schedule, so no
 * delivery starts in the meantime. Runs without an attempt are also marked, because they may already have read the old
 * bucket.
 */
export const markMoved = async (trx: Db, org: OrgId, scheduleId: string): Promise<void> => {
  await trx
    .updateTable('export_schedule_runs')
    .set({ is_moved: true })
    .where('organization_id', '=', org)
    .where('schedule_id', '=', scheduleId)
    .where('status', '=', 'delivering')
    .execute()
}

/**
 * Returns whether a run of the schedule has delivered a file with this name. The file in the bucket may be that one.
 */
export const hasDelivered = async (db: Db, org: OrgId, scheduleId: string, objectKey: string): Promise<boolean> => {
  const found = await db
    .selectFrom('export_schedule_runs')
    .select('id')
    .where('organization_id', '=', org)
    .where('schedule_id', '=', scheduleId)
    .where('status', '=', 'succeeded')
    .where('object_key', '=', objectKey)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}
