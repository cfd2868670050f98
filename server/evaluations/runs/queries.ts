import { sql } from 'kysely'
import { type Resolved, type Selection, whereSelected } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { violatedConstraint } from '../../platform/db/errors.ts'
import { plannedEachTime } from '../../platform/db/naming-client.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import { codes } from '../../platform/db/result-codes.ts'
import { ApiError, notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'
import { samplePosition } from '../queries.ts'

type BatchPhase = 'sending' | 'waiting' | 'ended'
type Status = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'

/** The selection of a run's conversations. Its filters are stored as they were given, and resolved for each page. */
export type Population<Filter = Selection> = {
  filter: Filter
  /** Limits the run to these conversations if the request listed any. */
  conversationIds?: string[]
  /** The scope and sample rate that the monitor had when the run was requested. */
  scope: Filter
  samplePercent: number
  /** A time on the database's clock. Later conversations are evaluated on arrival. */
  storedBefore: string
}

export type ResolvedPopulation = Population<Resolved>

/** Returns the current time on the clock that dates stored conversations. */
export const getDatabaseTime = async (db: Db, org: OrgId): Promise<string> => {
  const { now } = await db
    .selectFrom('organizations')
    .select(sql<Date>`clock_timestamp()`.as('now'))
    .where('id', '=', org)
    .executeTakeFirstOrThrow()
  // Stored times have millisecond precision, so this rounds up.
  return new Date(now.getTime() + 1).toISOString()
}

const columns = [
  'id',
  sql<'backfill' | 'experiment'>`kind`.as('kind'),
  'monitor_id as monitorId',
  'monitor_version as monitorVersion',
  sql<Population>`population`.as('population'),
  sql<Status>`status`.as('status'),
  'failure',
  'total',
  'scored',
  'unscored',
  'failed',
  'after_started_at as afterStartedAt',
  'after_id as afterId',
  sql<BatchPhase | null>`batch_phase`.as('batchPhase'),
  'sent_started_at as sentStartedAt',
  'sent_id as sentId',
  'waits',
  'resumes',
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const

const selectRuns = (db: Db, org: OrgId) =>
  db.selectFrom('evaluation_runs').select(columns).where('organization_id', '=', org)

export type Run = Awaited<ReturnType<typeof getRun>>

export const getRun = (db: Db, org: OrgId, monitorId: string, id: string) =>
  selectRuns(db, org).where('monitor_id', '=', monitorId).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export const findRun = (db: Db, org: OrgId, id: string) => selectRuns(db, org).where('id', '=', id).executeTakeFirst()

export const listRuns = (db: Db, org: OrgId, monitorId: string, page: Page) =>
  selectRuns(db, org).where('monitor_id', '=', monitorId).$call(newestFirst('id', page)).execute()

/** Locks the run until the transaction ends. */
export const lockRun = (trx: Db, org: OrgId, id: string) =>
  selectRuns(trx, org).where('id', '=', id).forUpdate().executeTakeFirst()

const explain = (error: unknown): never => {
  if (violatedConstraint(error) !== 'evaluation_runs_unfinished_key') throw error
  throw new ApiError('conflict', 'A run of this monitor is still in progress. Cancel it or wait until it finishes.')
}

type NewRun = {
  id: string
  kind: 'backfill'
  monitorId: string
  monitorVersion: number
  population: Population
  total: number
  batchPhase: BatchPhase | null
  createdByUserId: string
  createdAt: Date
}

export const insertRun = (trx: Db, org: OrgId, run: NewRun) =>
  trx
    .insertInto('evaluation_runs')
    .values({
      organization_id: org,
      id: run.id,
      kind: run.kind,
      monitor_id: run.monitorId,
      monitor_version: run.monitorVersion,
      population: JSON.stringify(run.population),
      status: 'queued',
      total: run.total,
      batch_phase: run.batchPhase,
      created_by_user_id: run.createdByUserId,
      created_at: run.createdAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(explain)

type RunChange = {
  status?: Status
  failure?: string | null
  total?: number
  waits?: number
  resumes?: number
  batchPhase?: BatchPhase | null
  /** The last conversation that was considered for a batch. Null starts over. */
  sent?: RunPosition | null
  startedAt?: Date
  finishedAt?: Date | null
}

/** Updates a run that the caller has locked. */
export const updateRun = (trx: Db, org: OrgId, id: string, change: RunChange) =>
  trx
    .updateTable('evaluation_runs')
    .set({
      ...(change.status !== undefined && { status: change.status }),
      ...(change.failure !== undefined && { failure: change.failure }),
      ...(change.total !== undefined && { total: change.total }),
      ...(change.waits !== undefined && { waits: change.waits }),
      ...(change.resumes !== undefined && { resumes: change.resumes }),
      ...(change.batchPhase !== undefined && { batch_phase: change.batchPhase }),
      ...(change.sent !== undefined && {
        sent_started_at: change.sent?.startedAt ?? null,
        sent_id: change.sent?.id ?? null,
      }),
      ...(change.startedAt !== undefined && { started_at: change.startedAt }),
      ...(change.finishedAt !== undefined && { finished_at: change.finishedAt }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(explain)

/** Selects completed conversations that match a run's filter, sample, and period. */
const selectStored = (db: Db, org: OrgId, filter: Resolved, population: Omit<Population, 'filter' | 'scope'>) => {
  const { samplePercent, storedBefore, conversationIds } = population
  const selected = whereSelected(db.selectFrom('conversations'), org, filter)
    .where('conversations.status', '=', 'completed')
    .where('conversations.created_at', '<', sql<Date>`${storedBefore}::timestamptz`)
    .$if(conversationIds !== undefined, (query) =>
      query.where('conversations.id', '=', sql<string>`ANY(${conversationIds}::uuid[])`),
    )
  return samplePercent < 100 ? selected.where(sql<boolean>`${samplePosition} < ${samplePercent}`) : selected
}

export type RunPosition = { startedAt: Date; id: string }

/** Lists the next candidates in time order, using an index in this order. */
export const listStretch = (db: Db, org: OrgId, of: Population, length: number, after: RunPosition | undefined) => {
  const { agentGroupIds: _, text: __, metadata: ___, monitors: ____, match: _____, ...others } = of.filter
  const { metrics: ______, findingIds: _______, tags: ________, topicIds: ___________, ...simple } = others
  const { anyOf: _________, exclude: __________, similarTo: ____________, ...inOrder } = simple
  return selectStored(db, org, inOrder, of)
    .select(['conversations.id', 'conversations.started_at as startedAt'])
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(conversations.started_at, conversations.id) >
        (${after?.startedAt}::timestamptz, ${after?.id}::uuid)`),
    )
    .orderBy('conversations.started_at')
    .orderBy('conversations.id')
    .limit(length)
    .execute()
}

type EstimatedVersion = { id: string; version: number; isPaidByLength: boolean }

export type Extent = {
  conversations: number
  answered: number
  /** The number of conversations without a result that have a readable transcript. */
  readable: number
  /** The total length of these transcripts. */
  characters: number
}

/** Selects a run's conversations, with their transcripts and their results from the version. */
const selectPopulation = (
  db: Db,
  org: OrgId,
  of: ResolvedPopulation,
  monitor: Pick<EstimatedVersion, 'id' | 'version'>,
) =>
  whereSelected(selectStored(db, org, of.filter, of), org, of.scope)
    .leftJoin('transcripts as t', (join) =>
      join
        .onRef('t.organization_id', '=', 'conversations.organization_id')
        .onRef('t.conversation_id', '=', 'conversations.id'),
    )
    .leftJoin('monitor_results as r', (join) =>
      join
        .on('r.organization_id', '=', org)
        .on('r.monitor_id', '=', monitor.id)
        .onRef('r.call_started_at', '=', 'conversations.started_at')
        .onRef('r.conversation_id', '=', 'conversations.id')
        .on('r.monitor_version', '=', monitor.version)
        .on('r.status', '<', 2),
    )

const isReadable = sql<boolean>`(r.status IS NULL AND t.content_length IS NOT NULL AND t.unreadable IS NULL)`

/**
 * Counts a run's conversations. The cost of judges depends on length, so for judges, this also measures the transcripts
 * of conversations without a result. For all other monitors, PostgreSQL does not read the transcripts.
 */
export const measurePopulation = (
  db: Db,
  org: OrgId,
  of: ResolvedPopulation,
  { isPaidByLength, ...monitor }: EstimatedVersion,
): Promise<Extent> =>
  selectPopulation(db, org, of, monitor)
    .select([
      sql<number>`count(*)`.as('conversations'),
      sql<number>`count(r.status)`.as('answered'),
      (isPaidByLength ? sql<number>`count(*) FILTER (WHERE ${isReadable})` : sql<number>`0`).as('readable'),
      (isPaidByLength
        ? sql<number>`coalesce(sum(t.content_length) FILTER (WHERE ${isReadable}), 0)::float8`
        : sql<number>`0`
      ).as('characters'),
    ])
    .executeTakeFirstOrThrow()

export type SampledTranscript = { id: string; startedAt: Date; format: string | null; characters: number }

/**
 * Selects conversations of a run that have a readable transcript and no result. They are a random sample at this
 * percentage of all conversations.
 */
export const listSample = (
  db: Db,
  org: OrgId,
  of: ResolvedPopulation,
  { percent, most, ...monitor }: Pick<EstimatedVersion, 'id' | 'version'> & { percent: number; most: number },
): Promise<SampledTranscript[]> =>
  selectPopulation(db, org, { ...of, samplePercent: Math.min(of.samplePercent, percent) }, monitor)
    .select([
      'conversations.id',
      'conversations.started_at as startedAt',
      't.format',
      sql<number>`t.content_length`.as('characters'),
    ])
    .where(isReadable)
    .limit(most)
    .execute()

/**
 * The number of judges with results that are searched for a model, and the number of results to read for each judge.
 */
const mostJudges = 10
const mostOfEach = 10

export type PaidResult = SampledTranscript & {
  definition: Record<string, unknown>
  input: number
  output: number
  cost: number | null
}

/** Lists the newest paid results of a model, from the judges that changed last. */
export const listPaidResults = async (db: Db, org: OrgId, evaluator: string): Promise<PaidResult[]> => {
  const { rows } = await sql<PaidResult>`
    SELECT c.id, c.started_at AS "startedAt", t.format, t.content_length AS characters, v.definition,
      p.input_tokens AS input, p.output_tokens AS output, p.cost
    FROM (
      SELECT m.id FROM monitors m
      WHERE m.organization_id = ${org} AND m.kind = 'judge' AND m.deleted_at IS NULL
      ORDER BY m.updated_at DESC LIMIT ${mostJudges}) j
    CROSS JOIN LATERAL (
      SELECT r.* FROM monitor_results r
      WHERE r.organization_id = ${org} AND r.monitor_id = j.id AND r.input_tokens IS NOT NULL
      ORDER BY r.call_started_at DESC LIMIT ${mostOfEach}) p
    JOIN monitor_versions v
      ON v.organization_id = ${org} AND v.monitor_id = p.monitor_id AND v.number = p.monitor_version
    JOIN conversations c ON c.organization_id = ${org} AND c.id = p.conversation_id
    JOIN transcripts t ON t.organization_id = ${org} AND t.conversation_id = p.conversation_id
    WHERE p.evaluator = ${evaluator} AND t.unreadable IS NULL ${sql.raw(plannedEachTime)}`.execute(db)
  return rows
}

/** Returns the average number of tokens in a version's results so far, and their average cost outside batches. */
export const findMeanTokens = async (db: Db, org: OrgId, monitorId: string, version: number) => {
  const { rows } = await sql<{ judgements: number; input: number | null; output: number | null; cost: number | null }>`
    SELECT count(*) AS judgements, avg(input_tokens)::float8 AS input, avg(output_tokens)::float8 AS output,
      avg(cost) FILTER (WHERE evaluator NOT LIKE '%(batch)') AS cost
    FROM (
      SELECT input_tokens, output_tokens, cost, evaluator FROM monitor_results
      WHERE organization_id = ${org} AND monitor_id = ${monitorId}::uuid AND monitor_version = ${version}
        AND input_tokens IS NOT NULL
      ORDER BY call_started_at DESC LIMIT 200) newest ${sql.raw(plannedEachTime)}`.execute(db)
  return rows[0] ?? { judgements: 0, input: null, output: null, cost: null }
}

/** Returns the start times of these conversations. Omits unknown ones. */
export const listStarts = (db: Db, org: OrgId, ids: string[]): Promise<RunPosition[]> =>
  db
    .selectFrom('conversations')
    .select(['id', 'started_at as startedAt'])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

/** Counts conversations by their result from one monitor version. */
export const countOutcomes = async (trx: Db, org: OrgId, run: Run, ids: string[]) => {
  const { rows } = await sql<{ scored: number; unscored: number; failed: number }>`
    SELECT count(*) FILTER (WHERE r.status = ${codes.scored}) AS scored, count(*) FILTER (WHERE r.status = ${codes.unscored}) AS unscored,
      count(*) FILTER (WHERE r.status = ${codes.failed}) AS failed
    FROM conversations c
    JOIN monitor_results r ON r.organization_id = ${org} AND r.monitor_id = ${run.monitorId}::uuid
      AND r.call_started_at = c.started_at AND r.conversation_id = c.id AND r.monitor_version = ${run.monitorVersion}
    WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[])`.execute(trx)
  return rows[0] ?? { scored: 0, unscored: 0, failed: 0 }
}

type Progress = { scored: number; unscored: number; failed: number; after: RunPosition }

/** Updates a run that the caller has locked. Any progress resets the number of pauses. */
export const advanceRun = (trx: Db, org: OrgId, id: string, { scored, unscored, failed, after }: Progress) =>
  trx
    .updateTable('evaluation_runs')
    .set(({ eb }) => ({
      scored: eb('scored', '+', scored),
      unscored: eb('unscored', '+', unscored),
      failed: eb('failed', '+', failed),
      after_started_at: after.startedAt,
      after_id: after.id,
      waits: 0,
    }))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
