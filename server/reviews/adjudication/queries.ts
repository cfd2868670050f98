import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type BucketConversationKey = { bucketId: string; conversationId: string }

/** Returns whether people in the bucket disagree and nobody has adjudicated yet. */
export const isInAdjudication = async (
  db: Db,
  org: OrgId,
  { bucketId, conversationId }: BucketConversationKey,
): Promise<boolean> => {
  const item = await db
    .selectFrom('bucket_conversations')
    .select('bucket_id')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'adjudication')
    .executeTakeFirst()
  return item !== undefined
}

/** Lists the monitor versions that people judged differently, newest versions first. */
export const listDisputed = async (db: Db, org: OrgId, { bucketId, conversationId }: BucketConversationKey) => {
  const { rows } = await sql<{ monitorId: string; monitorVersion: number }>`
    SELECT j.monitor_id AS "monitorId", j.monitor_version AS "monitorVersion"
    FROM reviews r JOIN review_judgments j ON j.organization_id = ${org} AND j.review_id = r.id
    WHERE r.organization_id = ${org} AND r.bucket_id = ${bucketId}::uuid AND r.conversation_id = ${conversationId}::uuid
      AND r.status = 'completed' AND NOT r.adjudicates
    GROUP BY j.monitor_id, j.monitor_version HAVING count(DISTINCT j.correct_result) > 1
    ORDER BY j.monitor_id, j.monitor_version DESC`.execute(db)
  return rows
}

export const hasReviewed = async (
  db: Db,
  org: OrgId,
  place: BucketConversationKey,
  userId: string,
): Promise<boolean> => {
  const own = await db
    .selectFrom('reviews')
    .select('id')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', place.bucketId)
    .where('conversation_id', '=', place.conversationId)
    .where('reviewer_user_id', '=', userId)
    .where('status', '=', 'completed')
    .where('adjudicates', '=', false)
    .executeTakeFirst()
  return own !== undefined
}

export const markDecided = (trx: Db, org: OrgId, { bucketId, conversationId }: BucketConversationKey) =>
  trx
    .updateTable('bucket_conversations')
    .set({ status: 'completed' })
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .execute()
