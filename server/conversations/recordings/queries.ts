import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { notFound } from '../../platform/errors.ts'

export type RecordingStatus = 'pending' | 'stored' | 'failed'

const columns = [
  'conversation_id as conversationId',
  sql<RecordingStatus>`status`.as('status'),
  'source_url as sourceUrl',
  'failure',
  'blob_key as blobKey',
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

export const conversationExists = async (db: Db, org: OrgId, conversationId: string): Promise<boolean> => {
  const found = await db
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', conversationId)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Locks the conversation against erasure. If an erasure is in progress, waits for it and returns false. Like in erasure
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
 * Copies the status of recordings to their conversations, and forgets what was measured of earlier recordings. The caller
 * has written the recordings and locked the conversations.
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

type SourceRow = { conversationId: string; sourceUrl: string }

/**
 * Stores the URLs of recordings to download, and returns the conversations that need a download. Stored recordings
 * stay. Pending downloads from the same URL also stay, because signed URLs only differ in their query.
 */
export const insertPendingRecordings = async (trx: Db, org: OrgId, given: SourceRow[]): Promise<string[]> => {
  // If a conversation has several URLs, the last one counts. The rows have one order, so that two batches never
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
    WHERE r.status = 'failed'
      OR (r.status = 'pending' AND split_part(r.source_url, '?', 1) <> split_part(excluded.source_url, '?', 1))
    RETURNING conversation_id AS "conversationId"`.execute(trx)
  return pending.map(({ conversationId }) => conversationId)
}

export type StoredFile = { blobKey: string; contentType: string; bytes: number }

/**
 * Stores the downloaded file. Returns false if the row was changed or deleted in the meantime. Also replaces a failure,
 * because an earlier attempt of the same download may have failed.
 */
export const storeFetched = async (
  trx: Db,
  org: OrgId,
  conversationId: string,
  sourceUrl: string,
  file: StoredFile,
): Promise<boolean> => {
  const stored = await trx
    .updateTable('recordings')
    .set({
      status: 'stored',
      failure: null,
      blob_key: file.blobKey,
      content_type: file.contentType,
      bytes: file.bytes,
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('status', '<>', 'stored')
    .where('source_url', '=', sourceUrl)
    .returning('conversation_id')
    .executeTakeFirst()
  if (stored) await updateRecordingStates(trx, org, [conversationId], { status: 'stored' })
  return stored !== undefined
}

export const storeUploaded = async (trx: Db, org: OrgId, conversationId: string, file: StoredFile) => {
  const values = {
    source_url: null,
    status: 'stored',
    failure: null,
    blob_key: file.blobKey,
    content_type: file.contentType,
    bytes: file.bytes,
  }
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
  await updateRecordingStates(trx, org, [conversationId], { status: 'stored' })
  return recording
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

/** Returns which of these files belong to a recording, including recordings whose conversation has not arrived yet. */
export const listNamedFiles = async (db: Db, org: OrgId, keys: string[]): Promise<string[]> => {
  const { rows } = await sql<{ key: string }>`
    SELECT blob_key AS key FROM recordings WHERE organization_id = ${org} AND blob_key = ANY(${keys}::text[])
    UNION ALL
    SELECT blob_key FROM waiting_recordings WHERE organization_id = ${org} AND blob_key = ANY(${keys}::text[])`.execute(
    db,
  )
  return rows.map(({ key }) => key)
}
