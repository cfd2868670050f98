// Claims the next conversation of a bucket for a reviewer.

import { lockBucketShared } from '../../buckets/queries.ts'
import { isFree, lockConversations, settleConversations, settleItem } from '../../buckets/review-status/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import { leaseFrom, requireReviewer } from '../lifecycle.ts'
import { getReview, insertReview, type StoredReview, updateReview } from '../queries.ts'
import { findClaimable, findOwnLapsed, findOwnReview, lockClaimable } from './queries.ts'

type Claim = { bucketId: string; userId: string; now: Date }

/** Returns whether the locked conversation has a free slot for the person. */
const isOpenTo = async (trx: Db, org: OrgId, claim: Claim, conversationId: string): Promise<boolean> => {
  if (!(await isFree(trx, org, claim.bucketId, conversationId, claim.now))) return false
  const own = await findOwnReview(trx, org, claim, conversationId)
  const isLapsed = own?.leaseExpiresAt ? own.leaseExpiresAt <= claim.now : false
  return own === undefined || own.status === 'pending' || isLapsed
}

/** Locks the next conversation and returns its ID, or returns `overtaken` if another request was faster. */
const lockNext = async (trx: Db, org: OrgId, claim: Claim, waits: boolean): Promise<string | undefined> => {
  const chosen = (await findOwnLapsed(trx, org, claim)) ?? (waits ? await findClaimable(trx, org, claim) : undefined)
  if (chosen === undefined) return waits ? undefined : lockClaimable(trx, org, claim)
  await lockConversations(trx, org, [chosen])
  return (await isOpenTo(trx, org, claim, chosen)) ? chosen : 'overtaken'
}

/** Starts the review, or resumes the person's earlier one. */
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
 * Returns a review of the bucket's oldest conversation that has a free slot and that the person has not reviewed yet,
 * or undefined if there is none. First skips conversations that others are claiming. If no others are left, waits for
 * those, because they may have another slot.
 */
export const claimNext = async (
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  actor: Actor,
  bucketId: string,
): Promise<StoredReview | undefined> => {
  const claim = { bucketId, userId: actor.userId, now: clock.now() }
  const attempt = (waits: boolean) =>
    db.transaction().execute(async (trx) => {
      requireReviewer(await lockBucketShared(trx, actor.org, bucketId), actor)
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
