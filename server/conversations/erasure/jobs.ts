import { recordServiceAudit } from '../../platform/audit/record.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { dayMs } from '../../platform/durations.ts'
import { defineSweep, trustedTime } from '../../platform/jobs/define-sweep.ts'
import { eraseConversations } from './erase.ts'
import { findRetentionDays, listOutdatedConversations, listRetainingOrganizationsAllOrgs } from './queries.ts'

const batchSize = 500

/** Lists batches starting with the oldest conversation, so that the last conversation identifies a batch. */
async function* listBatches({ db }: Deps, org: OrgId, now: Date, first: string | undefined) {
  const days = await findRetentionDays(db, org)
  if (days === null) return
  const before = new Date(now.getTime() - days * dayMs)
  const [startedAt, id] = first?.split(' ') ?? []
  for (let after = startedAt && id ? { startedAt: new Date(startedAt), id } : undefined; ; ) {
    const batch = await listOutdatedConversations(db, org, before, batchSize, after)
    after = batch.at(-1)
    if (after === undefined) return
    yield { id: `${after.startedAt.toISOString()} ${after.id}`, conversationIds: batch.map((each) => each.id) }
  }
}

/** Erases the conversations that are older than their organization's retention period. */
export const eraseByRetention = defineSweep({
  name: 'conversation.retention',
  schedule: '20 * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps) => listRetainingOrganizationsAllOrgs(db),
  listItems: (deps, { org, now, after }) => listBatches(deps, org, now, after),
  sweepItem: async (deps, { conversationIds }, { org, attempt }) => {
    const count = await attempt.transaction(async (trx) => {
      const erased = await eraseConversations(deps, trx, org, conversationIds)
      if (erased.length === 0) return 0
      const job = { kind: 'service', keyId: null, requestId: attempt.jobId } as const
      const targets = erased.map((id) => ({ type: 'conversation', id }))
      await recordServiceAudit(trx, org, job, 'conversation.erase', ...targets)
      return erased.length
    })
    if (count > 0)
      deps.log.info({ organizationId: org, erased: count }, 'erased conversations past the retention period')
  },
})
