import Type from 'typebox'
import { recordServiceAudit } from '../../../platform/audit/record.ts'
import { publishChanges } from '../../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../../platform/db/database.ts'
import type { Deps } from '../../../platform/deps.ts'
import { dayMs } from '../../../platform/durations.ts'
import { defineJob, OrganizationId } from '../../../platform/jobs/define-job.ts'
import { defineSweep, trustedTime } from '../../../platform/jobs/define-sweep.ts'
import { deleteFilesOf } from '../jobs.ts'
import { forgetFiles } from '../queries.ts'
import {
  type Expired,
  findPolicy,
  listExpired,
  listExpiringOrganizationsAllOrgs,
  listRecorded,
  lockExpired,
  setExpiry,
} from './queries.ts'

/** Deletes the files of recordings when the policy of their agent says so. Their measures stay. */

const batchSize = 200

/** The time and the last conversation identify a batch. */
async function* listBatches({ db }: Deps, org: OrgId, now: Date, first: string | undefined) {
  const [expiresAt, conversationId] = first?.split(' ') ?? []
  let after: Expired | undefined =
    expiresAt && conversationId ? { expiresAt: new Date(expiresAt), conversationId } : undefined
  for (;;) {
    const batch = await listExpired(db, org, now, batchSize, after)
    after = batch.at(-1)
    if (after === undefined) return
    yield {
      id: `${after.expiresAt.toISOString()} ${after.conversationId}`,
      conversationIds: batch.map((each) => each.conversationId),
    }
  }
}

export const deleteExpired = defineSweep({
  name: 'recording.expire',
  schedule: '25 * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listExpiringOrganizationsAllOrgs(db, now),
  listItems: (deps, { org, now, after }) => listBatches(deps, org, now, after),
  sweepItem: async (deps, { conversationIds }, { org, now, attempt }) => {
    await attempt.transaction(async (trx) => {
      const expired = await lockExpired(trx, org, conversationIds, now)
      if (expired.length === 0) return
      for (const recording of expired) {
        await forgetFiles(trx, org, recording.conversationId)
        await deleteFilesOf(deps, trx, org, recording)
      }
      const ids = expired.map((recording) => recording.conversationId)
      const job = { kind: 'service', keyId: null, requestId: attempt.jobId } as const
      const targets = ids.map((id) => ({ type: 'conversation', id }))
      await recordServiceAudit(trx, org, job, 'conversation.deleteRecording', ...targets)
      await publishChanges(trx, org, { resource: 'conversations', kind: 'updated', ids })
      const unsettled = expired.filter(({ isUnsettled }) => isUnsettled).map((recording) => recording.conversationId)
      if (unsettled.length > 0) await deps.reactions.soundSettled(trx, org, { conversationIds: unsettled })
    })
  },
})

const pageSize = 500

/** Applies the policy of an agent to its existing recordings. Running it again changes nothing. */
export const applyPolicy = defineJob({
  name: 'recording.apply-policy',
  payload: Type.Object({ organizationId: OrganizationId, agentId: Type.String() }),
  concurrency: 1,
  timeoutSeconds: 30 * 60,
  run: async (deps: Deps, { organizationId: org, agentId }, attempt) => {
    const { db, clock } = deps
    const policy = await findPolicy(db, org, agentId)
    if (!policy) return
    const { keep, days } = policy
    const expiryOf = (startedAt: Date): Date | null => {
      if (days !== null) return new Date(startedAt.getTime() + days * dayMs)
      return keep === 'all' ? null : clock.now()
    }
    let after: { startedAt: Date; id: string } | undefined
    do {
      attempt.signal.throwIfAborted()
      const page = await listRecorded(db, org, agentId, pageSize, after)
      const rows = page.map(({ id, startedAt }) => ({ conversationId: id, expiresAt: expiryOf(startedAt) }))
      if (rows.length > 0) await attempt.transaction((trx) => setExpiry(trx, org, rows))
      after = page.at(-1)
    } while (after !== undefined)
  },
})

/** Enqueues a job that applies a changed policy to existing recordings, in the same transaction as the change. */
export const applyPolicyLater = (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { agentId }: { agentId: string },
): Promise<unknown> => jobs.enqueue(trx, applyPolicy, { organizationId: org, agentId }, { org })
