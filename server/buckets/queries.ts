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

/** Against its deletion until the transaction ends. Taken before any lock of what is in it. */
export const holdBucket = (trx: Db, org: OrgId, id: string) =>
  selectBuckets(trx, org).where('id', '=', id).forKeyShare().executeTakeFirstOrThrow(notFound)

/** Against changes. */
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

/** Which of these people may review: those who are members and may write. */
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

/** `restart` where what is put in is another from now on. */
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

/** Against all use. Tells which conversations are in it. */
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
 * With what is in it, which is locked, and the reviews that nobody finished. Finished ones stay, as reviews outside of
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
 * Whether `conversations c` was reviewed in a fair sample of what `monitors o` looks at: in a sampled bucket that asks for
 * nothing but what the scope of the monitor asks for too, and since it does. A sample of anything less, such as of what
 * the monitor found, says nothing of the rest. `x.agent_id` is the agent whose conversations alone are meant, or null.
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
