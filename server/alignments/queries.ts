import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { codes, resultStatuses, results } from '../platform/db/result-codes.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Status = 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
type Verdict = 'affected' | 'not_affected'
type Half = 'tuning' | 'test'
export type ProposalKind = 'threshold' | 'calibration' | 'examples' | 'guidelines'
type Definition = Record<string, unknown>

/** A judgment in a completed review, with the fields that determine its half. */
type JudgmentRow = {
  conversationId: string
  reviewId: string
  reviewerUserId: string
  adjudicates: boolean
  correctResult: Verdict | 'unsure'
  completedAt: Date
  customerId: string | null
  startedAt: Date
}

/**
 * Lists people's judgments of any version of a monitor, newest reviews first. For each review, the judgment of the
 * newest version counts.
 */
export const listJudgments = async (db: Db, org: OrgId, monitorId: string, limit: number): Promise<JudgmentRow[]> => {
  const { rows } = await sql<JudgmentRow>`
    SELECT DISTINCT ON (r.id) r.conversation_id AS "conversationId", r.id AS "reviewId",
      r.reviewer_user_id AS "reviewerUserId", r.adjudicates, j.correct_result AS "correctResult",
      r.completed_at AS "completedAt", c.customer_id AS "customerId", c.started_at AS "startedAt"
    FROM review_judgments j
    JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed'
    JOIN conversations c ON c.organization_id = ${org} AND c.id = r.conversation_id AND c.status = 'completed'
    WHERE j.organization_id = ${org} AND j.monitor_id = ${monitorId}::uuid
    ORDER BY r.id DESC, j.monitor_version DESC LIMIT ${limit}`.execute(db)
  return rows
}

/** Lists the conversations that a monitor has learned from through applied alignments. */
export const listLearnedFrom = async (db: Db, org: OrgId, monitorId: string): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    SELECT DISTINCT k.conversation_id AS id
    FROM alignments a
    JOIN alignment_proposals p ON p.organization_id = ${org} AND p.alignment_id = a.id AND p.applied_version IS NOT NULL
    JOIN alignment_cases k ON k.organization_id = ${org} AND k.alignment_id = a.id AND k.half = 'tuning'
    WHERE a.organization_id = ${org} AND a.monitor_id = ${monitorId}::uuid`.execute(db)
  return rows.map(({ id }) => id)
}

/** Counts the conversations with a result of a version that is not a failure. */
export const countAnswered = async (
  db: Db,
  org: OrgId,
  { monitorId, number, ids }: { monitorId: string; number: number; ids: string[] },
): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM conversations c
    JOIN monitor_results m ON m.organization_id = ${org} AND m.monitor_id = ${monitorId}::uuid
      AND m.call_started_at = c.started_at AND m.conversation_id = c.id AND m.monitor_version = ${number}
      AND m.status < ${codes.failed}
    WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[])`.execute(db)
  return rows[0]?.count ?? 0
}

export const countCharacters = async (db: Db, org: OrgId, ids: string[]): Promise<number> => {
  const { rows } = await sql<{ characters: number }>`
    SELECT coalesce(sum(content_length), 0)::float8 AS characters FROM transcripts
    WHERE organization_id = ${org} AND conversation_id = ANY(${ids}::uuid[])`.execute(db)
  return rows[0]?.characters ?? 0
}

const columns = [
  'id',
  'monitor_id as monitorId',
  'monitor_version as monitorVersion',
  sql<Status>`status`.as('status'),
  'failure',
  sql<ProposalKind[]>`kinds`.as('kinds'),
  'max_cost as maxCost',
  sql<number>`input_tokens::float8`.as('inputTokens'),
  sql<number>`output_tokens::float8`.as('outputTokens'),
  'cost',
  'is_cost_unknown as isCostUnknown',
  sql<unknown>`report`.as('report'),
  'waits',
  'resumes',
  'created_by_user_id as createdByUserId',
  'created_at as createdAt',
  'started_at as startedAt',
  'finished_at as finishedAt',
] as const

const selectAlignments = (db: Db, org: OrgId) =>
  db.selectFrom('alignments').select(columns).where('organization_id', '=', org)

export type StoredAlignment = Awaited<ReturnType<typeof getAlignment>>

export const getAlignment = (db: Db, org: OrgId, monitorId: string, id: string) =>
  selectAlignments(db, org).where('monitor_id', '=', monitorId).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export const findAlignment = (db: Db, org: OrgId, id: string) =>
  selectAlignments(db, org).where('id', '=', id).executeTakeFirst()

export const listAlignments = (db: Db, org: OrgId, monitorId: string, page: Page) =>
  selectAlignments(db, org).where('monitor_id', '=', monitorId).$call(newestFirst('id', page)).execute()

/** Locks an alignment until the transaction ends. */
export const lockAlignment = (trx: Db, org: OrgId, id: string) =>
  selectAlignments(trx, org).where('id', '=', id).forUpdate().executeTakeFirst()

const explain = (error: unknown): never => {
  if (violatedConstraint(error) !== 'alignments_unfinished_key') throw error
  throw new ApiError(
    'conflict',
    'An alignment of this monitor is still in progress. Cancel it or wait until it finishes.',
  )
}

type NewAlignment = {
  id: string
  monitorId: string
  monitorVersion: number
  kinds: ProposalKind[]
  maxCost: number | null
  createdByUserId: string
  createdAt: Date
}

export const insertAlignment = (trx: Db, org: OrgId, alignment: NewAlignment) =>
  trx
    .insertInto('alignments')
    .values({
      organization_id: org,
      id: alignment.id,
      monitor_id: alignment.monitorId,
      monitor_version: alignment.monitorVersion,
      status: 'queued',
      kinds: alignment.kinds,
      max_cost: alignment.maxCost,
      created_by_user_id: alignment.createdByUserId,
      created_at: alignment.createdAt,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(explain)

export type AlignmentCase = {
  conversationId: string
  half: Half
  verdict: Verdict
  reviewId: string
  votes: Verdict[]
}

/** Inserts the cases with reviews that still exist. */
export const insertCases = async (trx: Db, org: OrgId, alignmentId: string, cases: AlignmentCase[]): Promise<void> => {
  await sql`
    INSERT INTO alignment_cases (organization_id, alignment_id, conversation_id, half, verdict, review_id, votes)
    SELECT ${org}::uuid, ${alignmentId}::uuid, g.conversation_id, g.half, g.verdict, g.review_id, g.votes::text[]
    FROM unnest(${cases.map(({ conversationId }) => conversationId)}::uuid[], ${cases.map(({ half }) => half)}::text[],
      ${cases.map(({ verdict }) => verdict)}::text[], ${cases.map(({ reviewId }) => reviewId)}::uuid[],
      ${cases.map(({ votes }) => `{${votes.join(',')}}`)}::text[]) AS g(conversation_id, half, verdict, review_id, votes)
    JOIN (SELECT id FROM reviews WHERE organization_id = ${org}
      AND id = ANY(${cases.map(({ reviewId }) => reviewId)}::uuid[]) FOR KEY SHARE) r ON r.id = g.review_id`.execute(
    trx,
  )
}

type AlignmentChange = {
  status?: Status
  failure?: string | null
  report?: object
  maxCost?: number | null
  waits?: number
  resumes?: number
  startedAt?: Date
  finishedAt?: Date | null
}

/** Updates an alignment that the caller has locked. */
export const updateAlignment = (trx: Db, org: OrgId, id: string, change: AlignmentChange) =>
  trx
    .updateTable('alignments')
    .set({
      ...(change.status !== undefined && { status: change.status }),
      ...(change.failure !== undefined && { failure: change.failure }),
      ...(change.report !== undefined && { report: JSON.stringify(change.report) }),
      ...(change.maxCost !== undefined && { max_cost: change.maxCost }),
      ...(change.waits !== undefined && { waits: change.waits }),
      ...(change.resumes !== undefined && { resumes: change.resumes }),
      ...(change.startedAt !== undefined && { started_at: change.startedAt }),
      ...(change.finishedAt !== undefined && { finished_at: change.finishedAt }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(explain)

export const listCases = async (db: Db, org: OrgId, alignmentId: string): Promise<AlignmentCase[]> => {
  const { rows } = await sql<AlignmentCase>`
    SELECT conversation_id AS "conversationId", half, verdict, review_id AS "reviewId", votes FROM alignment_cases
    WHERE organization_id = ${org} AND alignment_id = ${alignmentId}::uuid ORDER BY conversation_id`.execute(db)
  return rows
}

/** Copies the stored results of the current version, except failed ones. */
export const takeStoredResults = async (trx: Db, org: OrgId, alignment: StoredAlignment): Promise<void> => {
  await sql`
    INSERT INTO alignment_results (organization_id, alignment_id, kind, conversation_id, status, result, score,
      is_quoted, quoted_turn)
    SELECT ${org}::uuid, ${alignment.id}::uuid, 'baseline', k.conversation_id,
      (${resultStatuses}::text[])[m.status + 1], (${results}::text[])[m.result + 1], m.score,
      jsonb_array_length(m.evidence) > 0, (m.evidence->0->>'turn')::integer
    FROM alignment_cases k
    JOIN conversations c ON c.organization_id = ${org} AND c.id = k.conversation_id
    JOIN monitor_results m ON m.organization_id = ${org} AND m.monitor_id = ${alignment.monitorId}::uuid
      AND m.call_started_at = c.started_at AND m.conversation_id = c.id
      AND m.monitor_version = ${alignment.monitorVersion} AND m.status < ${codes.failed}
    WHERE k.organization_id = ${org} AND k.alignment_id = ${alignment.id}::uuid
    ON CONFLICT ON CONSTRAINT alignment_results_pkey DO NOTHING`.execute(trx)
}

/** Lists conversations without a result of the current version (`baseline`) or of a proposal. */
export const listMissing = async (
  db: Db,
  org: OrgId,
  { alignmentId, kind, limit }: { alignmentId: string; kind: ProposalKind | 'baseline'; limit: number },
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    SELECT k.conversation_id AS id FROM alignment_cases k
    LEFT JOIN alignment_results a ON a.organization_id = ${org} AND a.alignment_id = k.alignment_id
      AND a.kind = ${kind} AND a.conversation_id = k.conversation_id
    WHERE k.organization_id = ${org} AND k.alignment_id = ${alignmentId}::uuid AND a.kind IS NULL
      AND (${kind} = 'baseline' OR k.half = 'test')
    ORDER BY k.conversation_id LIMIT ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

export type AlignmentResult = {
  kind: string
  conversationId: string
  status: 'scored' | 'unscored' | 'failed'
  result: Verdict | null
  score: number | null
  isQuoted: boolean
  quotedTurn: number | null
}

/** Inserts a result, unless its conversation was erased in the meantime. */
export const insertResult = async (trx: Db, org: OrgId, alignmentId: string, row: AlignmentResult): Promise<void> => {
  await sql`
    INSERT INTO alignment_results (organization_id, alignment_id, kind, conversation_id, status, result, score,
      is_quoted, quoted_turn)
    SELECT k.organization_id, k.alignment_id, ${row.kind}, k.conversation_id, ${row.status}, ${row.result}::text,
      ${row.score}::float8, ${row.isQuoted}, ${row.quotedTurn}::integer
    FROM (SELECT organization_id, alignment_id, conversation_id FROM alignment_cases
      WHERE organization_id = ${org} AND alignment_id = ${alignmentId}::uuid
        AND conversation_id = ${row.conversationId}::uuid FOR KEY SHARE) k
    ON CONFLICT ON CONSTRAINT alignment_results_pkey DO NOTHING`.execute(trx)
}

/** Deletes failed results, so that their conversations are evaluated again. */
export const deleteFailedResults = (trx: Db, org: OrgId, alignmentId: string) =>
  trx
    .deleteFrom('alignment_results')
    .where('organization_id', '=', org)
    .where('alignment_id', '=', alignmentId)
    .where('status', '=', 'failed')
    .execute()

export const listAlignmentResults = async (db: Db, org: OrgId, alignmentId: string): Promise<AlignmentResult[]> => {
  const { rows } = await sql<AlignmentResult>`
    SELECT kind, conversation_id AS "conversationId", status, result, score, is_quoted AS "isQuoted",
      quoted_turn AS "quotedTurn"
    FROM alignment_results WHERE organization_id = ${org} AND alignment_id = ${alignmentId}::uuid`.execute(db)
  return rows
}

type Paid = { input: number; output: number; cost: number; isCostUnknown: boolean }

/** Adds the cost of the model for a proposal or the current version. */
export const addPaid = async (
  trx: Db,
  org: OrgId,
  { alignmentId, kind }: { alignmentId: string; kind: string },
  { input, output, cost, isCostUnknown }: Paid,
): Promise<void> => {
  await sql`
    UPDATE alignments SET input_tokens = input_tokens + ${input}, output_tokens = output_tokens + ${output},
      cost = cost + ${cost}, is_cost_unknown = is_cost_unknown OR ${isCostUnknown}
    WHERE organization_id = ${org} AND id = ${alignmentId}::uuid`.execute(trx)
  await sql`
    UPDATE alignment_proposals SET input_tokens = input_tokens + ${input}, output_tokens = output_tokens + ${output},
      cost = cost + ${cost}
    WHERE organization_id = ${org} AND alignment_id = ${alignmentId}::uuid AND kind = ${kind}`.execute(trx)
}

export type Proposal = {
  kind: ProposalKind
  definition: Definition | null
  reason: string | null
  isRemoved: boolean
  changes: string[]
  measured: unknown
  inputTokens: number
  outputTokens: number
  cost: number
  appliedVersion: number | null
}

export const listProposals = async (db: Db, org: OrgId, alignmentId: string): Promise<Proposal[]> => {
  const { rows } = await sql<Proposal>`
    SELECT kind, definition, reason, is_removed AS "isRemoved", changes, measured,
      input_tokens::float8 AS "inputTokens", output_tokens::float8 AS "outputTokens", cost,
      applied_version AS "appliedVersion"
    FROM alignment_proposals WHERE organization_id = ${org} AND alignment_id = ${alignmentId}::uuid
    ORDER BY array_position(ARRAY['threshold', 'calibration', 'examples', 'guidelines'], kind)`.execute(db)
  return rows
}

type NewProposal = {
  kind: ProposalKind
  definition: object | null
  reason: string | null
  changes: string[]
  /** The reviews that it was learned from. */
  reviewIds: string[]
}

/**
 * Inserts a proposal and its sources. Their conversations are locked against erasure. Returns false if a review was
 * removed in the meantime. In that case, the transaction must be rolled back.
 */
export const insertProposal = async (
  trx: Db,
  org: OrgId,
  alignmentId: string,
  { kind, definition, reason, changes, reviewIds }: NewProposal,
): Promise<boolean> => {
  await sql`
    INSERT INTO alignment_proposals (organization_id, alignment_id, kind, definition, reason, changes)
    VALUES (${org}, ${alignmentId}::uuid, ${kind}, ${definition && JSON.stringify(definition)}::jsonb, ${reason},
      ${changes}::text[])`.execute(trx)
  const { rows } = await sql<{ id: string }>`
    INSERT INTO alignment_sources (organization_id, alignment_id, kind, review_id)
    SELECT ${org}::uuid, ${alignmentId}::uuid, ${kind}, r.id
    FROM (SELECT r.id FROM reviews r
      JOIN conversations c ON c.organization_id = ${org} AND c.id = r.conversation_id
      WHERE r.organization_id = ${org} AND r.id = ANY(${reviewIds}::uuid[])
      ORDER BY c.external_id, c.id FOR KEY SHARE OF c) r
    RETURNING review_id AS id`.execute(trx)
  return rows.length === reviewIds.length
}

export const updateProposal = async (
  trx: Db,
  org: OrgId,
  { alignmentId, kind }: { alignmentId: string; kind: ProposalKind },
  change: { definition?: object; measured?: object; appliedVersion?: number },
): Promise<void> => {
  await trx
    .updateTable('alignment_proposals')
    .set({
      ...(change.definition && { definition: JSON.stringify(change.definition) }),
      ...(change.measured && { measured: JSON.stringify(change.measured) }),
      ...(change.appliedVersion !== undefined && { applied_version: change.appliedVersion }),
    })
    .where('organization_id', '=', org)
    .where('alignment_id', '=', alignmentId)
    .where('kind', '=', kind)
    .execute()
}

/** Lists the notes that reviewers wrote about a monitor, or about the whole conversation. */
export const listNotes = async (db: Db, org: OrgId, monitorId: string, reviewIds: string[]) => {
  const { rows } = await sql<{ reviewId: string; comment: string | null; notes: string | null }>`
    SELECT DISTINCT ON (r.id) r.id AS "reviewId", j.comment, r.notes
    FROM reviews r
    JOIN review_judgments j ON j.organization_id = ${org} AND j.review_id = r.id AND j.monitor_id = ${monitorId}::uuid
    WHERE r.organization_id = ${org} AND r.id = ANY(${reviewIds}::uuid[])
    ORDER BY r.id, j.monitor_version DESC`.execute(db)
  return rows
}

type Progress = { alignmentId: string; done: number; cases: number; tested: number }

/** Returns the number of results that each alignment has and needs. */
export const listProgress = async (db: Db, org: OrgId, alignmentIds: string[]): Promise<Progress[]> => {
  const { rows } = await sql<Progress>`
    SELECT a.id AS "alignmentId",
      (SELECT count(*) FROM alignment_results r WHERE r.organization_id = ${org} AND r.alignment_id = a.id) AS done,
      (SELECT count(*) FROM alignment_cases k WHERE k.organization_id = ${org} AND k.alignment_id = a.id) AS cases,
      (SELECT count(*) FROM alignment_cases k WHERE k.organization_id = ${org} AND k.alignment_id = a.id
        AND k.half = 'test') AS tested
    FROM unnest(${alignmentIds}::uuid[]) AS a(id)`.execute(db)
  return rows
}

/** Lists the proposals that were learned from reviews of these conversations, with their monitors. */
export const listLearned = async (db: Db, org: OrgId, conversationIds: string[]) => {
  const { rows } = await sql<{ alignmentId: string; monitorId: string; kind: ProposalKind }>`
    SELECT DISTINCT s.alignment_id AS "alignmentId", a.monitor_id AS "monitorId", s.kind
    FROM reviews r
    JOIN alignment_sources s ON s.organization_id = ${org} AND s.review_id = r.id
    JOIN alignments a ON a.organization_id = ${org} AND a.id = s.alignment_id
    WHERE r.organization_id = ${org} AND r.conversation_id = ANY(${conversationIds}::uuid[])
    ORDER BY 2, 1, 3`.execute(db)
  return rows
}

type LearnedProposal = { alignmentId: string; kind: ProposalKind; definition: Definition }

/** Locks a monitor's proposals that have examples or guidelines, in the order in which they are measured. */
export const lockProposalsWithLearned = async (trx: Db, org: OrgId, monitorId: string): Promise<LearnedProposal[]> => {
  const { rows } = await sql<LearnedProposal>`
    SELECT p.alignment_id AS "alignmentId", p.kind, p.definition
    FROM alignments a
    JOIN alignment_proposals p ON p.organization_id = ${org} AND p.alignment_id = a.id
    WHERE a.organization_id = ${org} AND a.monitor_id = ${monitorId}::uuid
      AND (p.definition -> 'examples' IS NOT NULL OR p.definition -> 'guidelines' IS NOT NULL)
    ORDER BY p.alignment_id, array_position(ARRAY['threshold', 'calibration', 'examples', 'guidelines'], p.kind)
    FOR NO KEY UPDATE OF p`.execute(trx)
  return rows
}

/** Removes the content of proposals, but keeps their figures. */
export const removeProposals = async (
  trx: Db,
  org: OrgId,
  proposals: { alignmentId: string; kind: ProposalKind }[],
): Promise<void> => {
  await sql`
    UPDATE alignment_proposals p SET definition = NULL, changes = '{}', is_removed = true
    WHERE p.organization_id = ${org} AND (p.alignment_id, p.kind) IN (
      SELECT * FROM unnest(${proposals.map(({ alignmentId }) => alignmentId)}::uuid[],
        ${proposals.map(({ kind }) => kind)}::text[]))`.execute(trx)
}
