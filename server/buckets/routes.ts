import { recordAudit } from '../platform/audit/record.ts'
import type { Db } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Empty, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import {
  countBuckets,
  deleteBucket,
  getBucket,
  insertBucket,
  listBuckets,
  lockBucket,
  lockWholeBucket,
  type StoredBucket,
  updateBucket,
} from './queries.ts'
import { lockConversations, settleConversations } from './review-status/queries.ts'
import { Bucket, BucketCreate, BucketUpdate } from './schema.ts'
import { defaults, drawnUntil, requireSound, selectsOtherwise, withGiven } from './settings.ts'

/**
 * The maximum number of buckets in an organization, because each new conversation is checked against all of them.
 * Concurrent requests can exceed the limit slightly.
 */
const mostBuckets = 100

const tags = ['Buckets']

/** Returns a bucket in the API's format, which omits `agentId` if it is not set. */
const shown = ({ agentId, ...bucket }: StoredBucket) => ({ ...bucket, ...(agentId !== null && { agentId }) })

export const buckets = (app: App, { db, clock, reactions }: Deps): void => {
  const tellReviewers = async (trx: Db, actor: Actor, added: { bucketId: string; userIds: string[] }) => {
    if (added.userIds.length === 0) return
    await reactions.reviewersAdded(trx, actor.org, { ...added, byUserId: actor.userId, at: clock.now() })
  }

  app.get(
    '/v1/buckets',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listBuckets',
        summary: 'List buckets',
        description: 'Newest first. For review progress, use `/progress`.',
        querystring: PageQuery,
        response: answers({ 200: Page(Bucket) }, 401),
      },
    },
    async ({ actor, query }) => {
      const { data, nextCursor } = await app.paging.page(
        query,
        ['buckets', actor.org],
        (page) => listBuckets(db, actor.org, page),
        ({ id }) => id,
      )
      return { data: data.map(shown), nextCursor }
    },
  )

  app.post(
    '/v1/buckets',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createBucket',
        summary: 'Create a bucket',
        description: 'Filters add conversations that arrive from now on, not stored ones.',
        querystring: NoQuery,
        body: BucketCreate,
        response: answers({ 201: Bucket }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body: { type, ...given } }, reply) => {
      const settings = withGiven(defaults, given)
      await requireSound(db, actor.org, type, settings, given)
      const created = await db.transaction().execute(async (trx) => {
        if ((await countBuckets(trx, actor.org)) >= mostBuckets) {
          throw new ApiError('conflict', `An organization can have at most ${mostBuckets} buckets. Delete one first.`)
        }
        const until = drawnUntil(settings, clock.now())
        const bucket = await insertBucket(trx, actor.org, { id: newId(), type, drawnUntil: until, ...settings })
        await tellReviewers(trx, actor, { bucketId: bucket.id, userIds: bucket.reviewerUserIds })
        await recordAudit(trx, actor, 'bucket.create', { type: 'bucket', id: bucket.id })
        return bucket
      })
      return reply.code(201).header('location', `/v1/buckets/${created.id}`).send(shown(created))
    },
  )

  app.get(
    '/v1/buckets/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getBucket',
        summary: 'Get a bucket',
        description: 'For review progress, use `/progress`.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Bucket }, 401, 404),
      },
    },
    async ({ actor, params }) => shown(await getBucket(db, actor.org, params.id)),
  )

  app.patch(
    '/v1/buckets/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateBucket',
        summary: 'Update a bucket',
        description:
          'New filters, shares, and quotas apply to conversations that arrive from now on. Conversations that are already in the bucket stay in it. The type cannot change.',
        params: IdParams,
        querystring: NoQuery,
        body: BucketUpdate,
        response: answers({ 200: Bucket }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const { type, ...present } = await lockBucket(trx, actor.org, params.id)
        const settings = withGiven(present, body)
        await requireSound(trx, actor.org, type, settings, body)
        const restart = selectsOtherwise(present, settings)
          ? { drawnUntil: drawnUntil(settings, clock.now()) }
          : undefined
        const updated = await updateBucket(trx, actor.org, params.id, settings, restart)
        const added = updated.reviewerUserIds.filter((id) => !present.reviewerUserIds.includes(id))
        await tellReviewers(trx, actor, { bucketId: updated.id, userIds: added })
        await recordAudit(trx, actor, 'bucket.update', { type: 'bucket', id: updated.id })
        return shown(updated)
      }),
  )

  app.delete(
    '/v1/buckets/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'deleteBucket',
        summary: 'Delete a bucket',
        description: 'Completed reviews are kept as reviews outside buckets. Unfinished ones are deleted.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      await db.transaction().execute(async (trx) => {
        const concerned = await lockWholeBucket(trx, actor.org, params.id)
        await lockConversations(trx, actor.org, concerned)
        await deleteBucket(trx, actor.org, params.id)
        await settleConversations(trx, actor.org, concerned, clock.now())
        await recordAudit(trx, actor, 'bucket.delete', { type: 'bucket', id: params.id.toLowerCase() })
      })
      return reply.code(204).send(null)
    },
  )
}
