import { at, textOf } from '../conversations/transcripts/json.ts'
import type { Provider } from '../conversations/transcripts/provider-calls/read-call.ts'
import type { Deps } from '../deps.ts'
import { newId } from '../platform/ids.ts'
import { applyPayload, type Integration, type Settle } from './apply.ts'
import { insertDelivery } from './deliveries/queries.ts'
import type { Settled } from './deliveries/status.ts'
import { keepable } from './keepable.ts'
import { type Parsed, parsePayload, sealPayload } from './payload.ts'
import { announcedIn } from './twilio/announced.ts'
import { pullTranscript } from './twilio/jobs.ts'

const eventPaths: Record<Provider, string[]> = {
  vapi: ['message', 'type'],
  retell: ['event'],
  elevenlabs: ['type'],
  twilio: ['event_type'],
  livekit: ['event'],
}

const eventOf = (provider: Provider, parsed: Parsed): string | null => {
  const event = 'value' in parsed ? textOf(at(parsed.value, ...eventPaths[provider])) : null
  return event?.slice(0, 120).toWellFormed() ?? null
}

/** What is of no finished call has nothing to replay; and what is of an erased one must not stay. */
const isWorthKeeping = (status: Settled['status']): boolean => status !== 'erased' && status !== 'ignored'

type Received = { body: Buffer; contentType: string | null }

/** A verified call of a provider: applied and written down, in one transaction, before it is answered. */
export const receiveDelivery = async (
  deps: Deps,
  integration: Integration,
  { body, contentType }: Received,
): Promise<Settled & { deliveryId: string }> => {
  const { org, provider } = integration
  const parsed = parsePayload(body, contentType)
  const id = newId()
  const kept = await keepable(deps, integration, body, parsed)
  const payload = kept && (await sealPayload(deps.secrets, org, id, kept))
  const settle: Settle = (trx, { status, reason, conversationId }) =>
    insertDelivery(trx, org, {
      ...{ id, integrationId: integration.id, status, reason, conversationId },
      event: status === 'erased' ? null : eventOf(provider, parsed),
      bytes: body.length,
      // What is redacted is written anew, as JSON.
      contentType: kept === null || kept === body ? contentType : 'application/json',
      payload: isWorthKeeping(status) ? payload : null,
      receivedAt: deps.clock.now(),
    })
  if (announcedIn(provider, parsed) === undefined) {
    return { ...(await applyPayload(deps, integration, parsed, settle)), deliveryId: id }
  }
  const pending: Settled = { status: 'pending', reason: null, conversationId: null }
  await deps.db.transaction().execute(async (trx) => {
    await settle(trx, pending)
    await deps.jobs.enqueue(trx, pullTranscript, { organizationId: org, deliveryId: id })
  })
  return { ...pending, deliveryId: id }
}
