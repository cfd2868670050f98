import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { prepared } from '../../platform/db/prepared.ts'
import type { Signals } from '../../transcripts/signals/signals.ts'

/** Each table is written with one statement for any number of conversations: every column is one array. */

const findSettings = prepared((db, org: OrgId) =>
  db
    .selectFrom('organizations')
    .select(['metrics', sql<boolean>`phi_mode AND redaction`.as('redacts')])
    .where('id', '=', org),
)

export const getIngestSettings = async (db: Db, org: OrgId) => {
  const [settings] = await findSettings(db, org)
  return settings ?? { metrics: false, redacts: true }
}

const stateColumns = [
  'id',
  'external_id as externalId',
  'agent_id as agentId',
  'agent_version_id as agentVersionId',
  'company_id as companyId',
  sql<'call' | 'chat' | 'voicemail'>`channel`.as('channel'),
  sql<'inbound' | 'outbound' | null>`direction`.as('direction'),
  sql<'in_progress' | 'completed' | 'failed'>`status`.as('status'),
  'started_at as startedAt',
  'ended_at as endedAt',
  'duration_seconds as durationSeconds',
  'end_reason as endReason',
  'customer_id as customerId',
  sql<Record<string, unknown>>`metadata`.as('metadata'),
  sql<Signals>`signals`.as('signals'),
] as const

/**
 * Locks conversations in a fixed order, so that two batches never deadlock. The lock does not block rows that refer to
 * them.
 */
export const lockConversationsByExternalId = prepared((db, org: OrgId, externalIds: string[]) =>
  db
    .selectFrom('conversations')
    .select(stateColumns)
    .where('organization_id', '=', org)
    .where('external_id', '=', sql<string>`ANY(${externalIds}::text[])`)
    .orderBy('external_id')
    .forNoKeyUpdate(),
)

export const lockConversation = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('conversations')
    .select(stateColumns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()

/**
 * Reads the transcripts of locked conversations. This must be a separate statement, because a statement that has waited
 * for a lock still sees other tables as they were before.
 */
export const listTranscriptStates = (db: Db, org: OrgId, conversationIds: string[]) =>
  db
    .selectFrom('transcripts')
    .select([
      'conversation_id as conversationId',
      'content_hash as hash',
      'content_length as length',
      'format',
      'unreadable',
      'turn_count as turnCount',
      'transcribed_by as transcribedBy',
    ])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .execute()

export const listTranscriptContents = (db: Db, org: OrgId, conversationIds: string[]) =>
  db
    .selectFrom('transcripts')
    .select(['conversation_id as conversationId', 'content', 'format'])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .execute()

export const findTombstones = prepared((db, org: OrgId, hashes: string[]) =>
  db
    .selectFrom('conversation_tombstones')
    .select('hash')
    .where('organization_id', '=', org)
    .where('hash', '=', sql<string>`ANY(${hashes}::text[])`),
)

export type ConversationRow = {
  id: string
  externalId: string | null
  agentId: string
  agentVersionId: string | null
  companyId: string | null
  channel: string
  direction: string | null
  status: string
  startedAt: Date
  endedAt: Date | null
  durationSeconds: number | null
  endReason: string | null
  customerId: string | null
  metadata: Record<string, unknown>
  signals: Signals
  /** Only set for a new conversation. Later changes update it with the recording. */
  recordingStatus: 'pending' | null
}

type Column<Row> = [name: string, type: string, read: (row: Row) => string | number | null]

const conversationColumns: Column<ConversationRow>[] = [
  ['id', 'uuid', (row) => row.id],
  ['external_id', 'text', (row) => row.externalId],
  ['agent_id', 'uuid', (row) => row.agentId],
  ['agent_version_id', 'uuid', (row) => row.agentVersionId],
  ['company_id', 'uuid', (row) => row.companyId],
  ['channel', 'text', (row) => row.channel],
  ['direction', 'text', (row) => row.direction],
  ['status', 'text', (row) => row.status],
  ['started_at', 'timestamptz', (row) => row.startedAt.toISOString()],
  ['ended_at', 'timestamptz', (row) => row.endedAt?.toISOString() ?? null],
  ['duration_seconds', 'int', (row) => row.durationSeconds],
  ['end_reason', 'text', (row) => row.endReason],
  ['customer_id', 'text', (row) => row.customerId],
  ['metadata', 'jsonb', (row) => JSON.stringify(row.metadata)],
  ['signals', 'jsonb', (row) => JSON.stringify(row.signals)],
  ['recording_status', 'text', (row) => row.recordingStatus],
]

const writtenOnce = new Set(['id', 'external_id', 'recording_status'])

export type TranscriptRow = {
  conversationId: string
  content: string
  hash: string
  length: number
  format: string | null
  unreadable: string | null
  turnCount: number
  transcribedBy: string | null
  /** The searchable text. */
  text: string
}

const transcriptColumns: Column<TranscriptRow>[] = [
  ['conversation_id', 'uuid', (row) => row.conversationId],
  ['content', 'text', (row) => row.content],
  ['content_hash', 'text', (row) => row.hash],
  ['content_length', 'int', (row) => row.length],
  ['format', 'text', (row) => row.format],
  ['unreadable', 'text', (row) => row.unreadable],
  ['turn_count', 'int', (row) => row.turnCount],
  ['transcribed_by', 'text', (row) => row.transcribedBy],
]

const namesOf = (columns: Column<never>[], prefix = '') => sql.raw(columns.map(([name]) => prefix + name).join(', '))

/**
 * Values with at least this many characters are sent separately. In an array, they would be escaped, which takes
 * several times as long as sending them.
 */
const longArray = 256 * 1024

const arrayOf = (values: (string | number | null)[], type: string): RawBuilder<unknown> => {
  const length = values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
  const isLong = length > longArray && length / values.length > 4_096
  return isLong ? sql`ARRAY[${sql.join(values)}]::${sql.raw(type)}[]` : sql`${values}::${sql.raw(type)}[]`
}

/**
 * Builds the rows of an INSERT. A single row uses VALUES, because a Citus cluster sends it directly to its shard. With
 * a SELECT, the cluster would first copy the rows to the node.
 */
const insertedRows = <Row>(org: OrgId, columns: Column<Row>[], rows: Row[], words?: (row: Row) => string) => {
  const [row, ...others] = rows
  if (row && others.length === 0) {
    const values = columns.map(([, , read]) => sql`${read(row)}`)
    if (words) values.push(sql`to_tsvector('simple', ${words(row)})`)
    return sql`VALUES (${sql.join([sql`${org}`, ...values])})`
  }
  const more: Column<Row>[] = words ? [['said', 'text', words]] : []
  return sql`SELECT ${org}::uuid, ${namesOf(columns)} ${sql.raw(words ? ", to_tsvector('simple', said)" : '')}
    FROM ${givenRows(columns, rows, more)}`
}

/** Builds `unnest($1::uuid[], $2::text[], …) AS given(id, external_id, …)`. */
const givenRows = <Row>(columns: Column<Row>[], rows: Row[], more: Column<Row>[] = []): RawBuilder<unknown> => {
  const all = [...columns, ...more]
  const arrays = all.map(([, type, read]) => arrayOf(rows.map(read), type))
  return sql`unnest(${sql.join(arrays)}) AS given(${namesOf(all)})`
}

/**
 * Inserts conversations and returns the number of new ones. Another transaction may have inserted some of them first.
 * Counts the returned rows, because the command tag of a distributed INSERT … SELECT counts the given rows.
 */
export const insertConversations = async (db: Db, org: OrgId, rows: ConversationRow[]): Promise<number> => {
  const names = namesOf(conversationColumns)
  const { rows: inserted } = await sql`
    INSERT INTO conversations (organization_id, ${names})
    ${insertedRows(org, conversationColumns, rows)}
    ON CONFLICT ON CONSTRAINT conversations_external_id_key DO NOTHING RETURNING 1`.execute(db)
  return inserted.length
}

export const updateConversations = async (db: Db, org: OrgId, rows: ConversationRow[]): Promise<void> => {
  const changing = conversationColumns.filter(([name]) => !writtenOnce.has(name))
  await sql`
    UPDATE conversations c
    SET ${sql.raw(changing.map(([name]) => `${name} = given.${name}`).join(', '))}, updated_at = now()
    FROM ${givenRows(conversationColumns, rows)}
    WHERE c.organization_id = ${org} AND c.id = given.id`.execute(db)
}

export const upsertTranscripts = async (db: Db, org: OrgId, rows: TranscriptRow[]): Promise<void> => {
  const changing = transcriptColumns.filter(([name]) => name !== 'conversation_id')
  await sql`
    INSERT INTO transcripts (organization_id, ${namesOf(transcriptColumns)}, words)
    ${insertedRows(org, transcriptColumns, rows, (row) => row.text)}
    ON CONFLICT ON CONSTRAINT transcripts_pkey DO UPDATE
    SET ${sql.raw(changing.map(([name]) => `${name} = excluded.${name}`).join(', '))},
      words = excluded.words, updated_at = excluded.updated_at`.execute(db)
}
