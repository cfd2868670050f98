import { type Selection, sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { prepared } from '../platform/db/prepared.ts'
import type { DB } from '../platform/db/tables.ts'
import { notFound } from '../platform/errors.ts'
import type { Signals } from '../transcripts/signals/signals.ts'

/**
 * All columns belong to one table, so that a Citus cluster doesn't have to plan a join. JSON is selected as text,
 * because otherwise the coordinator would parse it and write it again.
 */
export const columns = [
  'conversations.id',
  'conversations.external_id as externalId',
  'conversations.agent_id as agentId',
  'conversations.agent_version_id as agentVersionId',
  'conversations.company_id as companyId',
  sql<'call' | 'chat' | 'voicemail'>`conversations.channel`.as('channel'),
  sql<'inbound' | 'outbound' | null>`conversations.direction`.as('direction'),
  sql<'in_progress' | 'completed' | 'failed'>`conversations.status`.as('status'),
  'conversations.started_at as startedAt',
  'conversations.ended_at as endedAt',
  'conversations.duration_seconds as durationSeconds',
  'conversations.end_reason as endReason',
  'conversations.customer_id as customerId',
  sql<string>`conversations.metadata::text`.as('metadataText'),
  sql<string>`conversations.signals::text`.as('signalsText'),
  sql<'pending' | 'processing' | 'stored' | 'failed' | 'deleted' | null>`conversations.recording_status`.as(
    'recordingStatus',
  ),
  'conversations.recording_failure as recordingFailure',
  sql<'none' | 'pending' | 'in_progress' | 'completed'>`conversations.review_status`.as('reviewStatus'),
  'conversations.created_at as createdAt',
  'conversations.updated_at as updatedAt',
] as const

type Row = Selection<DB, 'conversations', (typeof columns)[number]>

export const readRow = ({ metadataText, signalsText, recordingStatus, recordingFailure, ...row }: Row) => ({
  ...row,
  metadata: JSON.parse(metadataText) as Record<string, unknown>,
  signals: JSON.parse(signalsText) as Signals,
  recording: recordingStatus === null ? null : { status: recordingStatus, failure: recordingFailure },
})

export const selectConversations = (db: Db, org: OrgId) =>
  db.selectFrom('conversations').select(columns).where('conversations.organization_id', '=', org)

const findConversation = prepared((db, org: OrgId, id: string) =>
  selectConversations(db, org).where('conversations.id', '=', id),
)

export const getConversation = async (db: Db, org: OrgId, id: string) => {
  const [row] = await findConversation(db, org, id)
  if (!row) throw notFound()
  return readRow(row)
}

type TranscriptionStatus = 'pending' | 'completed' | 'failed'

/** Returns everything that the API's transcript needs, even if the conversation has no transcript. */
export const getTranscript = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('conversations as c')
    .leftJoin('transcripts as t', (join) =>
      join.onRef('t.organization_id', '=', 'c.organization_id').onRef('t.conversation_id', '=', 'c.id'),
    )
    .leftJoin('agent_versions as v', (join) =>
      join.onRef('v.organization_id', '=', 'c.organization_id').onRef('v.id', '=', 'c.agent_version_id'),
    )
    .leftJoin('transcriptions as x', (join) =>
      join.on('x.organization_id', '=', org).onRef('x.conversation_id', '=', 'c.id'),
    )
    .select([
      'c.id as conversationId',
      'c.created_at as conversationCreatedAt',
      'c.started_at as startedAt',
      'c.duration_seconds as durationSeconds',
      'c.recording_status as recordingStatus',
      't.created_at as createdAt',
      't.content',
      't.format',
      't.unreadable',
      't.transcribed_by as transcribedBy',
      'v.system_prompt as systemPrompt',
      sql<TranscriptionStatus | null>`x.status`.as('transcriptionStatus'),
      'x.model as transcriptionModel',
      'x.failure as transcriptionFailure',
      'x.audio_seconds as transcriptionSeconds',
      'x.cost as transcriptionCost',
      'x.created_at as transcriptionCreatedAt',
      'x.ended_at as transcriptionEndedAt',
    ])
    .where('c.organization_id', '=', org)
    .where('c.id', '=', id)
    .executeTakeFirstOrThrow(notFound)

/** Finds the conversations of a batch, by ID or external ID. */
export type ConversationNames = { ids: string[]; externalIds: string[] }

const selectNamed = (db: Db, org: OrgId, { ids, externalIds }: ConversationNames) =>
  db
    .selectFrom('conversations')
    .select(['id', 'external_id as externalId'])
    .where('organization_id', '=', org)
    .where(({ or, eb }) =>
      or([
        eb('id', '=', sql<string>`ANY(${ids}::uuid[])`),
        eb('external_id', '=', sql<string>`ANY(${externalIds}::text[])`),
      ]),
    )

export const findNamedConversations = (db: Db, org: OrgId, names: ConversationNames) =>
  selectNamed(db, org, names).execute()

/** Locks conversations in the same order as ingest does, so that their counts stay correct. */
export const lockNamedConversations = (db: Db, org: OrgId, names: ConversationNames) =>
  selectNamed(db, org, names).orderBy('external_id').orderBy('id').forNoKeyUpdate().execute()

/** Returns the time when the latest conversation arrived. IDs increase with time. */
export const findLastArrival = async (db: Db, org: OrgId): Promise<Date | undefined> => {
  const row = await db
    .selectFrom('conversations')
    .select('created_at as at')
    .where('organization_id', '=', org)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.at
}
