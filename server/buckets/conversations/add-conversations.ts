import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/errors.ts'
import type { StoredBucket } from '../queries.ts'
import { lockConversations, settleConversations } from '../review-status/queries.ts'
import { deleteUnreviewedItems, insertItems } from './queries.ts'

/** Throws if the bucket draws a sample, because manual changes would make the sample unfair. */
export const requireByHand = ({ type }: Pick<StoredBucket, 'type'>): void => {
  if (type !== 'sampled') return
  throw new ApiError(
    'conflict',
    'You cannot add or remove conversations in a sampled bucket, because its sample must stay random.',
  )
}

type Target = { id: string; reviewsPerConversation: number }

/**
 * Adds conversations to a locked bucket. Returns which conversations exist, and which of them are new in the bucket.
 */
export const addConversations = async (trx: Db, org: OrgId, bucket: Target, ids: string[], now: Date) => {
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

/** Removes conversations from a locked bucket, unless somebody has started to review them. Returns the removed ones. */
export const takeOut = async (trx: Db, org: OrgId, bucketId: string, ids: string[], now: Date): Promise<string[]> => {
  await lockConversations(trx, org, ids)
  const removed = await deleteUnreviewedItems(trx, org, bucketId, ids)
  if (removed.length > 0) {
    await settleConversations(trx, org, removed, now)
    await publishChanges(trx, org, { resource: 'buckets', kind: 'updated', ids: [bucketId] })
  }
  return removed
}
