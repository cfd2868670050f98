import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

// Manages the progress of reviews: the entries of conversations in buckets, and the review status used by filters.

export type ReviewStatus = 'pending' | 'in_progress' | 'completed' | 'skipped'

/** Returns whether the lease of `reviews r` has expired. */
export const isLapsed = (now: Date) => sql<boolean>`coalesce(r.lease_expires_at <= ${now}::timestamptz, false)`
/**
 * Returns the status of a review. A review with an expired lease is pending again, even if that has not been stored
 * yet.
 */
export const statusAt = (now: Date) => sql<ReviewStatus>`CASE WHEN ${isLapsed(now)} THEN 'pending' ELSE r.status END`

/**
 * Locks conversations against changes to their reviews and bucket entries until the transaction ends. Everything that
 * locks conversations does so in this order, and locks buckets first. After locking, callers must read all data about
 * the conversations again.
 */
export const lockConversations = async (trx: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await trx
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .orderBy('external_id')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns whether another review of the conversation can start in this bucket. */
export const isFree = async (trx: Db, org: OrgId, bucketId: string, conversationId: string, now: Date) => {
  const item = await trx
    .selectFrom('bucket_conversations')
    .select('bucket_id')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'waiting')
    .where('free_at', '<=', now)
    .executeTakeFirst()
  return item !== undefined
}

/**
 * Updates a conversation's entry in a bucket from its reviews. Completed entries stay completed. The last required
 * review completes the entry, or sends it to adjudication if two people judged a monitor version differently. Expired
 * leases are stored, so that a process with a slow clock does not assign a review twice.
 */
export const settleItem = async (trx: Db, org: OrgId, bucketId: string, conversationId: string, now: Date) => {
  await sql`
    WITH lapsed AS (
      UPDATE reviews r SET status = 'pending', lease_expires_at = NULL
      WHERE r.organization_id = ${org} AND r.bucket_id = ${bucketId}::uuid
        AND r.conversation_id = ${conversationId}::uuid AND NOT r.adjudicates AND ${isLapsed(now)}
    ), there AS (
      SELECT r.id, r.reviewer_user_id, ${statusAt(now)} AS status, r.lease_expires_at > ${now}::timestamptz AS is_held,
        r.lease_expires_at
      FROM reviews r
      WHERE r.organization_id = ${org} AND r.bucket_id = ${bucketId}::uuid
        AND r.conversation_id = ${conversationId}::uuid AND NOT r.adjudicates
    ), given AS (
      SELECT count(*) FILTER (WHERE status = 'completed') AS completed,
        count(*) FILTER (WHERE is_held) AS held,
        min(lease_expires_at) FILTER (WHERE is_held) AS first_end,
        coalesce(array_agg(reviewer_user_id) FILTER (WHERE status <> 'pending'), '{}') AS reviewers,
        EXISTS (
          SELECT 1 FROM review_judgments j
          WHERE j.organization_id = ${org} AND j.review_id IN (SELECT t.id FROM there t WHERE t.status = 'completed')
          GROUP BY j.monitor_id, j.monitor_version HAVING count(DISTINCT j.correct_result) > 1) AS differ
      FROM there)
    UPDATE bucket_conversations i SET
      reviews_completed = g.completed,
      reviewer_user_ids = g.reviewers,
      free_at = CASE WHEN g.completed + g.held < i.reviews_wanted THEN '-infinity'
        ELSE coalesce(g.first_end, 'infinity') END,
      status = CASE WHEN i.status = 'completed' THEN 'completed'
        WHEN g.completed < i.reviews_wanted THEN 'waiting'
        WHEN g.differ THEN 'adjudication' ELSE 'completed' END
    FROM given g
    WHERE i.organization_id = ${org} AND i.bucket_id = ${bucketId}::uuid
      AND i.conversation_id = ${conversationId}::uuid`.execute(trx)
}

/** Updates the review status of conversations from their reviews and bucket entries. */
export const settleConversations = async (trx: Db, org: OrgId, ids: string[], now: Date): Promise<void> => {
  if (ids.length > 1) await lockConversations(trx, org, ids)
  await sql`
    UPDATE conversations c SET review_status = s.status
    FROM unnest(${ids}::uuid[]) AS g(id)
    CROSS JOIN LATERAL (SELECT CASE
      WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.organization_id = ${org} AND r.conversation_id = g.id
        AND r.status = 'in_progress' AND NOT ${isLapsed(now)}) THEN 'in_progress'
      WHEN EXISTS (SELECT 1 FROM bucket_conversations i WHERE i.organization_id = ${org} AND i.conversation_id = g.id
        AND i.status <> 'completed' AND i.reviews_completed > 0) THEN 'in_progress'
      WHEN EXISTS (SELECT 1 FROM bucket_conversations i WHERE i.organization_id = ${org} AND i.conversation_id = g.id
        AND i.status <> 'completed') THEN 'pending'
      WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.organization_id = ${org} AND r.conversation_id = g.id
        AND r.status = 'completed') THEN 'completed'
      WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.organization_id = ${org} AND r.conversation_id = g.id
        AND r.status = 'pending' AND r.bucket_id IS NULL) THEN 'pending'
      ELSE 'none' END AS status) s
    WHERE c.organization_id = ${org} AND c.id = g.id AND c.review_status <> s.status`.execute(trx)
}
