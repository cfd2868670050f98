import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { newId } from '../platform/ids.ts'
import { deliver } from './deliveries/jobs.ts'
import { insertDelivery } from './deliveries/queries.ts'
import type { EventType } from './events.ts'
import { listSubscribedEndpoints } from './queries.ts'

/** `data` is the resource as returned by GET. */
export type WebhookEvent = { type: EventType; data: object }

type SendDeps = Pick<Deps, 'jobs' | 'clock'>

type SendOptions = {
  /** The user who must be a member for the event to be sent. Each attempt checks this again. */
  onlyWhileMember?: string
}

/**
 * Queues a delivery to an endpoint, as part of the caller's transaction. Returns the delivery's ID, or undefined if the
 * endpoint does not exist. A delivery to an inactive endpoint fails with the reason.
 */
export const sendEvent = async (
  { jobs, clock }: SendDeps,
  trx: Db,
  org: OrgId,
  endpointId: string,
  { type, data }: WebhookEvent,
  { onlyWhileMember }: SendOptions = {},
): Promise<string | undefined> => {
  const id = newId()
  const now = clock.now()
  const body = JSON.stringify({ type, timestamp: now, data })
  const delivery = { id, endpointId, eventType: type, body, onlyWhileMember, now }
  if (!(await insertDelivery(trx, org, delivery))) return undefined
  await jobs.enqueue(trx, deliver, { organizationId: org, endpointId, deliveryId: id, attempt: 1 })
  return id
}

/**
 * Sends an event to every active endpoint that subscribes to its kind, except those that receive it through
 * `sendEvent`.
 */
export const publishEvent = async (
  deps: SendDeps,
  trx: Db,
  org: OrgId,
  event: WebhookEvent,
  { exceptEndpointIds = [], ...options }: SendOptions & { exceptEndpointIds?: string[] } = {},
): Promise<void> => {
  for (const endpointId of await listSubscribedEndpoints(trx, org, event.type)) {
    if (!exceptEndpointIds.includes(endpointId)) await sendEvent(deps, trx, org, endpointId, event, options)
  }
}
