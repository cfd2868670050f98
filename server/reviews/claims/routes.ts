import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery } from '../../platform/http/schemas.ts'
import { keepReview, releaseReview } from '../lifecycle.ts'
import { ReleaseQuery, Review } from '../schema.ts'
import { claimNext } from './claim-next.ts'

export const reviewClaims = (app: App, { db, clock }: Deps): void => {
  app.post(
    '/v1/buckets/:id/claim',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Buckets'],
        operationId: 'claimReview',
        summary: 'Claim the next conversation in a bucket',
        description:
          'Returns the oldest available conversation that you have not reviewed, skipped, or claimed, and reserves ' +
          'it for 30 minutes, until `leaseExpiresAt`. You can get a conversation again after you released it or ' +
          'your lease expired. Returns 204 if no conversation is available.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: Review, 204: Empty }, 401, 403, 404),
      },
    },
    async ({ actor, params }, reply) => {
      const review = await claimNext({ db, clock }, actor, params.id.toLowerCase())
      return review ? reply.send(review) : reply.code(204).send(null)
    },
  )

  app.post(
    '/v1/reviews/:id/heartbeat',
    {
      config: { access: { role: 'member' }, unaudited: 'It only extends a lease.' },
      schema: {
        tags: ['Reviews'],
        operationId: 'keepReview',
        summary: 'Extend a review’s lease',
        description:
          'Extends the lease on your review to 30 minutes from now. Returns 409 if it expired and another reviewer has claimed the conversation.',
        params: IdParams,
        querystring: NoQuery,
        body: NoBody,
        response: answers({ 200: Review }, 401, 403, 404, 409),
      },
    },
    ({ actor, params }) => db.transaction().execute((trx) => keepReview({ clock }, trx, actor, params.id)),
  )

  app.post(
    '/v1/reviews/:id/release',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Reviews'],
        operationId: 'releaseReview',
        summary: 'Release a review',
        description:
          'Your draft is kept in case you claim the conversation again. Send the `leaseExpiresAt` you know; a lease that was extended since then is kept.',
        params: IdParams,
        querystring: ReleaseQuery,
        body: NoBody,
        response: answers({ 200: Review }, 401, 403, 404, 409),
      },
    },
    ({ actor, params, query }) =>
      db
        .transaction()
        .execute((trx) => releaseReview({ clock }, trx, actor, { id: params.id, known: query.leaseExpiresAt })),
  )
}
