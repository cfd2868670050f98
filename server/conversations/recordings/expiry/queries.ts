import { sql } from 'kysely'
import type { Db, OrgId } from '../../../platform/db/database.ts'
import { isUnmeasured } from '../queries.ts'

export const listExpiringOrganizationsAllOrgs = (db: Db, now: Date) =>
  db
    .selectFrom('recordings')
    .select(sql<OrgId>`organization_id`.as('id'))
    .distinct()
    .where('expires_at', '<', now)
    .execute()

export type Expired = { conversationId: string; expiresAt: Date }

/** Lists recordings with files that are due for deletion, oldest first. */
export const listExpired = (db: Db, org: OrgId, now: Date, limit: number, after: Expired | undefined) =>
  db
    .selectFrom('recordings')
    .select(['conversation_id as conversationId', sql<Date>`expires_at`.as('expiresAt')])
    .where('organization_id', '=', org)
    .where('expires_at', '<', now)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(expires_at, conversation_id) > (${after?.expiresAt}, ${after?.conversationId}::uuid)`),
    )
    .orderBy('expires_at')
    .orderBy('conversation_id')
    .limit(limit)
    .execute()

/** Locks conversations in a fixed order, so that two batches never deadlock, and then their recordings. */
export const lockExpired = async (trx: Db, org: OrgId, conversationIds: string[], now: Date) => {
  await trx
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .orderBy('external_id')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return trx
    .selectFrom('recordings')
    .select([
      'conversation_id as conversationId',
      'blob_key as blobKey',
      'original_key as originalKey',
      // Rules or judges wait for the sound of these.
      sql<boolean>`(status = 'processing' OR ${isUnmeasured})`.as('isUnsettled'),
    ])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .where('expires_at', '<', now)
    .orderBy('conversation_id')
    .forUpdate()
    .execute()
}

export const findPolicy = (db: Db, org: OrgId, agentId: string) =>
  db
    .selectFrom('agents')
    .select(['recordings_keep as keep', 'recordings_days as days'])
    .where('organization_id', '=', org)
    .where('id', '=', agentId)
    .executeTakeFirst()

type Position = { startedAt: Date; id: string }

/** Lists an agent's conversations that may have a recording, oldest first. */
export const listRecorded = (db: Db, org: OrgId, agentId: string, limit: number, after: Position | undefined) =>
  db
    .selectFrom('conversations')
    .select(['id', 'started_at as startedAt'])
    .where('organization_id', '=', org)
    .where('agent_id', '=', agentId)
    .where('recording_status', 'in', ['stored', 'processing', 'failed'])
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(started_at, id) > (${after?.startedAt}, ${after?.id}::uuid)`),
    )
    .orderBy('started_at')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Sets the time when the files of recordings are deleted. Skips recordings without a file. */
export const setExpiry = async (
  trx: Db,
  org: OrgId,
  rows: { conversationId: string; expiresAt: Date | null }[],
): Promise<void> => {
  await sql`
    UPDATE recordings SET expires_at = given.expires_at
    FROM unnest(${rows.map(({ conversationId }) => conversationId)}::uuid[],
      ${rows.map(({ expiresAt }) => expiresAt)}::timestamptz[]) AS given(conversation_id, expires_at)
    WHERE organization_id = ${org} AND recordings.conversation_id = given.conversation_id
      AND coalesce(blob_key, original_key) IS NOT NULL`.execute(trx)
}
