import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { lockConversations, settleConversations } from '../review-status/queries.ts'
import { insertItems } from './queries.ts'

type Target = { id: string; reviewsPerConversation: number }

/** Adds conversations to a locked bucket. Returns which conversations exist and which are new in the bucket. */
export const putIn = async (trx: Db, org: OrgId, bucket: Target, ids: string[], now: Date) => {
  const present = await lockConversations(trx, org, ids)
  const added = await insertItems(trx, org, {
    bucketId: bucket.id,
    conversationIds: present,
    reviewsWanted: bucket.reviewsPerConversation,
    now,
  })
  if (added.length > 0) {
    await settleConversations(trx, org, added, now)
    await publishChanges(trx, org, { resource: 'buckets', kind: 'updated', ids: [bucket.id] })
  }
  return { present, added }
}
