import { holdBucket, type StoredBucket } from '../../buckets/queries.ts'
import { isFree, lockConversations, settleConversations, settleItem } from '../../buckets/review-status/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import { getReview, insertReview, type StoredReview, updateReview } from '../queries.ts'
import { findClaimable, findOwnLapsed, findOwnReview, lockClaimable } from './queries.ts'

const leaseMs = 30 * 60 * 1_000

export const leaseFrom = (now: Date): Date => new Date(now.getTime() + leaseMs)

export const requireReviewer = ({ reviewerUserIds }: StoredBucket, { userId }: Actor): void => {
  if (reviewerUserIds.length === 0 || reviewerUserIds.includes(userId)) return
  throw new ApiError('forbidden', 'You are not among the reviewers of this bucket.')
}

type Claim = { bucketId: string; userId: string; now: Date }

/** Whether the conversation, which is locked, has a place for the person. */
const isOpenTo = async (trx: Db, org: OrgId, claim: Claim, conversationId: string): Promise<boolean> => {
  if (!(await isFree(trx, org, claim.bucketId, conversationId, claim.now))) return false
  const own = await findOwnReview(trx, org, claim, conversationId)
  const isLapsed = own?.leaseExpiresAt ? own.leaseExpiresAt <= claim.now : false
  return own === undefined || own.status === 'pending' || isLapsed
}

/** The id of the next conversation, locked; or `overtaken` where somebody was faster with it. */
const lockNext = async (trx: Db, org: OrgId, claim: Claim, waits: boolean): Promise<string | undefined> => {
  const chosen = (await findOwnLapsed(trx, org, claim)) ?? (waits ? await findClaimable(trx, org, claim) : undefined)
  if (chosen === undefined) return waits ? undefined : lockClaimable(trx, org, claim)
  await lockConversations(trx, org, [chosen])
  return (await isOpenTo(trx, org, claim, chosen)) ? chosen : 'overtaken'
}

/** Begins the review, or takes up again what the person began before. */
const take = async (trx: Db, org: OrgId, claim: Claim, conversationId: string): Promise<StoredReview> => {
  const { bucketId, userId, now } = claim
  const own = await findOwnReview(trx, org, claim, conversationId)
  const id = own?.id ?? newId()
  const leaseExpiresAt = leaseFrom(now)
  if (own) await updateReview(trx, org, id, { status: 'in_progress', leaseExpiresAt }, now)
  else await insertReview(trx, org, { id, conversationId, bucketId, reviewerUserId: userId, leaseExpiresAt, now })
  await settleItem(trx, org, bucketId, conversationId, now)
  await settleConversations(trx, org, [conversationId], now)
  return getReview(trx, org, id, now)
}

/**
 * Gives the person the oldest conversation of a bucket that has a free place and that they have not had; undefined when
 * there is none. What others are about to take is passed over at first; where that leaves nothing it is waited for,
 * since they may leave another place.
 */
export const claimNext = async (
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  bucketId: string,
): Promise<StoredReview | undefined> => {
  const claim = { bucketId, userId: actor.userId, now: clock.now() }
  const attempt = (waits: boolean) =>
    db.transaction().execute(async (trx) => {
      requireReviewer(await holdBucket(trx, actor.org, bucketId), actor)
      const next = await lockNext(trx, actor.org, claim, waits)
      if (next === undefined) return undefined
      if (next === 'overtaken') return next
      const review = await take(trx, actor.org, claim, next)
      await recordAudit(trx, actor, 'review.claim', { type: 'review', id: review.id }, { type: 'bucket', id: bucketId })
      return review
    })
  for (let waits = false; ; waits = true) {
    const claimed = await attempt(waits)
    if (claimed === 'overtaken' || (claimed === undefined && !waits)) continue
    return claimed
  }
}
