import { recordAudit } from '../../platform/audit/record.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { applyPayload, type Integration, type Settle } from '../apply-payload.ts'
import { openPayload } from '../payload.ts'
import { readPayload } from '../read-payload.ts'
import { enqueuePull } from '../twilio/enqueue.ts'
import { type getDelivery, updateDelivery } from './queries.ts'

type Delivery = Awaited<ReturnType<typeof getDelivery>>

/** Processes a stored delivery again, as if it had just arrived. */
export const replayDelivery = async (
  deps: Deps,
  actor: Actor,
  integration: Integration,
  { id, status, payload, contentType }: Delivery,
): Promise<void> => {
  if (status === 'pending')
    throw new ApiError('conflict', 'Earshot is still fetching this delivery’s data. Wait until it has finished.')
  if (payload === null) throw new ApiError('conflict', 'The payload is no longer stored, so it cannot be replayed.')
  const settle: Settle = async (trx, settled) => {
    await updateDelivery(trx, actor.org, id, { ...settled, ...(settled.status === 'erased' && { payload: null }) })
    await recordAudit(trx, actor, 'integration.replay', { type: 'integrationDelivery', id })
  }
  const bytes = await openPayload(deps.secrets, actor.org, id, payload)
  const { announced, reading } = await readPayload(deps, integration, bytes, contentType)
  if (announced === undefined) {
    await applyPayload(deps, integration, reading, settle)
    return
  }
  await deps.db.transaction().execute(async (trx) => {
    await settle(trx, { status: 'pending', reason: null, conversationId: null })
    await enqueuePull(deps, trx, announced, { organizationId: actor.org, deliveryId: id })
  })
}
