import type { Deps } from '../platform/deps.ts'
import { newId } from '../platform/ids.ts'
import { applyPayload, type Integration, type Settle } from './apply-payload.ts'
import { insertDelivery } from './deliveries/queries.ts'
import type { SettledDelivery } from './deliveries/status.ts'
import { sealPayload } from './payload.ts'
import { lockIntegrationShared } from './queries.ts'
import { readPayload } from './read-payload.ts'
import { enqueuePull } from './twilio/enqueue.ts'

/**
 * Returns whether the payload is stored. Without a finished call, there is nothing to replay, and data of an erased
 * call must not stay.
 */
const isWorthKeeping = (status: SettledDelivery['status']): boolean => status !== 'erased' && status !== 'ignored'

type Received = { body: Buffer; contentType: string | null }

/** Processes a verified webhook before responding. The conversation and the delivery are stored in one transaction. */
export const receiveDelivery = async (
  deps: Deps,
  integration: Integration,
  { body, contentType }: Received,
): Promise<SettledDelivery & { deliveryId: string }> => {
  const { org } = integration
  const { event, announced, redacted, reading } = await readPayload(deps, integration, body, contentType)
  const id = newId()
  const storedPayload = typeof redacted === 'string' ? Buffer.from(redacted) : redacted === null ? null : body
  const payload = storedPayload && (await sealPayload(deps.secrets, org, id, storedPayload))
  const settle: Settle = async (trx, { status, reason, conversationId }) => {
    // The lock ensures that an integration that is being deleted receives no webhooks.
    await lockIntegrationShared(trx, org, integration.id)
    await insertDelivery(trx, org, {
      id,
      integrationId: integration.id,
      status,
      reason,
      conversationId,
      event: status === 'erased' ? null : event,
      bytes: body.length,
      // A redacted payload is always JSON.
      contentType: typeof redacted !== 'string' ? contentType : 'application/json',
      payload: isWorthKeeping(status) ? payload : null,
      receivedAt: deps.clock.now(),
    })
  }
  if (announced === undefined) {
    return { ...(await applyPayload(deps, integration, reading, settle)), deliveryId: id }
  }
  const pending: SettledDelivery = { status: 'pending', reason: null, conversationId: null }
  await deps.db.transaction().execute(async (trx) => {
    await settle(trx, pending)
    await enqueuePull(deps, trx, announced, { organizationId: org, deliveryId: id })
  })
  return { ...pending, deliveryId: id }
}
