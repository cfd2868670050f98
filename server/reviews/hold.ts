import { holdBucket, type StoredBucket } from '../buckets/queries.ts'
import type { ReviewStatus } from '../buckets/review-status/queries.ts'
import { isFree, lockConversations, settleConversations, settleItem } from '../buckets/review-status/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { leaseFrom, requireReviewer } from './claims/claim.ts'
import { canMove } from './moves.ts'
import { getReview, type StoredReview, updateReview } from './queries.ts'

export type Held = { review: StoredReview; bucket: StoredBucket | undefined }

/** A review with its bucket, as they stand; held against changes until the transaction ends. */
export const lockReview = async (trx: Db, org: OrgId, id: string, now: Date): Promise<Held> => {
  const { bucketId, conversationId } = await getReview(trx, org, id, now)
  const bucket = bucketId === null ? undefined : await holdBucket(trx, org, bucketId)
  await lockConversations(trx, org, [conversationId])
  return { review: await getReview(trx, org, id, now), bucket }
}

/** One's own. */
export const lockOwnReview = async (trx: Db, actor: Actor, id: string, now: Date): Promise<Held> => {
  const held = await lockReview(trx, actor.org, id, now)
  if (held.review.reviewerUserId !== actor.userId) throw new ApiError('forbidden', 'This is somebody else’s review.')
  return held
}

export const requireMove = ({ status }: StoredReview, to: ReviewStatus): void => {
  if (!canMove(status, to)) throw new ApiError('conflict', `The review is ${status} and cannot become ${to}.`)
}

/** After a review has moved: what it belongs to follows. */
export const settle = async (trx: Db, org: OrgId, { bucketId, conversationId }: StoredReview, now: Date) => {
  if (bucketId !== null) await settleItem(trx, org, bucketId, conversationId, now)
  await settleConversations(trx, org, [conversationId], now)
}

/** Goes on with a review: extends its lease, or takes its place again if nobody has it, which is a claim. */
export const takeUp = async (trx: Db, actor: Actor, { review, bucket }: Held, now: Date): Promise<void> => {
  requireMove(review, 'in_progress')
  const { id, conversationId, status } = review
  if (status === 'pending' && bucket) {
    requireReviewer(bucket, actor)
    if (!(await isFree(trx, actor.org, bucket.id, conversationId, now))) {
      throw new ApiError('conflict', 'You hold this review no more, and somebody else has its place; claim another.')
    }
  }
  await updateReview(trx, actor.org, id, { status: 'in_progress', leaseExpiresAt: bucket ? leaseFrom(now) : null }, now)
}
