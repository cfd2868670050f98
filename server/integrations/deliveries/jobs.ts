import Type from 'typebox'
import type { Deps } from '../../platform/deps.ts'
import { defineCleanup } from '../../platform/jobs/define-cleanup.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { takeWaitingOf } from '../audio/queries.ts'
import { dropFile } from '../audio/waiting.ts'
import { replacedSecrets } from '../queries.ts'
import { deleteDeliveriesOf, oldDeliveries, oldPayloads } from './queries.ts'

const batch = 500

/** Deletes the deliveries of a deleted integration. */
export const deleteDeliveries = defineJob({
  name: 'integration.delete-deliveries',
  payload: Type.Object({ organizationId: OrganizationId, integrationId: Type.String() }),
  run: async (deps: Deps, { organizationId, integrationId }, { signal, transaction }) => {
    const org = organizationId
    await transaction(async (trx) => {
      for (const { file } of await takeWaitingOf(trx, org, integrationId)) await dropFile(deps, trx, org, file)
    })
    while ((await deleteDeliveriesOf(deps.db, org, integrationId, batch)) === batch) signal.throwIfAborted()
  },
})

/** Deletes expired payloads, deliveries, and replaced secrets. */
export const sweepDeliveries = defineCleanup({
  name: 'integration.sweep-deliveries',
  schedule: '20 * * * *',
  rows: { payloads: oldPayloads, deliveries: oldDeliveries, secrets: replacedSecrets },
})
