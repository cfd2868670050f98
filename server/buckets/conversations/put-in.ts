import type { Db, OrgId } from '../../platform/db/database.ts'
import { lockConversations, settleConversations } from '../review-status/queries.ts'
import { insertItems } from './queries.ts'

type Target = { id: string; reviewsPerConversation: number }

/** Puts conversations into a bucket that is held. Tells which there are, and which of them were not in before. */
export const putIn = async (trx: Db, org: OrgId, bucket: Target, ids: string[], now: Date) => {
  const present = await lockConversations(trx, org, ids)
  const added = await insertItems(trx, org, {
    bucketId: bucket.id,
    conversationIds: present,
    reviewsWanted: bucket.reviewsPerConversation,
    now,
  })
  if (added.length > 0) await settleConversations(trx, org, added, now)
  return { present, added }
}
