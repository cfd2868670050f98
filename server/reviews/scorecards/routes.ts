import { getBucket } from '../../buckets/queries.ts'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams, NoQuery } from '../../platform/http/schemas.ts'
import { requireOwnAnswer } from '../blind.ts'
import { getReview, isBlind } from '../queries.ts'
import { listScorecardResults } from './queries.ts'
import { ReviewedScorecards } from './schema.ts'
import { itemsToJudge, judgedTotal } from './totals.ts'

export const reviewScorecards = (app: App, { db, clock }: Deps): void => {
  app.get(
    '/v1/reviews/:id/scorecards',
    {
      config: { access: { role: 'viewer', entitlement: 'monitors' } },
      schema: {
        tags: ['Reviews'],
        operationId: 'listReviewScorecards',
        summary: 'Get a review’s scorecards',
        description:
          'Computes scorecards from the review’s judgments instead of the monitors’ results. Returns the bucket’s ' +
          'scorecards or, for a review outside a bucket, scorecards with a judged item. An item that is not judged ' +
          'is unscored.',
        params: IdParams,
        querystring: NoQuery,
        response: answers({ 200: ReviewedScorecards }, 401, 403, 404),
      },
    },
    async ({ actor, params }) => {
      const { org } = actor
      const review = await getReview(db, org, params.id, clock.now())
      const { conversationId, judgments, bucketId, reviewerUserId } = review
      if (reviewerUserId !== actor.userId) await requireOwnAnswer(db, actor, conversationId)
      const bucket = bucketId === null ? undefined : await getBucket(db, org, bucketId)
      const monitorIds = bucket && bucket.monitorIds.length > 0 ? bucket.monitorIds : undefined
      const scorecards = await listScorecardResults(db, org, conversationId, monitorIds)
      const isJudged = (ids: string[]) => judgments.some(({ monitorId }) => ids.includes(monitorId))
      const judged = { judgments, isBlind: await isBlind(db, org, actor.userId, conversationId) }
      const data = scorecards
        .filter((scorecard) => monitorIds !== undefined || isJudged(itemsToJudge([scorecard])))
        .map((scorecard) => {
          const { score, isAffected, breakdown } = judgedTotal(judged, scorecard)
          return {
            monitorId: scorecard.monitorId,
            monitorVersion: scorecard.version,
            score,
            result: isAffected === null ? null : isAffected ? ('affected' as const) : ('not_affected' as const),
            band: breakdown.band,
            sections: breakdown.sections,
          }
        })
      return { data }
    },
  )
}
