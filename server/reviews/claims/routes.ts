import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Empty, IdParams, NoBody, NoQuery } from '../../platform/http/schemas.ts'
import { claimNext, keepReview, releaseReview } from '../lifecycle.ts'
import { ReleaseQuery, Review } from '../schema.ts'

export const reviewClaims = (app: App, { db, clock }: Deps): void => {
  app.post(
    '/v1/buckets/:id/claim',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Buckets'],
        operationId: 'claimReview',
        summary: 'Claim the next conversation of a bucket to review',
        description:
          'The one that was put in first of those that have a free place and that you have not reviewed, skipped or ' +
          'claimed yet; one that you released or whose lease ended may come again. It is yours for 30 minutes, until ' +
          '`leaseExpiresAt`; 204 when there is none.',
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
        summary: 'Extend the lease of a review of your own to 30 minutes from now',
        description: '409 when it has ended and somebody else has its place.',
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
        summary: 'Give back what you claimed; what you wrote stays for when it comes to you again',
        description: 'Send the `leaseExpiresAt` that you know, and a lease that was extended since then is kept.',
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
