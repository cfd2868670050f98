import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { resolve, resolveAmong } from '../../filters/resolve.ts'
import { batchesOf } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { attemptEach, eachOfPages } from '../../platform/jobs/attempt-each.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { currentTime, defineSweep } from '../../platform/jobs/define-sweep.ts'
import type { Events } from '../../platform/reactions.ts'
import { addConversations } from '../conversations/add-conversations.ts'
import { lockBucketShared } from '../queries.ts'
import { weekOf } from '../week.ts'
import {
  findQuota,
  hasFollowing,
  listDrawn,
  listFollowing,
  listOrganizationsWithUndrawnAllOrgs,
  listTaken,
  listUndrawn,
  lockQuota,
  markDrawn,
} from './queries.ts'

/** The number of conversations in a job. */
const batchSize = 500

/** Adds conversations to the buckets with matching filters. Running it again changes nothing. */
export const offerConversations = defineJob({
  name: 'bucket.offer',
  payload: Type.Object({ organizationId: OrganizationId, conversationIds: Type.Array(Type.String()) }),
  run: async (deps: Deps, { organizationId, conversationIds }, attempt) => {
    const { db, clock } = deps
    const org = organizationId
    const resolveIn = resolveAmong(deps, org, conversationIds)
    await attemptEach(attempt, await listFollowing(db, org), async (bucket) => {
      const filters = await resolveIn(bucket.filters)
      const taken = await listTaken(db, org, { ...bucket, filters }, conversationIds)
      if (taken.length === 0) return
      const put = attempt.transaction(async (trx) => {
        await lockBucketShared(trx, org, bucket.id)
        await addConversations(trx, org, bucket, taken, clock.now())
      })
      await put.catch((fault: unknown) => {
        // The bucket can have been deleted in the meantime.
        if (!(fault instanceof ApiError && fault.kind === 'notFound')) throw fault
      })
    })
  },
})

type News = 'conversations' | 'results' | 'sound' | 'tags' | 'embedded'
type OfferDeps = Pick<Deps, 'jobs'>

const offer = async ({ jobs }: OfferDeps, trx: Db, org: OrgId, ids: string[], news: News): Promise<void> => {
  if (ids.length === 0 || !(await hasFollowing(trx, org, news))) return
  const payloads = batchesOf(ids, batchSize).map((conversationIds) => ({ organizationId: org, conversationIds }))
  await jobs.enqueueMany(trx, offerConversations, payloads)
}

type Offered = { conversationIds: string[] }

/** Queues the check of conversations in the transaction that stores them. */
export const offerConversationsToBuckets = (
  deps: OfferDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: Offered,
): Promise<void> => offer(deps, trx, org, conversationIds, 'conversations')

/** Queues the check of conversations with new results in the transaction that stores the results. */
export const offerResultsToBuckets = (
  deps: OfferDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: Offered,
): Promise<void> => offer(deps, trx, org, conversationIds, 'results')

/** Queues the check of conversations with measured sound, in the transaction that stores the measures. */
export const offerSettledToBuckets = (
  deps: OfferDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: Offered,
): Promise<void> => offer(deps, trx, org, conversationIds, 'sound')

/** Queues the check of conversations with changed tags, in the transaction that changes the tags. */
export const offerTaggedToBuckets = (
  deps: OfferDeps,
  trx: Db,
  org: OrgId,
  { conversationIds }: Offered,
): Promise<void> => offer(deps, trx, org, conversationIds, 'tags')

/**
 * Queues the check of embedded conversations in the transaction that stores their vectors and topics. Conversations
 * that arrived while the embedding model was not responding could not be compared before.
 */
export const offerEmbeddedToBuckets = (
  deps: OfferDeps,
  trx: Db,
  org: OrgId,
  { firstPassages }: Events['conversationsEmbedded'],
): Promise<void> => {
  const ids = firstPassages.map(({ conversationId }) => conversationId)
  return offer(deps, trx, org, ids, 'embedded')
}

/** Conversations that arrive more than this long after the end of their week are not sampled. */
const graceMs = 6 * 60 * 60 * 1_000

const closedBy = (now: Date): Date => new Date(now.getTime() - graceMs)

/** Draws a sample of each week that has ended. All calls in a week have the same probability. */
export const drawQuotas = defineSweep({
  name: 'bucket.draw',
  timeoutSeconds: 50 * 60,
  schedule: '10 * * * *',
  time: currentTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithUndrawnAllOrgs(db, closedBy(now)),
  listItems: ({ db }, { org, now, after }) =>
    eachOfPages(batchSize, (page) => listUndrawn(db, org, closedBy(now), page), after),
  sweepItem: async (deps, { id }, { org, now, attempt }) => {
    const draw = async (): Promise<boolean> => {
      const read = await findQuota(deps.db, org, id)
      const week = read && weekOf(read.drawnUntil)
      if (!week || week.end > closedBy(now)) return false
      // Comparing meanings can call a model, so it happens before the lock.
      const filters = await resolve(deps, org, read.filters, {
        ...(read.agentId !== null && { agentIds: [read.agentId] }),
        since: week.start.toISOString(),
        until: week.end.toISOString(),
      })
      return attempt.transaction(async (trx) => {
        const bucket = await lockQuota(trx, org, id)
        if (!bucket) return false
        // The bucket was changed in the meantime, so it is read again.
        if (!isDeepStrictEqual(bucket, read)) return true
        const drawn = await listDrawn(trx, org, { ...bucket, filters }, week)
        if (drawn.length > 0) await addConversations(trx, org, bucket, drawn, now)
        await markDrawn(trx, org, id, week.end)
        return true
      })
    }
    while (await draw()) attempt.signal.throwIfAborted()
  },
})
