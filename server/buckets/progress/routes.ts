import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, IdParams } from '../../platform/http/schemas.ts'
import { readTimeZone } from '../../platform/time-zone.ts'
import { getBucket } from '../queries.ts'
import { countItems, countReviews } from './queries.ts'
import { Progress, ProgressQuery } from './schema.ts'

const mostReviewers = 500

export const bucketProgress = (app: App, { db, clock }: Deps): void => {
  app.get(
    '/v1/buckets/:id/progress',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags: ['Buckets'],
        operationId: 'getBucketProgress',
        summary: 'Get a bucket’s review progress',
        description:
          'Counts reviewed and remaining conversations, in total and by reviewer. `timezone` sets when the day starts.',
        params: IdParams,
        querystring: ProgressQuery,
        response: answers({ 200: Progress }, 400, 401, 404),
      },
    },
    async ({ actor, params, query }) => {
      const timezone = readTimeZone(query.timezone, 'timezone')
      const { id: bucketId } = await getBucket(db, actor.org, params.id)
      const progressQuery = { bucketId, now: clock.now(), timezone }
      const { wanted, ...conversations } = await countItems(db, actor.org, progressQuery)
      const { all, reviewers } = await countReviews(db, actor.org, progressQuery, mostReviewers)
      const { claimed, completed, skipped, completedToday, skippedToday } = all
      const waiting = Math.max(0, wanted - claimed)
      const reviews = { waiting, claimed, completed, skipped, completedToday, skippedToday }
      return { conversations, reviews, reviewers }
    },
  )
}
