import { sql } from 'kysely'
import { type Resolved, whereSelected } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'

type Status = 'pending' | 'completed' | 'failed'

const mostNamed = 10

/** Returns whether the organization transcribes with a provider, and the names of the agents that do. */
export const listUses = async (db: Db, org: OrgId, providerId: string) => {
  const isOfProvider = sql<boolean>`starts_with(lower(transcription_model), ${`${providerId}/`})`
  const organization = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', org)
    .where(isOfProvider)
    .executeTakeFirst()
  const agents = await db
    .selectFrom('agents')
    .select('name')
    .where('organization_id', '=', org)
    .where(isOfProvider)
    .orderBy('name')
    .limit(mostNamed)
    .execute()
  return { organization: organization !== undefined, agents: agents.map(({ name }) => name) }
}

/** Recordings that wait for redaction need a transcript, too. Their only file is the original. */
const hasFile = sql<boolean>`r.status IN ('stored', 'processing')`

/** Returns which of these conversations have ended and have a measured recording, but no transcript. */
export const listUntranscribed = async (db: Db, org: OrgId, ids: string[]) => {
  const { rows } = await sql<{ id: string; agentId: string; blobKey: string }>`
    SELECT c.id, c.agent_id AS "agentId", r.measured_key AS "blobKey"
    FROM conversations c
    JOIN recordings r ON r.organization_id = ${org} AND r.conversation_id = c.id
    JOIN agents a ON a.organization_id = ${org} AND a.id = c.agent_id
    WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[]) AND c.status <> 'in_progress'
      AND a.recordings_keep <> 'transcript_only'
      AND ${hasFile} AND r.measured_key = coalesce(r.blob_key, r.original_key)
      AND NOT EXISTS (
        SELECT FROM transcripts t WHERE t.organization_id = ${org} AND t.conversation_id = c.id)`.execute(db)
  return rows
}

type NewTranscription = { conversationId: string; model: string; blobKey: string }

/**
 * Inserts pending transcriptions. Replaces earlier ones if they belong to another recording or, with `retry`, if they
 * failed. Returns the conversations with an inserted or replaced transcription.
 */
export const insertTranscriptions = async (
  trx: Db,
  org: OrgId,
  given: NewTranscription[],
  { runId, retry, now }: { runId: string | null; retry: boolean; now: Date },
): Promise<string[]> => {
  // Citus doesn't support parameters in this update.
  const isOutdated = retry
    ? sql`(x.blob_key <> excluded.blob_key OR x.status = 'failed')`
    : sql`x.blob_key <> excluded.blob_key`
  const { rows } = await sql<{ id: string }>`
    INSERT INTO transcriptions AS x (organization_id, conversation_id, model, blob_key, run_id, created_at)
    SELECT ${org}::uuid, g.conversation_id, g.model, g.blob_key, ${runId}::uuid, ${now}::timestamptz
    FROM unnest(${given.map((one) => one.conversationId)}::uuid[], ${given.map((one) => one.model)}::text[],
      ${given.map((one) => one.blobKey)}::text[]) AS g(conversation_id, model, blob_key)
    ON CONFLICT ON CONSTRAINT transcriptions_pkey DO UPDATE SET
      status = 'pending', model = excluded.model, blob_key = excluded.blob_key, run_id = excluded.run_id,
      failure = NULL, created_at = excluded.created_at, ended_at = NULL
    WHERE x.status <> 'pending' AND ${isOutdated}
    RETURNING conversation_id AS id`.execute(trx)
  return rows.map(({ id }) => id)
}

const columns = [
  sql<Status>`status`.as('status'),
  'model',
  'blob_key as blobKey',
  'created_at as createdAt',
  'audio_seconds as audioSeconds',
  'cost',
] as const

export type StoredTranscription = NonNullable<Awaited<ReturnType<typeof findTranscription>>>

export const findTranscription = (db: Db, org: OrgId, conversationId: string) =>
  db
    .selectFrom('transcriptions')
    .select(columns)
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()

/** Locks a pending transcription. Returns undefined if there is none. */
export const lockPending = (trx: Db, org: OrgId, conversationId: string) =>
  trx
    .selectFrom('transcriptions')
    .select(columns)
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'pending')
    .forUpdate()
    .executeTakeFirst()

type TranscriptionChange = Partial<{
  status: Status
  blobKey: string
  failure: string
  audioSeconds: number
  cost: number | null
  endedAt: Date
}>

export const updateTranscription = (trx: Db, org: OrgId, conversationId: string, change: TranscriptionChange) =>
  trx
    .updateTable('transcriptions')
    .set({
      ...(change.status !== undefined && { status: change.status }),
      ...(change.blobKey !== undefined && { blob_key: change.blobKey }),
      ...(change.failure !== undefined && { failure: change.failure }),
      ...(change.audioSeconds !== undefined && { audio_seconds: change.audioSeconds }),
      ...(change.cost !== undefined && { cost: change.cost }),
      ...(change.endedAt !== undefined && { ended_at: change.endedAt }),
    })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()

export const deleteTranscription = (trx: Db, org: OrgId, conversationId: string) =>
  trx
    .deleteFrom('transcriptions')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()

export const listParts = (db: Db, org: OrgId, conversationId: string) =>
  db
    .selectFrom('transcription_parts')
    .select(['key', sql<object>`content`.as('content')])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()

export const insertPart = (trx: Db, org: OrgId, conversationId: string, key: string, content: object) =>
  trx
    .insertInto('transcription_parts')
    .values({ organization_id: org, conversation_id: conversationId, key, content: JSON.stringify(content) })
    .onConflict((conflict) => conflict.constraint('transcription_parts_pkey').doNothing())
    .execute()

export const deleteParts = (trx: Db, org: OrgId, conversationId: string) =>
  trx
    .deleteFrom('transcription_parts')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()

/** Deletes the pending transcriptions of a run. */
export const deletePendingOfRun = (trx: Db, org: OrgId, runId: string) =>
  trx
    .deleteFrom('transcriptions')
    .where('organization_id', '=', org)
    .where('run_id', '=', runId)
    .where('status', '=', 'pending')
    .returning('conversation_id')
    .execute()

/** Counts the transcriptions of each run. */
export const countOfRuns = async (db: Db, org: OrgId, runIds: string[]) => {
  const { rows } = await sql<{ runId: string; pending: number; completed: number; failed: number; cost: number }>`
    SELECT run_id AS "runId", count(*) FILTER (WHERE status = 'pending') AS pending,
      count(*) FILTER (WHERE status = 'completed') AS completed, count(*) FILTER (WHERE status = 'failed') AS failed,
      coalesce(sum(cost), 0)::float8 AS cost
    FROM transcriptions WHERE organization_id = ${org} AND run_id = ANY(${runIds}::uuid[])
    GROUP BY run_id`.execute(db)
  return rows
}

/**
 * Counts the stored recordings without a transcript by agent, and adds up the seconds of those with a known duration.
 */
export const countUntranscribed = (db: Db, org: OrgId, filter: Resolved) =>
  whereSelected(db.selectFrom('conversations'), org, filter)
    .innerJoin('recordings as r', (join) =>
      join.on('r.organization_id', '=', org).onRef('r.conversation_id', '=', 'conversations.id'),
    )
    .where(hasFile)
    .where('conversations.status', '<>', 'in_progress')
    .where(
      sql<boolean>`NOT EXISTS (
        SELECT FROM transcripts t WHERE t.organization_id = ${org} AND t.conversation_id = r.conversation_id)`,
    )
    .select([
      'conversations.agent_id as agentId',
      sql<number>`count(*)`.as('recordings'),
      sql<number>`count(conversations.duration_seconds)`.as('timed'),
      sql<number>`coalesce(sum(conversations.duration_seconds), 0)::float8`.as('seconds'),
    ])
    .groupBy('conversations.agent_id')
    .execute()

/** Returns whether the organization or one of its agents has a model for transcription. */
export const hasTranscriptionModel = async (db: Db, org: OrgId): Promise<boolean> => {
  const organization = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', org)
    .where('transcription_model', 'is not', null)
    .executeTakeFirst()
  if (organization) return true
  const agent = await db
    .selectFrom('agents')
    .select('id')
    .where('organization_id', '=', org)
    .where('transcription_model', '<>', 'none')
    .limit(1)
    .executeTakeFirst()
  return agent !== undefined
}

/** Adds pending transcriptions that belong to no run to this run. */
export const adoptPending = (trx: Db, org: OrgId, conversationIds: string[], runId: string) =>
  trx
    .updateTable('transcriptions')
    .set({ run_id: runId })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .where('status', '=', 'pending')
    .where('run_id', 'is', null)
    .execute()
