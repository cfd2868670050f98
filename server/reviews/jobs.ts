import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { attemptEach, eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { listLapsedAllOrgs, lockConversations, settleConversations, settleItem } from './queries.ts'

const batchSize = 500

/**
 * Writes down that leases have ended, so that the review status of conversations tells. Claims go by the clock and do
 * not wait for it.
 */
export const lapseReviews = defineJob({
  name: 'review.lapse',
  payload: Type.Object({}),
  schedule: '*/5 * * * *',
  concurrency: 1,
  run: async ({ db, sweeps }: Deps, _payload, attempt) => {
    const now = await sweeps.time()
    if (!now) return
    const lapsed = eachOfPages(batchSize, (page) => listLapsedAllOrgs(db, now, page))
    await attemptEach(attempt, lapsed, ({ org, bucketId, conversationId }) =>
      attempt.transaction(async (trx) => {
        await lockConversations(trx, org, [conversationId])
        await settleItem(trx, org, bucketId, conversationId, now)
        await settleConversations(trx, org, [conversationId], now)
      }),
    )
  },
})
