import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type Erased = { id: string; externalId: string | null; startedAt: Date; agentId: string }

/**
 * Locks conversations in the same order as ingest does. An ingest that waits for these locks then finds the tombstones.
 */
export const lockErased = (trx: Db, org: OrgId, ids: string[]): Promise<Erased[]> =>
  trx
    .selectFrom('conversations')
    .select(['id', 'external_id as externalId', 'started_at as startedAt', 'agent_id as agentId'])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .orderBy('external_id')
    .orderBy('id')
    .forUpdate()
    .execute()

export const insertTombstones = async (trx: Db, org: OrgId, hashes: string[]): Promise<void> => {
  await sql`
    INSERT INTO conversation_tombstones (organization_id, hash) SELECT ${org}::uuid, unnest(${hashes}::text[])
    ON CONFLICT DO NOTHING`.execute(trx)
}

export const listErasedFiles = async (trx: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await trx
    .selectFrom('recordings')
    .select(['blob_key as blobKey', 'original_key as originalKey'])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return rows.flatMap(({ blobKey, originalKey }) => [blobKey, originalKey].filter((key) => key !== null))
}

/**
 * Deletes conversations. Foreign keys also delete their transcripts, recordings, metrics, reviews, and entries in
 * findings.
 */
export const deleteConversations = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await trx
    .deleteFrom('conversations')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}

export const listRetainingOrganizationsAllOrgs = (db: Db) =>
  db.selectFrom('organizations').select(sql<OrgId>`id`.as('id')).where('retention_days', 'is not', null).execute()

/** Returns the retention period, or null if all conversations are kept. */
export const findRetentionDays = async (db: Db, org: OrgId): Promise<number | null> => {
  const found = await db
    .selectFrom('organizations')
    .select('retention_days as days')
    .where('id', '=', org)
    .executeTakeFirst()
  return found?.days ?? null
}

type ErasurePosition = { startedAt: Date; id: string }

/**
 * Lists conversations past their retention period, oldest first. `after` skips conversations that were just erased,
 * because their index entries still exist.
 */
export const listOutdatedConversations = (
  db: Db,
  org: OrgId,
  before: Date,
  limit: number,
  after: ErasurePosition | undefined,
) =>
  db
    .selectFrom('conversations')
    .select(['id', 'started_at as startedAt'])
    .where('organization_id', '=', org)
    .where('started_at', '<', before)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(started_at, id) > (${after?.startedAt}, ${after?.id}::uuid)`),
    )
    .orderBy('started_at')
    .orderBy('id')
    .limit(limit)
    .execute()
