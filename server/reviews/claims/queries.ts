import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type Claim = { bucketId: string; userId: string; now: Date }

/** Selects the oldest conversation with a free slot that the person has not reviewed yet. */
const claimable = ({ bucketId, userId, now }: Claim, org: OrgId) => sql`
  FROM bucket_conversations i
  JOIN conversations c ON c.organization_id = ${org} AND c.id = i.conversation_id
  WHERE i.organization_id = ${org} AND i.bucket_id = ${bucketId}::uuid AND i.status = 'waiting'
    AND i.free_at <= ${now}::timestamptz AND NOT (${userId}::uuid = ANY(i.reviewer_user_ids))
  ORDER BY i.added_at, i.conversation_id LIMIT 1`

/**
 * Locks a conversation that nobody else has locked. Every change to its slots locks the conversation first. The entry
 * in the bucket is also locked, because after a concurrent change, PostgreSQL only checks locked rows again.
 */
export const lockClaimable = async (trx: Db, org: OrgId, claim: Claim): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`
    SELECT i.conversation_id AS id ${claimable(claim, org)} FOR NO KEY UPDATE OF c, i SKIP LOCKED`.execute(trx)
  return rows[0]?.id
}

/** Finds such a conversation without locking it. */
export const findClaimable = async (db: Db, org: OrgId, claim: Claim): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`SELECT i.conversation_id AS id ${claimable(claim, org)}`.execute(db)
  return rows[0]?.id
}

/** Finds the person's oldest expired review with a free slot. */
export const findOwnLapsed = async (db: Db, org: OrgId, { bucketId, userId, now }: Claim) => {
  const { rows } = await sql<{ id: string }>`
    SELECT r.conversation_id AS id FROM reviews r
    JOIN bucket_conversations i
      ON i.organization_id = ${org} AND i.bucket_id = r.bucket_id AND i.conversation_id = r.conversation_id
    WHERE r.organization_id = ${org} AND r.reviewer_user_id = ${userId}::uuid
      AND r.lease_expires_at <= ${now}::timestamptz AND r.bucket_id = ${bucketId}::uuid
      AND i.status = 'waiting' AND i.free_at <= ${now}::timestamptz
    ORDER BY i.added_at, i.conversation_id LIMIT 1`.execute(db)
  return rows[0]?.id
}

/** Returns a person's review of a conversation in a bucket. Ignores adjudications. */
export const findOwnReview = (db: Db, org: OrgId, { bucketId, userId }: Claim, conversationId: string) =>
  db
    .selectFrom('reviews')
    .select(['id', 'status', 'lease_expires_at as leaseExpiresAt'])
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .where('reviewer_user_id', '=', userId)
    .where('adjudicates', '=', false)
    .executeTakeFirst()
