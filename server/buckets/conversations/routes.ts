import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Closed, Empty, Id, IdParams, NoQuery, Page } from '../../platform/http/schemas.ts'
import { getBucket, lockBucketShared } from '../queries.ts'
import { lockConversations, settleConversations } from '../review-status/queries.ts'
import { addConversations, requireByHand } from './add-conversations.ts'
import { deleteItem, listItems } from './queries.ts'
import {
  BucketConversation,
  BucketConversationQuery,
  BucketConversations,
  BucketConversationsAnswer,
} from './schema.ts'

const tags = ['Buckets']

export const bucketConversations = (app: App, { db, clock }: Deps): void => {
  app.get(
    '/v1/buckets/:id/conversations',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listBucketConversations',
        summary: 'List a bucket’s conversations',
        description:
          'Latest added first. `reviewsCompleted` and `reviewsWanted` show each conversation’s progress. Use `status` to filter.',
        params: IdParams,
        querystring: BucketConversationQuery,
        response: answers({ 200: Page(BucketConversation) }, 400, 401, 404),
      },
    },
    async ({ actor, params, query: { limit, cursor, status } }) => {
      const { id: bucketId } = await getBucket(db, actor.org, params.id)
      return app.paging.page(
        { limit, cursor },
        ['bucket-conversations', actor.org, bucketId, status],
        (page) => listItems(db, actor.org, { bucketId, status }, page),
        ({ addedAt, conversationId }) => `${addedAt.toISOString()} ${conversationId}`,
      )
    },
  )

  app.post(
    '/v1/buckets/:id/conversations',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'addBucketConversations',
        summary: 'Add conversations to a bucket',
        description: 'Each conversation has its own outcome in the response. Returns 409 for a sampled bucket.',
        params: IdParams,
        querystring: NoQuery,
        body: BucketConversations,
        response: answers({ 200: BucketConversationsAnswer }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const bucket = await lockBucketShared(trx, actor.org, params.id)
        requireByHand(bucket)
        const ids = body.conversationIds.map((id) => id.toLowerCase())
        const outcome = await addConversations(trx, actor.org, bucket, [...new Set(ids)], clock.now())
        const [present, added] = [new Set(outcome.present), new Set(outcome.added)]
        await recordAudit(trx, actor, 'bucket.add', { type: 'bucket', id: bucket.id })
        const data = ids.map((id, index) => {
          // If a conversation is listed twice, it is already in the bucket the second time.
          if (added.delete(id)) return { index, status: 'created' as const }
          return { index, status: present.has(id) ? ('unchanged' as const) : ('rejected' as const) }
        })
        return { data }
      }),
  )

  app.delete(
    '/v1/buckets/:id/conversations/:conversationId',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'removeBucketConversation',
        summary: 'Remove a conversation from a bucket',
        description: 'Completed reviews are kept as reviews outside buckets. Returns 409 for a sampled bucket.',
        params: Closed({ id: Id, conversationId: Id }),
        querystring: NoQuery,
        response: answers({ 204: Empty }, 401, 403, 404, 409),
      },
    },
    async ({ actor, params }, reply) => {
      const conversationId = params.conversationId.toLowerCase()
      await db.transaction().execute(async (trx) => {
        const bucket = await lockBucketShared(trx, actor.org, params.id)
        requireByHand(bucket)
        await lockConversations(trx, actor.org, [conversationId])
        await deleteItem(trx, actor.org, bucket.id, conversationId)
        await settleConversations(trx, actor.org, [conversationId], clock.now())
        await recordAudit(
          trx,
          actor,
          'bucket.remove',
          { type: 'bucket', id: bucket.id },
          { type: 'conversation', id: conversationId },
        )
      })
      return reply.code(204).send(null)
    },
  )
}
