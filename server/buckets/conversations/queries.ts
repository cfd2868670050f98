import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

type Status = 'waiting' | 'adjudication' | 'completed'

type Listed = { bucketId: string; status: Status | undefined }

/** Lists the conversations of a bucket, latest added first. `after` is a position, `<addedAt> <conversationId>`. */
export const listItems = (db: Db, org: OrgId, { bucketId, status }: Listed, { limit, after }: Page) => {
  const [addedAt, conversationId] = after?.split(' ') ?? []
  return db
    .selectFrom('bucket_conversations')
    .select([
      'conversation_id as conversationId',
      sql<Status>`status`.as('status'),
      'reviews_wanted as reviewsWanted',
      'reviews_completed as reviewsCompleted',
      'added_at as addedAt',
    ])
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as Status))
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(added_at, conversation_id) < (${addedAt}::timestamptz, ${conversationId}::uuid)`),
    )
    .orderBy('added_at', 'desc')
    .orderBy('conversation_id', 'desc')
    .limit(limit + 1)
    .execute()
}

type NewItems = { bucketId: string; conversationIds: string[]; reviewsWanted: number; now: Date }

/** Adds conversations and returns those that were not in the bucket yet. The caller has locked the conversations. */
export const insertItems = async (trx: Db, org: OrgId, items: NewItems): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    INSERT INTO bucket_conversations (organization_id, bucket_id, conversation_id, reviews_wanted, added_at)
    SELECT ${org}::uuid, ${items.bucketId}::uuid, id, ${items.reviewsWanted}::integer, ${items.now}::timestamptz
    FROM unnest(${items.conversationIds}::uuid[]) AS g(id)
    ON CONFLICT ON CONSTRAINT bucket_conversations_pkey DO NOTHING
    RETURNING conversation_id AS id`.execute(trx)
  return rows.map(({ id }) => id)
}

/** Removes a conversation and deletes its unfinished reviews. Finished reviews remain as reviews outside buckets. */
export const deleteItem = async (trx: Db, org: OrgId, bucketId: string, conversationId: string): Promise<void> => {
  await trx
    .deleteFrom('bucket_conversations')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .returning('conversation_id')
    .executeTakeFirstOrThrow(notFound)
  await trx
    .deleteFrom('reviews')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .where('status', 'in', ['pending', 'in_progress'])
    .execute()
  await trx
    .updateTable('reviews')
    .set({ bucket_id: null })
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .execute()
}

/** Removes the conversations in a bucket that nobody has started to review, and returns them. */
export const deleteUnreviewedItems = async (
  trx: Db,
  org: OrgId,
  bucketId: string,
  ids: string[],
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    DELETE FROM bucket_conversations i
    WHERE i.organization_id = ${org} AND i.bucket_id = ${bucketId}::uuid AND i.conversation_id = ANY(${ids}::uuid[])
      AND NOT EXISTS (SELECT 1 FROM reviews r WHERE r.organization_id = ${org} AND r.bucket_id = i.bucket_id
        AND r.conversation_id = i.conversation_id)
    RETURNING i.conversation_id AS id`.execute(trx)
  return rows.map(({ id }) => id)
}
