import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst, nextRows } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Status = 'pending' | 'processing' | 'completed' | 'failed' | 'expired'
export type ErrorCode = 'too_many_calls' | 'generation_failed' | 'storage_unavailable' | 'timed_out' | 'cancelled'
/** Each kind of export has its own configuration, but all of them have a format. */
type Json = Record<string, unknown> & { format: 'csv' | 'xlsx' | 'parquet' | 'jsonl' }

/** The contents of an export: monitor results, the conversations of a list, or the observations of an experiment. */
export type Kind = 'monitor' | 'conversation' | 'experiment'

const columns = [
  'id',
  'operation_id as operationId',
  sql<Status>`status`.as('status'),
  sql<Json>`config`.as('config'),
  'since',
  // Some periods have no end.
  sql<Date | null>`nullif(until, 'infinity')`.as('until'),
  'created_at as createdAt',
  'started_at as startedAt',
  'completed_at as completedAt',
  'expires_at as expiresAt',
  'is_outdated as isOutdated',
  'row_count as rowCount',
  sql<number | null>`bytes`.as('bytes'),
  'sha256',
  sql<ErrorCode | null>`error_code`.as('errorCode'),
  'blob_key as blobKey',
  'created_by_user_id as createdByUserId',
  'notification_endpoint_id as notificationEndpointId',
  sql<Kind>`CASE WHEN experiment_id IS NOT NULL THEN 'experiment'
    WHEN of_conversations THEN 'conversation' ELSE 'monitor' END`.as('kind'),
  'experiment_id as experimentId',
  'schedule_id as scheduleId',
  'schedule_name as scheduleName',
] as const

const selectExports = (db: Db, org: OrgId) =>
  db.selectFrom('monitor_exports').select(columns).where('organization_id', '=', org)

export type StoredExport = Awaited<ReturnType<typeof getExport>>

/** The kind of an export, which is also the resource that the export belongs to. */
export type ExportKind =
  | { kind: 'monitor' | 'conversation'; experimentId: null }
  | { kind: 'experiment'; experimentId: string }

export type ExportKey = ExportKind & { id: string }

const isOf = ({ kind, experimentId }: ExportKind) =>
  kind === 'experiment'
    ? sql<boolean>`experiment_id = ${experimentId}`
    : sql<boolean>`(experiment_id IS NULL AND of_conversations = ${kind === 'conversation'})`

export const getExport = (db: Db, org: OrgId, { id, ...kind }: ExportKey) =>
  selectExports(db, org).where('id', '=', id).where(isOf(kind)).executeTakeFirstOrThrow(notFound)

export const findExportByOperation = (db: Db, org: OrgId, operationId: string) =>
  selectExports(db, org).where('operation_id', '=', operationId).executeTakeFirst()

type ExportSearch = {
  of: ExportKind
  status: Status | undefined
  /** The time that determines which exports have expired, even if no job has stored that yet. */
  now: Date
}

export const listExports = (db: Db, org: OrgId, { of, status, now }: ExportSearch, page: Page) => {
  const isOver = sql<boolean>`(status = 'completed' AND expires_at <= ${now})`
  return selectExports(db, org)
    .where(isOf(of))
    .$if(status === 'expired', (query) => query.where(sql<boolean>`(status = 'expired' OR ${isOver})`))
    .$if(status !== undefined && status !== 'expired', (query) =>
      query.where('status', '=', status as string).where(sql<boolean>`NOT coalesce(${isOver}, false)`),
    )
    .$call(newestFirst('id', page))
    .execute()
}

/**
 * Locks the queue of an organization. Only the transaction that holds the lock counts unfinished exports and chooses
 * the next one.
 */
export const lockLine = async (trx: Db, org: OrgId): Promise<void> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('monitor exports of ' || ${org}::text, 0))`.execute(trx)
}

const unfinished = sql<boolean>`status IN ('pending', 'processing')`

export const countUnfinished = async (trx: Db, org: OrgId) => {
  const { all, enqueued } = await trx
    .selectFrom('monitor_exports')
    .select([sql<number>`count(*)`.as('all'), sql<number>`count(enqueued_at)`.as('enqueued')])
    .where('organization_id', '=', org)
    .where(unfinished)
    .executeTakeFirstOrThrow()
  return { all, enqueued }
}

/**
 * Enqueues and returns the first export in the queue, or returns undefined if none is waiting. The caller has locked
 * the queue.
 */
export const enqueueFirst = async (trx: Db, org: OrgId, now: Date): Promise<string | undefined> => {
  const first = await trx
    .updateTable('monitor_exports')
    .set({ enqueued_at: now })
    .where('organization_id', '=', org)
    .where('id', '=', (query) =>
      query
        .selectFrom('monitor_exports')
        .select('id')
        .where('organization_id', '=', org)
        .where(unfinished)
        .where('enqueued_at', 'is', null)
        .orderBy('id')
        .limit(1),
    )
    .returning('id')
    .executeTakeFirst()
  return first?.id
}

export type NewExport = ExportKey & {
  operationId: string
  config: object
  /** The period of the calls that the export can contain. Erasing one of these calls ends the export. */
  since: Date
  /** Undefined if the period has no end. */
  until: Date | undefined
  notificationEndpointId?: string
  /** The schedule that requested the export. */
  schedule?: { id: string; name: string }
  createdByUserId: string
  createdAt: Date
}

/** Inserts an export. The caller has locked the queue and knows that no export has this operation ID. */
export const insertExport = (trx: Db, org: OrgId, { id, operationId, config, since, until, ...made }: NewExport) =>
  trx
    .insertInto('monitor_exports')
    .values({
      organization_id: org,
      id,
      operation_id: operationId,
      config: JSON.stringify(config),
      since,
      until: until ?? 'infinity',
      experiment_id: made.experimentId,
      of_conversations: made.kind === 'conversation',
      notification_endpoint_id: made.notificationEndpointId ?? null,
      schedule_id: made.schedule?.id ?? null,
      schedule_name: made.schedule?.name ?? null,
      created_by_user_id: made.createdByUserId,
      created_at: made.createdAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

/** Locks the export until the transaction ends. */
export const lockExport = (trx: Db, org: OrgId, id: string) =>
  selectExports(trx, org).where('id', '=', id).forUpdate().executeTakeFirst()

type ExportChange = {
  status?: Status
  startedAt?: Date
  isOutdated?: boolean
  completedAt?: Date
  expiresAt?: Date
  rowCount?: number
  bytes?: number
  sha256?: string
  errorCode?: ErrorCode
  blobKey?: string | null
}

/** Updates an export that the caller has locked. */
export const updateExport = (trx: Db, org: OrgId, id: string, change: ExportChange) =>
  trx
    .updateTable('monitor_exports')
    .set({
      ...(change.status !== undefined && { status: change.status }),
      ...(change.startedAt !== undefined && { started_at: change.startedAt }),
      ...(change.isOutdated !== undefined && { is_outdated: change.isOutdated }),
      ...(change.completedAt !== undefined && { completed_at: change.completedAt }),
      ...(change.expiresAt !== undefined && { expires_at: change.expiresAt }),
      ...(change.rowCount !== undefined && { row_count: change.rowCount }),
      ...(change.bytes !== undefined && { bytes: change.bytes }),
      ...(change.sha256 !== undefined && { sha256: change.sha256 }),
      ...(change.errorCode !== undefined && { error_code: change.errorCode }),
      ...(change.blobKey !== undefined && { blob_key: change.blobKey }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

/** Updates the progress. Returns false if the attempt no longer owns the export. */
export const updateProgress = async (trx: Db, org: OrgId, id: string, blobKey: string, rows: number) => {
  const { numUpdatedRows } = await trx
    .updateTable('monitor_exports')
    .set({ row_count: rows })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('status', '=', 'processing')
    .where('blob_key', '=', blobKey)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

const selectExpiredAllOrgs = (db: Db, now: Date) =>
  db.selectFrom('monitor_exports').where('status', '=', 'completed').where('expires_at', '<=', now)

export const listOrganizationsWithExpiredAllOrgs = (db: Db, now: Date) =>
  selectExpiredAllOrgs(db, now).select(sql<OrgId>`organization_id`.as('id')).distinct().execute()

export const listExpired = (db: Db, org: OrgId, now: Date, page: Page) =>
  selectExpiredAllOrgs(db, now).select('id').where('organization_id', '=', org).$call(nextRows('id', page)).execute()

export const findExport = (db: Db, org: OrgId, id: string) =>
  selectExports(db, org).where('id', '=', id).executeTakeFirst()

/** Returns which of the files belong to a completed export or to one that is being written. */
export const listNamedFiles = async (db: Db, org: OrgId, keys: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('monitor_exports')
    .select('blob_key as key')
    .where('organization_id', '=', org)
    .where('blob_key', '=', sql<string>`ANY(${keys}::text[])`)
    .execute()
  return rows.flatMap(({ key }) => key ?? [])
}

/** The immutable properties of a call that determine whether an export can contain it. */
export type Placed = { startedAt: Date; agentId: string }

/** Locks and returns the exports that may contain one of these calls. */
export const lockExportsOfCalls = (trx: Db, org: OrgId, calls: Placed[]) =>
  selectExports(trx, org)
    .where('status', 'in', ['pending', 'processing', 'completed'])
    .where(
      sql<boolean>`EXISTS (
        SELECT 1
        FROM unnest(${calls.map(({ startedAt }) => startedAt)}::timestamptz[],
          ${calls.map(({ agentId }) => agentId)}::uuid[]) AS call (at, agent_id)
        WHERE call.at >= since AND call.at < until
          AND coalesce((config #> '{filter,agentIds}') ? call.agent_id::text, true)
          AND call.agent_id = coalesce(
            (config ->> 'agentId')::uuid,
            (SELECT agent_id FROM experiments WHERE organization_id = ${org} AND id = monitor_exports.experiment_id),
            call.agent_id))`,
    )
    .orderBy('id')
    .forUpdate()
    .execute()

export const markOutdated = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await trx
    .updateTable('monitor_exports')
    .set({ is_outdated: true })
    .where('organization_id', '=', org)
    .where('id', 'in', ids)
    .execute()
}
