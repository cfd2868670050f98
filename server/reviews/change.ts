import type { Static } from 'typebox'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { publishEvent } from '../webhooks/send.ts'
import { type Held, requireMove, settle, takeUp } from './hold.ts'
import { readJudgments, requireWhole } from './judgments/check.ts'
import { replaceJudgments, supersedeJudgments } from './judgments/queries.ts'
import { getReview, type StoredReview, updateReview } from './queries.ts'
import type { ReviewUpdate } from './schema.ts'

type ChangeDeps = Pick<Deps, 'jobs' | 'clock'>

/** Makes a review count, and tells those who subscribe to it. */
export const complete = async (deps: ChangeDeps, trx: Db, org: OrgId, id: string, now: Date): Promise<StoredReview> => {
  await updateReview(trx, org, id, { status: 'completed', leaseExpiresAt: null }, now)
  await supersedeJudgments(trx, org, id)
  const review = await getReview(trx, org, id, now)
  await settle(trx, org, review, now)
  await publishEvent(deps, trx, org, { type: 'review.completed', data: review })
  return review
}

type Change = Static<typeof ReviewUpdate>

/** Changes a review that is held, and completes or skips it where that is asked for. */
export const changeReview = async (deps: ChangeDeps, trx: Db, actor: Actor, held: Held, change: Change) => {
  const { org } = actor
  const { review, bucket } = held
  const { id, conversationId } = review
  const now = deps.clock.now()
  if (change.status === 'skipped') {
    requireMove(review, 'skipped')
    await updateReview(trx, org, id, { status: 'skipped', leaseExpiresAt: null }, now)
  } else await takeUp(trx, actor, held, now)
  await updateReview(trx, org, id, { rating: change.rating, notes: change.notes }, now)
  if (change.judgments) {
    await replaceJudgments(trx, org, id, await readJudgments(trx, org, conversationId, change.judgments))
  }
  if (change.status !== 'completed') {
    await settle(trx, org, review, now)
    return getReview(trx, org, id, now)
  }
  if (bucket) await requireWhole(trx, org, bucket, await getReview(trx, org, id, now))
  return complete(deps, trx, org, id, now)
}
