import type { Static } from 'typebox'
import type { Db } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError, invalidAll } from '../../platform/errors.ts'
import { type Actor, hasRole } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import { readJudgments } from '../judgments/check.ts'
import { replaceJudgments } from '../judgments/queries.ts'
import { complete, lockReview, requireReviewer } from '../lifecycle.ts'
import { insertReview, type StoredReview, updateReview } from '../queries.ts'
import type { Adjudication } from '../schema.ts'
import { hasReviewed, isInAdjudication, listDisputed, markDecided } from './queries.ts'

/**
 * Adjudicates all reviews of a conversation in a bucket, including the review `id`. The adjudication is a separate
 * review.
 */
export const adjudicate = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  actor: Actor,
  id: string,
  { rating, notes, judgments: given }: Static<typeof Adjudication>,
): Promise<StoredReview> => {
  const { org, userId } = actor
  const now = deps.clock.now()
  const { review, bucket } = await lockReview(trx, org, id, now)
  if (!bucket) throw new ApiError('conflict', 'Only reviews in buckets can be adjudicated.')
  const { conversationId } = review
  const key = { bucketId: bucket.id, conversationId }
  if (!hasRole(actor.role, 'admin')) {
    requireReviewer(bucket, actor)
    if (await hasReviewed(trx, org, key, userId)) {
      throw new ApiError(
        'forbidden',
        'You reviewed this conversation yourself. Another reviewer or an admin has to adjudicate it.',
      )
    }
  }
  if (!(await isInAdjudication(trx, org, key))) {
    throw new ApiError('conflict', 'The reviews of this conversation agree, or someone has already adjudicated it.')
  }
  const disputed = await listDisputed(trx, org, key)
  const judgments = await readJudgments(trx, org, conversationId, given, disputed)
  const undecided = disputed.filter(
    (one) => !judgments.some((made) => made.monitorId === one.monitorId && made.monitorVersion === one.monitorVersion),
  )
  if (undecided.length > 0) {
    throw invalidAll(
      undecided.map(({ monitorId, monitorVersion }) => ({
        path: 'judgments',
        message: `must contain a decision on version ${monitorVersion} of monitor ${monitorId}`,
      })),
    )
  }
  const deciding = newId()
  await insertReview(trx, org, {
    id: deciding,
    conversationId,
    bucketId: bucket.id,
    reviewerUserId: userId,
    adjudicates: true,
    leaseExpiresAt: null,
    now,
  })
  await updateReview(trx, org, deciding, { rating, notes }, now)
  await replaceJudgments(trx, org, deciding, judgments)
  await markDecided(trx, org, key)
  return complete(deps, trx, org, deciding, now)
}
