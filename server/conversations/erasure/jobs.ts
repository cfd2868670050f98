import Type from 'typebox'
import type { Deps } from '../../deps.ts'
import { recordServiceAudit } from '../../platform/audit/record.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { attemptEach } from '../../platform/jobs/attempt-each.ts'
import { type Attempt, defineJob } from '../../platform/jobs/define-job.ts'
import { eraseConversations } from './erase.ts'
import { listOutdatedConversations, listRetainingOrganizationsAllOrgs } from './queries.ts'

const dayMs = 24 * 60 * 60 * 1_000
const batchSize = 500

/** A batch is a transaction of its own: what is interrupted goes on with the next run. */
const eraseOutdated = async (deps: Deps, org: OrgId, before: Date, attempt: Attempt): Promise<number> => {
  let count = 0
  let after: { startedAt: Date; id: string } | undefined
  for (;;) {
    attempt.signal.throwIfAborted()
    const batch = await listOutdatedConversations(deps.db, org, before, batchSize, after)
    after = batch.at(-1)
    if (after === undefined) return count
    const ids = batch.map(({ id }) => id)
    count += await attempt.transaction(async (trx) => {
      const erased = await eraseConversations(deps, trx, org, ids)
      if (erased.length === 0) return 0
      const job = { kind: 'service', keyId: null, requestId: attempt.jobId } as const
      const targets = erased.map((id) => ({ type: 'conversation', id }))
      await recordServiceAudit(trx, org, job, 'conversation.erase', ...targets)
      return erased.length
    })
  }
}

/** Erases the conversations that began longer ago than their organization keeps them. */
export const eraseByRetention = defineJob({
  name: 'conversation.retention',
  payload: Type.Object({}),
  schedule: '20 * * * *',
  timeoutSeconds: 55 * 60,
  concurrency: 1,
  run: async (deps: Deps, _payload, attempt) => {
    const now = await deps.sweeps.time()
    if (!now) return
    const retaining = await listRetainingOrganizationsAllOrgs(deps.db)
    await attemptEach(attempt, retaining, async ({ org, retentionDays }) => {
      const before = new Date(now.getTime() - retentionDays * dayMs)
      const erased = await eraseOutdated(deps, org, before, attempt)
      if (erased > 0) deps.log.info({ organizationId: org, erased }, 'erased conversations that were kept long enough')
    })
  },
})
