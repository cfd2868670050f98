import { lockConversationsByExternalId } from '../../conversations/ingest/queries.ts'
import type { Deps } from '../../platform/deps.ts'
import { eachOfPages } from '../../platform/jobs/attempt-each.ts'
import { defineSweep, trustedTime } from '../../platform/jobs/define-sweep.ts'
import { updateDelivery } from '../deliveries/queries.ts'
import { listDue, listDueOrganizationsAllOrgs, takeExpired } from './queries.ts'
import { attachWaiting, dropFile } from './waiting.ts'

const batch = 100

/**
 * Attaches waiting recordings of conversations that arrived through another source or at the same time. Deletes
 * recordings that have waited too long.
 */
export const sweepWaitingRecordings = defineSweep({
  name: 'recording.sweep-waiting',
  schedule: '* * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listDueOrganizationsAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batch, (page) => listDue(db, org, now, page), after),
  sweepItem: (deps, { id: externalId }, { org, now, attempt }) =>
    attempt.transaction(async (trx) => {
      const [conversation] = await lockConversationsByExternalId(trx, org, [externalId])
      if (conversation) return attachWaiting(deps, trx, org, { externalId, conversationId: conversation.id })
      for (const { deliveryId, file } of await takeExpired(trx, org, externalId, now)) {
        await dropFile(deps, trx, org, file)
        const reason = 'No conversation was received for this call.'
        await updateDelivery(trx, org, deliveryId, { status: 'failed', reason, conversationId: null }, 'pending')
      }
    }),
})
