// Manages the lifecycle of reviews: they are created or claimed (claims/claim-next.ts), extended, released, completed, or
// skipped, or they expire. Changes lock the bucket first and the conversation second.

import type { Static } from 'typebox'
import { lockBucketShared, type StoredBucket } from '../buckets/queries.ts'
import {
  isFree,
  lockConversations,
  type ReviewStatus,
  settleConversations,
  settleItem,
} from '../buckets/review-status/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError, invalid } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineSweep, trustedTime } from '../platform/jobs/define-sweep.ts'
import { publishEvent } from '../webhooks/send.ts'
import { readJudgments, requireWhole } from './judgments/check.ts'
import { replaceJudgments, supersedeJudgments } from './judgments/queries.ts'
import {
  countReviewsOf,
  deleteUnstarted,
  getReview,
  insertAssigned,
  insertReview,
  listLapsed,
  listOpenReviews,
  listOrganizationsWithLapsedAllOrgs,
  type StoredReview,
  updateReview,
} from './queries.ts'
import type { ReviewUpdate } from './schema.ts'
import { findScorecards, judgmentsOfScorecards, withItemVersions } from './scorecards/totals.ts'

/**
 * The states that can follow each state. If a review's lease expires, the review is pending again, because someone else
 * may have its slot by now.
 */
const moves: Record<ReviewStatus, ReviewStatus[]> = {
  pending: ['in_progress', 'skipped'],
  in_progress: ['in_progress', 'pending', 'completed', 'skipped'],
  completed: [],
  skipped: [],
}

export const canMove = (from: ReviewStatus, to: ReviewStatus): boolean => moves[from].includes(to)

export type LockedReview = { review: StoredReview; bucket: StoredBucket | undefined }

/** Locks a review and its bucket against changes until the transaction ends. */
export const lockReview = async (trx: Db, org: OrgId, id: string, now: Date): Promise<LockedReview> => {
  const { bucketId, conversationId } = await getReview(trx, org, id, now)
  const bucket = bucketId === null ? undefined : await lockBucketShared(trx, org, bucketId)
  await lockConversations(trx, org, [conversationId])
  return { review: await getReview(trx, org, id, now), bucket }
}

/** Locks the caller's own review. */
export const lockOwnReview = async (trx: Db, actor: Actor, id: string, now: Date): Promise<LockedReview> => {
  const locked = await lockReview(trx, actor.org, id, now)
  if (locked.review.reviewerUserId !== actor.userId)
    throw new ApiError('forbidden', 'This review belongs to another reviewer.')
  return locked
}

const requireMove = ({ status }: StoredReview, to: ReviewStatus): void => {
  if (!canMove(status, to)) throw new ApiError('conflict', `The review is ${status} and cannot become ${to}.`)
}

/** Updates everything that depends on the status of a review. */
const settle = async (trx: Db, org: OrgId, { bucketId, conversationId }: StoredReview, now: Date) => {
  if (bucketId !== null) await settleItem(trx, org, bucketId, conversationId, now)
  await settleConversations(trx, org, [conversationId], now)
  if (bucketId !== null) await publishChanges(trx, org, { resource: 'buckets', kind: 'updated', ids: [bucketId] })
}

const leaseMs = 30 * 60 * 1_000

export const leaseFrom = (now: Date): Date => new Date(now.getTime() + leaseMs)

export const requireReviewer = ({ reviewerUserIds }: StoredBucket, { userId }: Actor): void => {
  if (reviewerUserIds.length === 0 || reviewerUserIds.includes(userId)) return
  throw new ApiError('forbidden', 'You are not a reviewer of this bucket.')
}

/** Continues a review: extends its lease, or claims its slot again if nobody else has it. */
const takeUp = async (trx: Db, actor: Actor, { review, bucket }: LockedReview, now: Date): Promise<void> => {
  requireMove(review, 'in_progress')
  const { id, conversationId, status } = review
  if (status === 'pending' && bucket) {
    requireReviewer(bucket, actor)
    if (!(await isFree(trx, actor.org, bucket.id, conversationId, now))) {
      throw new ApiError(
        'conflict',
        'Your lease on this review expired and another reviewer has it. Claim another one.',
      )
    }
  }
  await updateReview(trx, actor.org, id, { status: 'in_progress', leaseExpiresAt: bucket ? leaseFrom(now) : null }, now)
}

/** Extends the lease of the caller's review. */
export const keepReview = async ({ clock }: Pick<Deps, 'clock'>, trx: Db, actor: Actor, id: string) => {
  const now = clock.now()
  const locked = await lockOwnReview(trx, actor, id, now)
  await takeUp(trx, actor, locked, now)
  await settle(trx, actor.org, locked.review, now)
  return getReview(trx, actor.org, locked.review.id, now)
}

/** Releases the caller's review, unless its lease was extended after the `known` one. */
export const releaseReview = async (
  { clock }: Pick<Deps, 'clock'>,
  trx: Db,
  actor: Actor,
  { id, known }: { id: string; known: string | undefined },
): Promise<StoredReview> => {
  const now = clock.now()
  const { review } = await lockOwnReview(trx, actor, id, now)
  if (known !== undefined && (review.leaseExpiresAt ?? 0) > new Date(known)) return review
  requireMove(review, 'pending')
  await updateReview(trx, actor.org, review.id, { status: 'pending', leaseExpiresAt: null }, now)
  await settle(trx, actor.org, review, now)
  await recordAudit(trx, actor, 'review.release', { type: 'review', id: review.id })
  return getReview(trx, actor.org, review.id, now)
}

type ChangeDeps = Pick<Deps, 'jobs' | 'clock'>

/** Completes a review, so that it counts, and sends the event to subscribers. */
export const complete = async (deps: ChangeDeps, trx: Db, org: OrgId, id: string, now: Date): Promise<StoredReview> => {
  await updateReview(trx, org, id, { status: 'completed', leaseExpiresAt: null }, now)
  await supersedeJudgments(trx, org, id)
  const review = await getReview(trx, org, id, now)
  await settle(trx, org, review, now)
  await publishEvent(deps, trx, org, { type: 'review.completed', data: review })
  return review
}

type Change = Static<typeof ReviewUpdate>

/** Changes a locked review. Completes or skips the review if the request says so. */
export const changeReview = async (deps: ChangeDeps, trx: Db, actor: Actor, held: LockedReview, change: Change) => {
  const { org } = actor
  const { review, bucket } = held
  const { id, conversationId } = review
  const now = deps.clock.now()
  if (change.status === 'skipped') {
    requireMove(review, 'skipped')
    await updateReview(trx, org, id, { status: 'skipped', leaseExpiresAt: null }, now)
  } else await takeUp(trx, actor, held, now)
  await updateReview(trx, org, id, { rating: change.rating, notes: change.notes }, now)
  const scorecards = await findScorecards(trx, org, conversationId, bucket)
  if (change.judgments) {
    const given = withItemVersions(change.judgments, scorecards)
    await replaceJudgments(trx, org, id, await readJudgments(trx, org, conversationId, given))
  }
  if (change.status !== 'completed') {
    await settle(trx, org, review, now)
    return getReview(trx, org, id, now)
  }
  if (bucket) {
    const changed = await getReview(trx, org, id, now)
    await requireWhole(trx, org, bucket, changed, scorecards)
    const derived = judgmentsOfScorecards(changed, scorecards)
    if (derived.length > 0) await replaceJudgments(trx, org, id, [...changed.judgments, ...derived])
  }
  return complete(deps, trx, org, id, now)
}

/** The maximum number of reviews for a conversation, both in and outside buckets. */
const mostReviews = 200

/** Creates a review outside buckets, including its judgments. */
export const createReview = async (
  deps: ChangeDeps,
  trx: Db,
  actor: Actor,
  conversationId: string,
  change: Change,
): Promise<StoredReview> => {
  const { org, userId: reviewerUserId } = actor
  if ((await lockConversations(trx, org, [conversationId])).length === 0) {
    throw invalid('conversationId', 'must be a conversation of this organization')
  }
  if ((await countReviewsOf(trx, org, conversationId)) >= mostReviews) {
    throw new ApiError('conflict', `A conversation can have at most ${mostReviews} reviews.`)
  }
  const now = deps.clock.now()
  const id = newId()
  await insertReview(trx, org, { id, conversationId, bucketId: null, reviewerUserId, leaseExpiresAt: null, now })
  const review = await getReview(trx, org, id, now)
  await recordAudit(trx, actor, 'review.create', { type: 'review', id })
  return changeReview(deps, trx, actor, { review, bucket: undefined }, change)
}

type Assignment = { conversationIds: string[]; reviewerUserId: string; now: Date }

/**
 * Asks a person to review conversations outside buckets. Returns the existing conversations by outcome: some get a
 * review, some keep the person's unfinished review, and some have too many reviews.
 */
export const assignReviews = async (
  trx: Db,
  org: OrgId,
  { conversationIds, reviewerUserId, now }: Assignment,
): Promise<{ assigned: string[]; kept: string[]; full: string[] }> => {
  const present = await lockConversations(trx, org, conversationIds)
  const open = await listOpenReviews(trx, org, reviewerUserId, present)
  const kept = open.filter(({ hasOwn }) => hasOwn).map((each) => each.conversationId)
  const full = open.filter(({ count, hasOwn }) => !hasOwn && count >= mostReviews).map((each) => each.conversationId)
  const others = new Set([...kept, ...full])
  const assigned = present.filter((id) => !others.has(id))
  const reviews = assigned.map((conversationId) => ({ id: newId(), conversationId }))
  await insertAssigned(trx, org, reviewerUserId, reviews, now)
  await settleAssigned(trx, org, assigned, now)
  return { assigned, kept, full }
}

/** Removes assigned reviews that were not started. Returns their conversations. */
export const unassignReviews = async (
  trx: Db,
  org: OrgId,
  { conversationIds, reviewerUserId, now }: Assignment,
): Promise<string[]> => {
  const present = await lockConversations(trx, org, conversationIds)
  const deleted = await deleteUnstarted(trx, org, reviewerUserId, present)
  await settleAssigned(trx, org, deleted, now)
  return deleted
}

const settleAssigned = async (trx: Db, org: OrgId, ids: string[], now: Date): Promise<void> => {
  if (ids.length === 0) return
  await settleConversations(trx, org, ids, now)
  await publishChanges(trx, org, { resource: 'reviews', kind: 'updated' })
}

const batchSize = 500

/**
 * Stores the expiry of leases, so that the review status of conversations is current. Claims don't depend on this,
 * because they compare leases with the clock.
 */
export const lapseReviews = defineSweep({
  name: 'review.lapse',
  schedule: '*/5 * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithLapsedAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batchSize, (page) => listLapsed(db, org, now, page), after),
  sweepItem: (_deps, { bucketId, conversationId }, { org, now, attempt }) =>
    attempt.transaction(async (trx) => {
      await lockConversations(trx, org, [conversationId])
      await settleItem(trx, org, bucketId, conversationId, now)
      await settleConversations(trx, org, [conversationId], now)
      await publishChanges(
        trx,
        org,
        { resource: 'buckets', kind: 'updated', ids: [bucketId] },
        { resource: 'reviews', kind: 'updated' },
      )
    }),
})
