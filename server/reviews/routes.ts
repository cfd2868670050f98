import { recordAudit } from '../platform/audit/record.ts'
import type { Deps } from '../platform/deps.ts'
import { notFound } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, IdParams, NoQuery, Page, PageQuery } from '../platform/http/schemas.ts'
import { requireOwnAnswer } from './blind.ts'
import { changeReview, createReview, lockOwnReview } from './lifecycle.ts'
import { findConversation, getReview, listReviews } from './queries.ts'
import { Review, ReviewCreate, ReviewQuery, ReviewUpdate } from './schema.ts'

const tags = ['Reviews']

const lower = (id: string | undefined) => id?.toLowerCase()

export const reviews = (app: App, deps: Deps): void => {
  const { db, clock } = deps

  app.get(
    '/v1/reviews',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listReviews',
        summary: 'List reviews',
        description:
          'Newest first. Other people’s reviews of a conversation are omitted while you have a blind review of it.',
        querystring: ReviewQuery,
        response: answers({ 200: Page(Review) }, 400, 401),
      },
    },
    ({ actor, query: { limit, cursor, status, ...given } }) => {
      const filter = {
        bucketId: lower(given.bucketId),
        conversationId: lower(given.conversationId),
        reviewerUserId: lower(given.reviewerUserId),
        status,
      }
      const view = { viewer: actor.userId, now: clock.now() }
      return app.paging.page(
        { limit, cursor },
        ['reviews', actor.org, filter],
        (page) => listReviews(db, actor.org, filter, view, page),
        ({ id }) => id,
      )
    },
  )

  app.get(
    '/v1/conversations/:id/reviews',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'listConversationReviews',
        summary: 'List a conversation’s reviews',
        description: 'Newest first. Contains only your own while you have a blind review of the conversation.',
        params: IdParams,
        querystring: PageQuery,
        response: answers({ 200: Page(Review) }, 400, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const conversationId = params.id.toLowerCase()
      if (!(await findConversation(db, actor.org, conversationId))) throw notFound()
      const view = { viewer: actor.userId, now: clock.now() }
      return app.paging.page(
        query,
        ['conversation-reviews', actor.org, conversationId],
        (page) => listReviews(db, actor.org, { conversationId }, view, page),
        ({ id }) => id,
      )
    },
  )

  app.post(
    '/v1/reviews',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'createReview',
        summary: 'Create a review outside a bucket',
        description: 'You are the reviewer. To submit it in the same request, set `status` to `completed`.',
        querystring: NoQuery,
        body: ReviewCreate,
        response: answers({ 201: Review }, 400, 401, 403, 409),
      },
    },
    async ({ actor, body: { conversationId, status, ...content } }, reply) => {
      const created = await db.transaction().execute(async (trx) => {
        const change = { ...content, ...(status === 'completed' && { status }) }
        return createReview(deps, trx, actor, conversationId, change)
      })
      return reply.code(201).header('location', `/v1/reviews/${created.id}`).send(created)
    },
  )

  app.get(
    '/v1/reviews/:id',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags,
        operationId: 'getReview',
        summary: 'Get a review',
        description: 'Returns 403 for other people’s reviews of a conversation while you have a blind review of it.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: Review }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const review = await getReview(db, actor.org, params.id, clock.now())
      if (review.reviewerUserId !== actor.userId) await requireOwnAnswer(db, actor, review.conversationId)
      return review
    },
  )

  app.patch(
    '/v1/reviews/:id',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags,
        operationId: 'updateReview',
        summary: 'Update, complete, or skip your review',
        description:
          'Omitted fields keep their values. In a bucket, this also extends your lease. Returns 409 if the ' +
          'review is completed or skipped, or if your lease expired and another reviewer has claimed the ' +
          'conversation.',
        params: IdParams,
        querystring: NoQuery,
        body: ReviewUpdate,
        response: answers({ 200: Review }, 400, 401, 403, 404, 409),
      },
    },
    ({ actor, params, body }) =>
      db.transaction().execute(async (trx) => {
        const locked = await lockOwnReview(trx, actor, params.id, clock.now())
        const changed = await changeReview(deps, trx, actor, locked, body)
        const verb = body.status === 'completed' ? 'complete' : body.status === 'skipped' ? 'skip' : 'update'
        await recordAudit(trx, actor, `review.${verb}`, { type: 'review', id: changed.id })
        return changed
      }),
  )
}
