import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../../platform/http/schemas.ts'
import { Adjudication, Review } from '../schema.ts'
import { adjudicate } from './adjudicate.ts'

export const reviewAdjudication = (app: App, deps: Deps): void => {
  app.post(
    '/v1/reviews/:id/adjudicate',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Reviews'],
        operationId: 'adjudicateReview',
        summary: 'Adjudicate conflicting reviews',
        description:
          'Creates and completes a review of your own. Its judgments replace the conflicting ones. Reviewers ' +
          'of the bucket who have not reviewed the conversation can do this, and so can admins.',
        params: IdParams,
        querystring: NoQuery,
        body: Adjudication,
        response: answers({ 201: Review }, 400, 401, 403, 404, 409),
      },
    },
    async ({ actor, params, body }, reply) => {
      const review = await deps.db.transaction().execute(async (trx) => {
        const made = await adjudicate(deps, trx, actor, params.id, body)
        await recordAudit(trx, actor, 'review.adjudicate', { type: 'review', id: made.id })
        return made
      })
      return reply.code(201).header('location', `/v1/reviews/${review.id}`).send(review)
    },
  )
}
