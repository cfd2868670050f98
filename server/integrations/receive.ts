import type { Deps } from '../platform/deps.ts'
import { newId } from '../platform/ids.ts'
import { applyPayload, type Integration, type Settle } from './apply-payload.ts'
import { insertDelivery } from './deliveries/queries.ts'
import type { SettledDelivery } from './deliveries/status.ts'
import { sealPayload } from './payload.ts'
import { lockIntegrationShared } from './queries.ts'
import { readPayload } from './read-payload.ts'
import { enqueuePull } from './twilio/enqueue.ts'

/** An event without a finished call has nothing to replay, and data of an erased one must not stay. */
const isWorthKeeping = (status: SettledDelivery['status']): boolean => status !== 'erased' && status !== 'ignored'

type Received = { body: Buffer; contentType: string | null }

/** Processes a verified webhook: the conversation and the delivery are one transaction, before the response. */
export const receiveDelivery = async (
  deps: Deps,
  integration: Integration,
  { body, contentType }: Received,
): Promise<SettledDelivery & { deliveryId: string }> => {
  const { org } = integration
  const { event, announced, redacted, reading } = await readPayload(deps, integration, body, contentType)
  const id = newId()
  const kept = typeof redacted === 'string' ? Buffer.from(redacted) : redacted === null ? null : body
  const payload = kept && (await sealPayload(deps.secrets, org, id, kept))
  const settle: Settle = async (trx, { status, reason, conversationId }) => {
    // An integration that is being deleted receives nothing.
    await lockIntegrationShared(trx, org, integration.id)
    await insertDelivery(trx, org, {
      id,
      integrationId: integration.id,
      status,
      reason,
      conversationId,
      event: status === 'erased' ? null : event,
      bytes: body.length,
      // Redacted payloads are written as JSON again.
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
