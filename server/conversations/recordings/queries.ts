import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { notFound } from '../../platform/errors.ts'

export type RecordingStatus = 'pending' | 'processing' | 'stored' | 'failed' | 'deleted'

/** In milliseconds from the start of the recording. */
export type RedactedSpan = [startMs: number, endMs: number]

const columns = [
  'conversation_id as conversationId',
  sql<RecordingStatus>`status`.as('status'),
  'source_url as sourceUrl',
  'failure',
  // The only file that is ever served.
  'blob_key as blobKey',
  'original_key as originalKey',
  // The file that is measured. As long as the recording has to be redacted, this is the original.
  sql<string | null>`coalesce(blob_key, original_key)`.as('fileKey'),
  sql<RedactedSpan[] | null>`redacted_spans`.as('redactedSpans'),
  'measured_key as measuredKey',
  'content_type as contentType',
  'bytes',
  'created_at as createdAt',
] as const

const selectRecordings = (db: Db, org: OrgId) =>
  db.selectFrom('recordings').select(columns).where('organization_id', '=', org)

export const findRecording = (db: Db, org: OrgId, conversationId: string) =>
  selectRecordings(db, org).where('conversation_id', '=', conversationId).executeTakeFirst()

export const getRecording = (db: Db, org: OrgId, conversationId: string) =>
  selectRecordings(db, org).where('conversation_id', '=', conversationId).executeTakeFirstOrThrow(notFound)

/**
 * Locks the conversation against erasure. If an erasure is in progress, waits for it and returns false. As in erasure
 * and ingest, conversations are locked before their recordings.
 */
export const lockRecordedConversation = async (trx: Db, org: OrgId, conversationId: string): Promise<boolean> => {
  const locked = await trx
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', conversationId)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return locked !== undefined
}

export const lockRecording = (trx: Db, org: OrgId, conversationId: string) =>
  selectRecordings(trx, org).where('conversation_id', '=', conversationId).forUpdate().executeTakeFirst()

/**
 * Copies the status of recordings to their conversations, and clears the measures of earlier recordings. The caller has
 * written the recordings and locked the conversations.
 */
export const updateRecordingStates = async (
  trx: Db,
  org: OrgId,
  conversationIds: string[],
  { status, failure = null }: { status: RecordingStatus; failure?: string | null },
): Promise<void> => {
  if (conversationIds.length === 0) return
  await trx
    .updateTable('conversations')
    .set({ recording_status: status, recording_failure: failure, sound: null })
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .execute()
}

/** Stores the status of a recording if its sound stays the same. */
export const updateRecordingState = async (
  trx: Db,
  org: OrgId,
  conversationId: string,
  { status, failure = null }: { status: RecordingStatus; failure?: string | null },
): Promise<void> => {
  await trx
    .updateTable('recordings')
    .set({ status, failure, updated_at: sql`now()` })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()
  await trx
    .updateTable('conversations')
    .set({ recording_status: status, recording_failure: failure })
    .where('organization_id', '=', org)
    .where('id', '=', conversationId)
    .execute()
}

type SourceRow = { conversationId: string; sourceUrl: string }

/**
 * Stores the URLs of recordings to download, and returns the conversations that need a download. Recordings with a file
 * stay unchanged. So do pending downloads from the same URL, because signed URLs only differ in their query strings.
 */
export const insertPendingRecordings = async (trx: Db, org: OrgId, given: SourceRow[]): Promise<string[]> => {
  // If a conversation has several URLs, the last one counts. The rows have a fixed order, so that two batches never
  // deadlock.
  const last = new Map(given.map(({ conversationId, sourceUrl }) => [conversationId, sourceUrl]))
  const rows = [...last].sort(([a], [b]) => (a < b ? -1 : 1))
  if (rows.length === 0) return []
  const { rows: pending } = await sql<{ conversationId: string }>`
    INSERT INTO recordings AS r (organization_id, conversation_id, source_url, status)
    SELECT ${org}::uuid, g.conversation_id, g.source_url, 'pending'
    FROM unnest(${rows.map(([id]) => id)}::uuid[], ${rows.map(([, url]) => url)}::text[])
      AS g(conversation_id, source_url)
    ON CONFLICT ON CONSTRAINT recordings_pkey
    DO UPDATE SET source_url = excluded.source_url, status = 'pending', failure = NULL,
      updated_at = excluded.updated_at
    WHERE (r.status = 'failed' AND r.original_key IS NULL)
      OR (r.status = 'pending' AND split_part(r.source_url, '?', 1) <> split_part(excluded.source_url, '?', 1))
    RETURNING conversation_id AS "conversationId"`.execute(trx)
  return pending.map(({ conversationId }) => conversationId)
}

export type StoredFile = { blobKey: string; contentType: string; bytes: number }

/** The method that makes redacted words in recordings inaudible. */
type SoundRedaction = 'none' | 'mute' | 'beep'

type Keep = 'all' | 'days' | 'transcript_only' | 'nothing'

/** How the recordings of an agent `a` of an organization `o` are redacted. */
export const effectiveRedaction = sql<SoundRedaction>`coalesce(
  a.sound_redaction, o.sound_redaction, CASE WHEN o.phi_mode AND o.redaction THEN 'mute' ELSE 'none' END)`

/** Returns the policy for a conversation's recording, as determined by its agent and organization. */
export const findRecordingSettings = (db: Db, org: OrgId, conversationId: string) =>
  db
    .selectFrom('conversations as c')
    .innerJoin('agents as a', (join) => join.on('a.organization_id', '=', org).onRef('a.id', '=', 'c.agent_id'))
    .innerJoin('organizations as o', (join) => join.on('o.id', '=', org))
    .select([
      effectiveRedaction.as('redaction'),
      'o.seals_originals as sealsOriginals',
      sql<Keep>`a.recordings_keep`.as('keep'),
      // A recording that only has to be measured is deleted after a day, even if the measurement fails.
      sql<Date | null>`CASE WHEN a.recordings_keep IN ('transcript_only', 'nothing') THEN now() + interval '1 day'
        ELSE c.started_at + make_interval(days => a.recordings_days) END`.as('expiresAt'),
    ])
    .where('c.organization_id', '=', org)
    .where('c.id', '=', conversationId)

export const getRecordingSettings = (db: Db, org: OrgId, conversationId: string) =>
  findRecordingSettings(db, org, conversationId).executeTakeFirstOrThrow(notFound)

/** Returns the values for a new file. A file that has to be redacted or is only measured is not served. */
const valuesOfFile = async (
  trx: Db,
  org: OrgId,
  conversationId: string,
  { blobKey, contentType, bytes }: StoredFile,
) => {
  const { redaction, keep, expiresAt } = await findRecordingSettings(trx, org, conversationId)
    // Without this lock, a change to the policy could miss this recording.
    .forShare('a')
    .executeTakeFirstOrThrow(notFound)
  const isOpen = redaction === 'none' && (keep === 'all' || keep === 'days')
  const status: RecordingStatus = isOpen ? 'stored' : 'processing'
  return {
    status,
    failure: null,
    blob_key: isOpen ? blobKey : null,
    original_key: isOpen ? null : blobKey,
    redacted_spans: null,
    expires_at: expiresAt,
    content_type: contentType,
    bytes,
  }
}

/**
 * Stores the downloaded file. Returns false if the row was changed or deleted in the meantime. Also replaces a failure,
 * because an earlier attempt at the same download may have failed.
 */
export const storeFetched = async (
  trx: Db,
  org: OrgId,
  conversationId: string,
  sourceUrl: string,
  file: StoredFile,
): Promise<boolean> => {
  const values = await valuesOfFile(trx, org, conversationId, file)
  const stored = await trx
    .updateTable('recordings')
    .set({ ...values, updated_at: sql`now()` })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('status', 'in', ['pending', 'failed'])
    .where('original_key', 'is', null)
    .where('source_url', '=', sourceUrl)
    .returning('conversation_id')
    .executeTakeFirst()
  if (stored) await updateRecordingStates(trx, org, [conversationId], { status: values.status })
  return stored !== undefined
}

export const storeUploaded = async (trx: Db, org: OrgId, conversationId: string, file: StoredFile) => {
  const { status, ...ofFile } = await valuesOfFile(trx, org, conversationId, file)
  const values = { source_url: null, status, ...ofFile }
  const recording = await trx
    .insertInto('recordings')
    .values({ organization_id: org, conversation_id: conversationId, ...values })
    .onConflict((conflict) =>
      conflict.constraint('recordings_pkey').doUpdateSet(({ ref }) => ({
        ...values,
        created_at: ref('excluded.created_at'),
        updated_at: ref('excluded.updated_at'),
      })),
    )
    .returning(columns)
    .executeTakeFirstOrThrow()
  await updateRecordingStates(trx, org, [conversationId], { status })
  return recording
}

type RedactedFile = StoredFile & {
  spans: RedactedSpan[]
  /** The sealed original, if it was kept. */
  originalKey: string | null
}

/** Stores the file that is served instead of the original. The caller has locked the conversation and its recording. */
export const storeRedacted = async (
  trx: Db,
  org: OrgId,
  conversationId: string,
  { blobKey, contentType, bytes, spans, originalKey }: RedactedFile,
): Promise<void> => {
  await trx
    .updateTable('recordings')
    .set({
      blob_key: blobKey,
      content_type: contentType,
      bytes,
      original_key: originalKey,
      // pg would write an array as a PostgreSQL array, not as JSON.
      redacted_spans: JSON.stringify(spans),
    })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()
  await updateRecordingState(trx, org, conversationId, { status: 'stored' })
}

/** Matches recordings with a file that has to be measured. Redacted files keep the measures of the originals. */
export const isUnmeasured = sql<boolean>`(
  redacted_spans IS NULL AND measured_key IS DISTINCT FROM coalesce(blob_key, original_key))`

/** Moves the file of a recording between served and unserved files. */
export const moveFile = async (
  trx: Db,
  org: OrgId,
  conversationId: string,
  { blobKey, originalKey }: { blobKey: string | null; originalKey: string | null },
): Promise<void> => {
  await trx
    .updateTable('recordings')
    .set({ blob_key: blobKey, original_key: originalKey })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()
}

/**
 * Clears the references to a recording's files. Its measures stay. The caller has locked the recording, and deletes the
 * files.
 */
export const forgetFiles = async (trx: Db, org: OrgId, conversationId: string): Promise<void> => {
  await trx
    .updateTable('recordings')
    .set({ blob_key: null, original_key: null, measured_key: null, bytes: null, expires_at: null })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .execute()
  await updateRecordingState(trx, org, conversationId, { status: 'deleted' })
}

/**
 * Stops serving redacted recordings of these conversations until they are redacted again, because their transcripts
 * determine what is redacted. Returns the affected conversations. The caller has locked the given ones.
 */
export const withdrawRedacted = async (trx: Db, org: OrgId, conversationIds: string[]): Promise<string[]> => {
  if (conversationIds.length === 0) return []
  const withdrawn = await trx
    .updateTable('recordings')
    .set({ status: 'processing', failure: null, updated_at: sql`now()` })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .where('status', '<>', 'deleted')
    .where(({ or, eb }) => or([eb('original_key', 'is not', null), eb('redacted_spans', 'is not', null)]))
    .returning('conversation_id as id')
    .execute()
  const ids = withdrawn.map(({ id }) => id)
  if (ids.length === 0) return ids
  await trx
    .updateTable('conversations')
    .set({ recording_status: 'processing', recording_failure: null })
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return ids
}

export const failRecording = async (trx: Db, org: OrgId, conversationId: string, failure: string): Promise<void> => {
  const failed = await trx
    .updateTable('recordings')
    .set({ status: 'failed', failure, updated_at: sql`now()` })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'pending')
    .returning('conversation_id as conversationId')
    .execute()
  const ids = failed.map((recording) => recording.conversationId)
  await updateRecordingStates(trx, org, ids, { status: 'failed', failure })
}

/**
 * Returns which of these files belong to a recording, including recordings of conversations that have not arrived yet.
 */
export const listNamedFiles = async (db: Db, org: OrgId, keys: string[]): Promise<string[]> => {
  const { rows } = await sql<{ key: string }>`
    SELECT blob_key AS key FROM recordings WHERE organization_id = ${org} AND blob_key = ANY(${keys}::text[])
    UNION ALL
    SELECT original_key FROM recordings WHERE organization_id = ${org} AND original_key = ANY(${keys}::text[])
    UNION ALL
    SELECT blob_key FROM waiting_recordings WHERE organization_id = ${org} AND blob_key = ANY(${keys}::text[])`.execute(
    db,
  )
  return rows.map(({ key }) => key)
}
