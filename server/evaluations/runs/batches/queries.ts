import { sql } from 'kysely'
import type { Db, OrgId } from '../../../platform/db/database.ts'

type Status = 'new' | 'submitting' | 'submitted' | 'ended'

const columns = [
  'id',
  'run_id as runId',
  'resumes',
  'model',
  sql<Status>`status`.as('status'),
  'failure',
  'conversation_ids as conversationIds',
  'requests',
  'read_at as readAt',
  'reserved_cost as reservedCost',
  sql<string>`reserved_month::text`.as('reservedMonth'),
  'file_id as fileId',
  'submitting_at as submittingAt',
  'remote_id as remoteId',
  'is_certain as isCertain',
  'other_ids as otherIds',
  'expires_at as expiresAt',
  'cancelled_at as cancelledAt',
  'read_results as readResults',
  'created_at as createdAt',
] as const

const selectBatches = (db: Db, org: OrgId) =>
  db.selectFrom('evaluation_batches').select(columns).where('organization_id', '=', org)

export type Batch = NonNullable<Awaited<ReturnType<typeof findBatch>>>

export const findBatch = (db: Db, org: OrgId, id: string) =>
  selectBatches(db, org).where('id', '=', id).executeTakeFirst()

/** Locks the batch until the transaction ends. */
export const lockBatch = (trx: Db, org: OrgId, id: string) =>
  selectBatches(trx, org).where('id', '=', id).forUpdate().executeTakeFirst()

type NewBatch = {
  id: string
  runId: string
  resumes: number
  model: string
  conversationIds: string[]
  readAt: Date
  reservedCost: number
  reservedMonth: string
  createdAt: Date
}

export const insertBatch = (trx: Db, org: OrgId, batch: NewBatch) =>
  trx
    .insertInto('evaluation_batches')
    .values({
      organization_id: org,
      id: batch.id,
      run_id: batch.runId,
      resumes: batch.resumes,
      model: batch.model,
      status: 'new',
      conversation_ids: batch.conversationIds,
      requests: batch.conversationIds.length,
      read_at: batch.readAt,
      reserved_cost: batch.reservedCost,
      reserved_month: batch.reservedMonth,
      created_at: batch.createdAt,
    })
    .execute()

type BatchChange = {
  status?: Status
  requests?: number
  failure?: string | null
  fileId?: string | null
  submittingAt?: Date
  remoteId?: string | null
  isCertain?: boolean
  otherIds?: string[]
  expiresAt?: Date | null
  answered?: number
  failed?: number
  cancelledAt?: Date
  readResults?: number
  reservedCost?: number
  conversationIds?: string[]
  endedAt?: Date
}

/** Updates a batch that the caller has locked. Undefined values are left unchanged. */
export const updateBatch = (trx: Db, org: OrgId, id: string, change: BatchChange) =>
  trx
    .updateTable('evaluation_batches')
    .set({
      status: change.status,
      requests: change.requests,
      failure: change.failure,
      file_id: change.fileId,
      submitting_at: change.submittingAt,
      remote_id: change.remoteId,
      is_certain: change.isCertain,
      other_ids: change.otherIds,
      expires_at: change.expiresAt,
      answered: change.answered,
      failed: change.failed,
      cancelled_at: change.cancelledAt,
      read_results: change.readResults,
      reserved_cost: change.reservedCost,
      conversation_ids: change.conversationIds,
      ended_at: change.endedAt,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

/** Removes the provider's batch ID from other batches that mistook it for their own. They search again. */
export const disownRemote = (trx: Db, org: OrgId, { id, remoteId }: { id: string; remoteId: string }) =>
  trx
    .updateTable('evaluation_batches')
    .set({ status: 'submitting', remote_id: null })
    .where('organization_id', '=', org)
    .where('remote_id', '=', remoteId)
    .where('status', '=', 'submitted')
    .where('id', '<>', id)
    .execute()

/** Returns the provider's IDs for all other batches. */
export const listRemoteIds = async (db: Db, org: OrgId, exceptId: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('evaluation_batches')
    .select('remote_id as remoteId')
    .where('organization_id', '=', org)
    .where('id', '<>', exceptId)
    .where('remote_id', 'is not', null)
    .execute()
  return rows.flatMap(({ remoteId }) => remoteId ?? [])
}

/** Lists a run's batches that have not ended. */
export const listOpenBatches = (db: Db, org: OrgId, runId: string) =>
  db
    .selectFrom('evaluation_batches')
    .select(['id', 'resumes'])
    .where('organization_id', '=', org)
    .where('run_id', '=', runId)
    .where('status', '<>', 'ended')
    .execute()

/** Returns the reason why a batch was not answered, if there is one since the run was last resumed. */
export const findFailure = async (
  db: Db,
  org: OrgId,
  { id, resumes }: { id: string; resumes: number },
): Promise<string | undefined> => {
  const row = await db
    .selectFrom('evaluation_batches')
    .select('failure')
    .where('organization_id', '=', org)
    .where('run_id', '=', id)
    .where('resumes', '=', resumes)
    .where('failure', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return row?.failure ?? undefined
}

export type BatchProgress = Awaited<ReturnType<typeof listProgress>>[number]

/** Sums up the batches for each of these runs. */
export const listProgress = (db: Db, org: OrgId, runIds: string[]) =>
  db
    .selectFrom('evaluation_batches')
    .select([
      'run_id as runId',
      sql<number>`count(*) FILTER (WHERE status IN ('new', 'submitting'))`.as('unsent'),
      sql<number>`count(*) FILTER (WHERE status = 'submitted')`.as('submitted'),
      sql<number>`sum(requests)::integer`.as('requests'),
      sql<number>`sum(answered)::integer`.as('answered'),
      sql<number>`sum(failed)::integer`.as('failed'),
      sql<Date | null>`min(expires_at) FILTER (WHERE status = 'submitted')`.as('expiresAt'),
    ])
    .where('organization_id', '=', org)
    .where('run_id', '=', sql<string>`ANY(${runIds}::uuid[])`)
    .groupBy('run_id')
    .execute()
