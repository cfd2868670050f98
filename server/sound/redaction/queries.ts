import type { Db, OrgId } from '../../platform/db/database.ts'

const selectTranscript = (db: Db, org: OrgId, conversationId: string) =>
  db
    .selectFrom('conversations as c')
    .leftJoin('transcripts as t', (join) =>
      join.onRef('t.organization_id', '=', 'c.organization_id').onRef('t.conversation_id', '=', 'c.id'),
    )
    .where('c.organization_id', '=', org)
    .where('c.id', '=', conversationId)

/** The transcript that decides what is redacted. */
export type TranscriptState = { status: string; contentHash: string | null }

export const findTranscriptState = (db: Db, org: OrgId, conversationId: string): Promise<TranscriptState | undefined> =>
  selectTranscript(db, org, conversationId).select(['c.status', 't.content_hash as contentHash']).executeTakeFirst()

export const findTranscript = (db: Db, org: OrgId, conversationId: string) =>
  selectTranscript(db, org, conversationId)
    .select(['c.status', 'c.started_at as startedAt', 't.content_hash as contentHash', 't.content', 't.format'])
    .executeTakeFirst()
