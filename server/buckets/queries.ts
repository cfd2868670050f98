import { sql } from 'kysely'
import type { Selection } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { violatedConstraint } from '../platform/db/errors.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

export type BucketType = 'static' | 'dynamic' | 'sampled'

const columns = [
  'id',
  'organization_id as organizationId',
  'agent_id as agentId',
  'name',
  sql<BucketType>`type`.as('type'),
  sql<Selection>`filters`.as('filters'),
  'created_at as createdAt',
  'updated_at as updatedAt',
  'share',
  'per_week as perWeek',
  'reviewer_user_ids as reviewerUserIds',
  'reviews_per_conversation as reviewsPerConversation',
  'monitor_ids as monitorIds',
  'blind',
  'note_on_disagreement as noteOnDisagreement',
] as const

const selectBuckets = (db: Db, org: OrgId) =>
  db.selectFrom('buckets').select(columns).where('organization_id', '=', org)

export const listBuckets = (db: Db, org: OrgId, page: Page) =>
  selectBuckets(db, org).$call(newestFirst('id', page)).execute()

export const getBucket = (db: Db, org: OrgId, id: string) =>
  selectBuckets(db, org).where('id', '=', id).executeTakeFirstOrThrow(notFound)

export type StoredBucket = Awaited<ReturnType<typeof getBucket>>

/**
 * Locks the bucket against deletion until the transaction ends. Callers lock the bucket before they lock its
 * conversations.
 */
export const lockBucketShared = (trx: Db, org: OrgId, id: string) =>
  selectBuckets(trx, org).where('id', '=', id).forKeyShare().executeTakeFirstOrThrow(notFound)

/** Locks the bucket against changes. */
export const lockBucket = (trx: Db, org: OrgId, id: string) =>
  selectBuckets(trx, org).where('id', '=', id).forNoKeyUpdate().executeTakeFirstOrThrow(notFound)

export const countBuckets = async (db: Db, org: OrgId): Promise<number> => {
  const { count } = await db
    .selectFrom('buckets')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  return count
}

/** Returns which of these people can review: members with a role that allows writing. */
export const findReviewers = async (db: Db, org: OrgId, userIds: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('members')
    .select('user_id as userId')
    .where('organization_id', '=', org)
    .where('user_id', '=', sql<string>`ANY(${userIds}::uuid[])`)
    .where('role', '>=', 'member')
    .execute()
  return rows.map(({ userId }) => userId)
}

const explain = (error: unknown): never => {
  switch (violatedConstraint(error)) {
    case 'buckets_name_key':
      throw new ApiError('conflict', 'Another bucket has this name.')
    case 'buckets_agent_fkey':
      throw invalid('agentId', 'must be an agent of this organization')
    default:
      throw error
  }
}

export type BucketSettings = {
  name: string
  agentId: string | null
  filters: Selection
  share: number | null
  perWeek: number | null
  reviewerUserIds: string[]
  reviewsPerConversation: number
  monitorIds: string[]
  blind: boolean
  noteOnDisagreement: boolean
}

const valuesOf = (settings: BucketSettings) => ({
  name: settings.name,
  agent_id: settings.agentId,
  filters: JSON.stringify(settings.filters),
  share: settings.share,
  per_week: settings.perWeek,
  reviewer_user_ids: settings.reviewerUserIds,
  reviews_per_conversation: settings.reviewsPerConversation,
  monitor_ids: settings.monitorIds,
  blind: settings.blind,
  note_on_disagreement: settings.noteOnDisagreement,
})

type NewBucket = BucketSettings & { id: string; type: BucketType; drawnUntil: Date | null }

export const insertBucket = (trx: Db, org: OrgId, { id, type, drawnUntil, ...settings }: NewBucket) =>
  trx
    .insertInto('buckets')
    .values({ organization_id: org, id, type, drawn_until: drawnUntil, ...valuesOf(settings) })
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(explain)

type Restart = { drawnUntil: Date | null }

/**
 * Updates a bucket. With `restart`, the bucket selects its conversations again, because its new settings match
 * different ones.
 */
export const updateBucket = (trx: Db, org: OrgId, id: string, settings: BucketSettings, restart?: Restart) =>
  trx
    .updateTable('buckets')
    .set({
      ...valuesOf(settings),
      ...(restart && { follows_since: sql`now()`, drawn_until: restart.drawnUntil }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()
    .catch(explain)

/** Locks a bucket against any other use. Returns its conversations. */
export const lockWholeBucket = async (trx: Db, org: OrgId, id: string): Promise<string[]> => {
  await trx
    .selectFrom('buckets')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)
  const items = await trx
    .selectFrom('bucket_conversations')
    .select('conversation_id as conversationId')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', id)
    .execute()
  return items.map(({ conversationId }) => conversationId)
}

/**
 * Deletes the bucket with its locked conversations and unfinished reviews. Finished reviews remain as reviews outside
 * buckets.
 */
export const deleteBucket = async (trx: Db, org: OrgId, id: string): Promise<void> => {
  await trx.deleteFrom('bucket_conversations').where('organization_id', '=', org).where('bucket_id', '=', id).execute()
  await trx
    .deleteFrom('reviews')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', id)
    .where('status', 'in', ['pending', 'in_progress'])
    .execute()
  await trx
    .updateTable('reviews')
    .set({ bucket_id: null })
    .where('organization_id', '=', org)
    .where('bucket_id', '=', id)
    .execute()
  await trx.deleteFrom('buckets').where('organization_id', '=', org).where('id', '=', id).execute()
}

/**
 * Returns whether `conversations c` was reviewed in a fair sample of the scope of `monitors o`. The bucket must be
 * sampled. All of its filters must be part of the monitor's scope and must have been set before the conversation
 * arrived. A sample of a subset, such as affected conversations, doesn't represent the rest of the scope. `x.agent_id`
 * limits the condition to one agent, or is null.
 */
export const isFairlySampled = (org: OrgId) => sql<boolean>`EXISTS (
  SELECT 1 FROM bucket_conversations i
  JOIN buckets b ON b.organization_id = ${org} AND b.id = i.bucket_id AND b.type = 'sampled'
    AND b.follows_since <= c.created_at
  WHERE i.organization_id = ${org} AND i.conversation_id = c.id AND i.reviews_completed > 0
    AND NOT EXISTS (
      SELECT 1 FROM jsonb_each(b.filters || CASE WHEN b.agent_id IS NULL THEN '{}'::jsonb
        ELSE jsonb_build_object('agentIds', jsonb_build_array(b.agent_id)) END) asked
      WHERE asked.value IS DISTINCT FROM o.scope -> asked.key
        AND NOT (asked.key = 'agentIds' AND coalesce(asked.value @> to_jsonb(x.agent_id), false))))`
