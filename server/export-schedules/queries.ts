import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst, nextRows } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

/** `at` is a local time such as 02:30. A month without the given day uses its last day. */
export type Recurrence =
  | { every: 'hour'; minute: number }
  | { every: 'day'; at: string }
  | { every: 'week'; weekday: Weekday; at: string }
  | { every: 'month'; day: number; at: string }
export type Weekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday'

/** `days` are calendar days, which can have 23 to 25 hours. */
export type WindowRule = { kind: 'last'; hours: number } | { kind: 'last'; days: number } | { kind: 'since_last_run' }

export type S3Bucket = {
  type: 's3'
  bucket: string
  region: string
  prefix: string | null
  endpoint: string | null
  accessKeyId: string
  fileName: string
  encryption: 'AES256' | 'aws:kms' | null
}
export type ScheduleDestination = S3Bucket | { type: 'webhook'; webhookEndpointId: string }

type Status = 'active' | 'paused'
export type PauseReason = 'by_hand' | 'failing' | 'owner_left'
/** The configuration of the export, without its period and endpoint. */
type Config = Record<string, unknown> & { timezone: string; format: 'csv' | 'xlsx' | 'parquet' | 'jsonl' }

const columns = [
  'id',
  'name',
  sql<Config>`config`.as('config'),
  sql<Recurrence>`recurrence`.as('recurrence'),
  sql<WindowRule>`window_rule`.as('windowRule'),
  'settle_minutes as settleMinutes',
  sql<ScheduleDestination>`destination`.as('destination'),
  sql<Status>`status`.as('status'),
  sql<PauseReason | null>`pause_reason`.as('pauseReason'),
  'failures',
  'covered_until as coveredUntil',
  'next_run_at as nextRunAt',
  'owner_user_id as ownerUserId',
  'created_at as createdAt',
  'updated_at as updatedAt',
] as const

const sealedColumns = [...columns, 'secret'] as const

const selectSchedules = (db: Db, org: OrgId) =>
  db.selectFrom('export_schedules').select(sealedColumns).where('organization_id', '=', org)

/** A schedule with its encrypted secret, which never leaves the service. */
export type StoredSchedule = Awaited<ReturnType<typeof getSchedule>>

export const listSchedules = (db: Db, org: OrgId, page: Page) =>
  selectSchedules(db, org).$call(newestFirst('id', page)).execute()

export const getSchedule = (db: Db, org: OrgId, id: string) =>
  selectSchedules(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

/** Locks the schedule until the transaction ends. Callers lock it before its runs. */
export const lockSchedule = (trx: Db, org: OrgId, id: string) =>
  selectSchedules(trx, org).where('id', '=', id).forUpdate().executeTakeFirst()

/** Counts the schedules. Until the transaction ends, no other transaction of the organization can add one. */
export const lockScheduleCount = async (trx: Db, org: OrgId): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('export schedules of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('export_schedules')
    .select(sql<number>`count(*)`.as('count'))
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  return count
}

export type ScheduleContent = {
  name: string
  config: object
  recurrence: Recurrence
  windowRule: WindowRule
  settleMinutes: number
  destination: ScheduleDestination
  /** The encrypted secret. Null for webhooks. */
  secret: string | null
}

type ScheduleChange = Partial<ScheduleContent> & {
  status?: Status
  pauseReason?: PauseReason | null
  failures?: number
  coveredUntil?: Date
  nextRunAt?: Date
  ownerUserId?: string
  updatedAt?: Date
}

const written = (change: ScheduleChange) => ({
  ...(change.name !== undefined && { name: change.name }),
  ...(change.config !== undefined && { config: JSON.stringify(change.config) }),
  ...(change.recurrence !== undefined && { recurrence: JSON.stringify(change.recurrence) }),
  ...(change.windowRule !== undefined && { window_rule: JSON.stringify(change.windowRule) }),
  ...(change.settleMinutes !== undefined && { settle_minutes: change.settleMinutes }),
  ...(change.destination !== undefined && { destination: JSON.stringify(change.destination) }),
  ...(change.secret !== undefined && { secret: change.secret }),
  ...(change.status !== undefined && { status: change.status }),
  ...(change.pauseReason !== undefined && { pause_reason: change.pauseReason }),
  ...(change.failures !== undefined && { failures: change.failures }),
  ...(change.coveredUntil !== undefined && { covered_until: change.coveredUntil }),
  ...(change.nextRunAt !== undefined && { next_run_at: change.nextRunAt }),
  ...(change.ownerUserId !== undefined && { owner_user_id: change.ownerUserId }),
  ...(change.updatedAt !== undefined && { updated_at: change.updatedAt }),
})

type NewSchedule = ScheduleContent & {
  id: string
  coveredUntil: Date
  nextRunAt: Date
  ownerUserId: string
  createdAt: Date
}

export const insertSchedule = (trx: Db, org: OrgId, { id, createdAt, ...made }: NewSchedule) =>
  trx
    .insertInto('export_schedules')
    .values({
      organization_id: org,
      id,
      name: made.name,
      config: JSON.stringify(made.config),
      recurrence: JSON.stringify(made.recurrence),
      window_rule: JSON.stringify(made.windowRule),
      settle_minutes: made.settleMinutes,
      destination: JSON.stringify(made.destination),
      secret: made.secret,
      covered_until: made.coveredUntil,
      next_run_at: made.nextRunAt,
      owner_user_id: made.ownerUserId,
      created_at: createdAt,
      updated_at: createdAt,
    })
    .returning(sealedColumns)
    .executeTakeFirstOrThrow()

export const updateSchedule = (trx: Db, org: OrgId, id: string, change: ScheduleChange) =>
  trx
    .updateTable('export_schedules')
    .set(written(change))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(sealedColumns)
    .executeTakeFirstOrThrow(notFound)

export const deleteSchedule = (trx: Db, org: OrgId, id: string) =>
  trx
    .deleteFrom('export_schedules')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

const selectDueAllOrgs = (db: Db, now: Date) =>
  db.selectFrom('export_schedules').where('status', '=', 'active').where('next_run_at', '<=', now)

export const listOrganizationsWithDueAllOrgs = (db: Db, now: Date) =>
  selectDueAllOrgs(db, now).select(sql<OrgId>`organization_id`.as('id')).distinct().execute()

export const listDue = (db: Db, org: OrgId, now: Date, page: Page) =>
  selectDueAllOrgs(db, now).select('id').where('organization_id', '=', org).$call(nextRows('id', page)).execute()
