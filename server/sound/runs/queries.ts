import { sql } from 'kysely'
import { type Resolved, type Selection, whereAmong, whereSelected } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

type Status = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'

const columns = [
  'id',
  sql<Status>`status`.as('status'),
  // `parseFilter` has validated it.
  sql<Selection>`filter`.as('filter'),
  'again',
  'transcribe',
  'total',
  'measured',
  'unmeasurable',
  'failed',
  'after_id as afterId',
  'stored_before as storedBefore',
  'created_at as createdAt',
  'started_at as startedAt',
  'finished_at as finishedAt',
  'failure',
] as const

const selectRuns = (db: Db, org: OrgId) =>
  db.selectFrom('sound_runs').select(columns).where('organization_id', '=', org)

export type StoredRun = Awaited<ReturnType<typeof getRun>>

export const getRun = (db: Db, org: OrgId, id: string) =>
  selectRuns(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export const listRuns = (db: Db, org: OrgId, page: Page) => selectRuns(db, org).$call(newestFirst('id', page)).execute()

/** Locks the run until the transaction ends. */
export const lockRun = (trx: Db, org: OrgId, id: string) =>
  selectRuns(trx, org).where('id', '=', id).forUpdate().executeTakeFirst()

/** Returns the time of the clock that timestamps stored recordings. */
export const getStoredBefore = async (db: Db, org: OrgId): Promise<Date> => {
  const { now } = await db
    .selectFrom('organizations')
    .select(sql<Date>`clock_timestamp()`.as('now'))
    .where('id', '=', org)
    .executeTakeFirstOrThrow()
  // Stored times have milliseconds, so this rounds up.
  return new Date(now.getTime() + 1)
}

type NewRun = {
  id: string
  filter: Selection
  again: boolean
  transcribe: boolean
  total: number
  storedBefore: Date
  createdByUserId: string
  createdAt: Date
}

/** Lets only one transaction at a time create a run in the organization. Returns the number of unfinished runs. */
export const lockUnfinishedCount = async (trx: Db, org: OrgId): Promise<number> => {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('sound runs of ' || ${org}::text, 0))`.execute(trx)
  const { count } = await trx
    .selectFrom('sound_runs')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow()
  return count
}

export const insertRun = (trx: Db, org: OrgId, run: NewRun) =>
  trx
    .insertInto('sound_runs')
    .values({
      organization_id: org,
      id: run.id,
      filter: JSON.stringify(run.filter),
      again: run.again,
      transcribe: run.transcribe,
      total: run.total,
      stored_before: run.storedBefore,
      created_by_user_id: run.createdByUserId,
      created_at: run.createdAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()

type RunChange = {
  status: Status
  startedAt?: Date
  finishedAt?: Date
  failure?: string
}

/** Updates a run that the caller has locked. */
export const updateRun = (trx: Db, org: OrgId, id: string, change: RunChange) =>
  trx
    .updateTable('sound_runs')
    .set({
      status: change.status,
      ...(change.startedAt !== undefined && { started_at: change.startedAt }),
      ...(change.finishedAt !== undefined && { finished_at: change.finishedAt }),
      ...(change.failure !== undefined && { failure: change.failure }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export type Outcome = 'measured' | 'unmeasurable' | 'failed'

/**
 * Counts the outcome for a conversation's recording, and moves the run past it. Without an outcome, there was nothing
 * to measure.
 */
export const advanceRun = (trx: Db, org: OrgId, id: string, after: string, outcome: Outcome | undefined) =>
  trx
    .updateTable('sound_runs')
    .set(({ eb }) => ({
      after_id: after,
      ...(outcome !== undefined && { [outcome]: eb(outcome, '+', 1) }),
    }))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

type Population = Pick<StoredRun, 'again' | 'transcribe' | 'storedBefore'>

/** Recordings that arrive later are measured on arrival. Redacted ones keep the measures of the originals. */
const isMeant = (org: OrgId, { again, transcribe, storedBefore }: Population) => {
  const isUnmeasured = again ? sql<boolean>`true` : sql<boolean>`r.measured_key IS DISTINCT FROM r.blob_key`
  const isToMeasure = sql<boolean>`r.status = 'stored' AND r.redacted_spans IS NULL AND ${isUnmeasured}`
  if (!transcribe) return sql<boolean>`r.updated_at < ${storedBefore} AND ${isToMeasure}`
  // Recordings that wait for redaction need a transcript, too.
  return sql<boolean>`r.updated_at < ${storedBefore} AND ((${isToMeasure}) OR (
    r.status IN ('stored', 'processing') AND NOT EXISTS (
      SELECT FROM transcripts t WHERE t.organization_id = ${org} AND t.conversation_id = r.conversation_id)))`
}

export const countRecordings = async (
  db: Db,
  org: OrgId,
  filter: Resolved,
  population: Population,
): Promise<number> => {
  const { count } = await whereSelected(db.selectFrom('conversations'), org, filter)
    .innerJoin('recordings as r', (join) =>
      join.on('r.organization_id', '=', org).onRef('r.conversation_id', '=', 'conversations.id'),
    )
    .where(isMeant(org, population))
    .select(sql<number>`count(*)`.as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Lists the next recordings of a run, without applying its filter. */
export const listNext = (db: Db, org: OrgId, run: StoredRun, limit: number) =>
  db
    .selectFrom('recordings as r')
    .select('r.conversation_id as id')
    .where('r.organization_id', '=', org)
    .where(isMeant(org, run))
    .$if(run.afterId !== null, (query) => query.where('r.conversation_id', '>', run.afterId as string))
    .orderBy('r.conversation_id')
    .limit(limit)
    .execute()

/** Returns which of these conversations match the filter. */
export const listMatching = async (db: Db, org: OrgId, filter: Resolved, ids: string[]): Promise<Set<string>> => {
  const rows = await whereAmong(db.selectFrom('conversations'), org, filter, ids).select('conversations.id').execute()
  return new Set(rows.map(({ id }) => id))
}
