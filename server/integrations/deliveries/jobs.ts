import Type from 'typebox'
import type { Deps } from '../../deps.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { defineJob } from '../../platform/jobs/define-job.ts'
import { takeWaitingOf } from '../audio/queries.ts'
import { dropFile } from '../audio/waiting.ts'
import { clearPreviousSecretsAllOrgs } from '../queries.ts'
import { clearPayloadsAllOrgs, deleteDeliveriesOf, deleteOldDeliveriesAllOrgs } from './queries.ts'

const batch = 500
const dayMs = 24 * 60 * 60 * 1_000
const days = { settledPayload: 7, openPayload: 30, delivery: 90 }

/** Until a batch is not full any more. */
const repeat = async (signal: AbortSignal, work: () => Promise<number>): Promise<number> => {
  for (let total = 0; ; ) {
    signal.throwIfAborted()
    const done = await work()
    total += done
    if (done < batch) return total
  }
}

/** What a deleted integration had received. */
export const deleteDeliveries = defineJob({
  name: 'integration.delete-deliveries',
  payload: Type.Object({ organizationId: Type.String(), integrationId: Type.String() }),
  run: async (deps: Deps, { organizationId, integrationId }, { signal, transaction }) => {
    // The one who enqueued it wrote the id of an organization.
    const org = organizationId as OrgId
    await transaction(async (trx) => {
      for (const { file } of await takeWaitingOf(trx, org, integrationId)) await dropFile(deps, trx, org, file)
    })
    await repeat(signal, () => deleteDeliveriesOf(deps.db, org, integrationId, batch))
  },
})

/** Payloads, deliveries and replaced secrets whose time is over. */
export const sweepDeliveries = defineJob({
  name: 'integration.sweep-deliveries',
  payload: Type.Object({}),
  schedule: '20 * * * *',
  run: async ({ db, sweeps, log }: Deps, _payload, { signal }) => {
    const now = await sweeps.time()
    if (!now) return
    const before = (count: number) => new Date(now.getTime() - count * dayMs)
    const due = { settledBefore: before(days.settledPayload), openBefore: before(days.openPayload) }
    const payloads = await repeat(signal, () => clearPayloadsAllOrgs(db, due, batch))
    const deliveries = await repeat(signal, () => deleteOldDeliveriesAllOrgs(db, before(days.delivery), batch))
    await clearPreviousSecretsAllOrgs(db, now)
    if (payloads + deliveries > 0) log.info({ payloads, deliveries }, 'swept what providers had sent')
  },
})
