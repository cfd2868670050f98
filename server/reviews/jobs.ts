import { lockConversations, settleConversations, settleItem } from '../buckets/review-status/queries.ts'
import type { Deps } from '../platform/deps.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineSweep, trustedTime } from '../platform/jobs/define-sweep.ts'
import { listLapsed, listOrganizationsWithLapsedAllOrgs } from './queries.ts'

const batchSize = 500

/**
 * Writes down that leases have ended, so that the review status of conversations tells. Claims go by the clock and do
 * not wait for it.
 */
export const lapseReviews = defineSweep({
  name: 'review.lapse',
  schedule: '*/5 * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithLapsedAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batchSize, (page) => listLapsed(db, org, now, page), after),
  sweepItem: (_deps, { bucketId, conversationId }, { org, now, attempt }) =>
    attempt.transaction(async (trx) => {
      await lockConversations(trx, org, [conversationId])
      await settleItem(trx, org, bucketId, conversationId, now)
      await settleConversations(trx, org, [conversationId], now)
    }),
})
