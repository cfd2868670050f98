import Type from 'typebox'
import { getOrganization } from '../../organizations/queries.ts'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { dayMs } from '../../platform/durations.ts'
import { defineCleanup } from '../../platform/jobs/define-cleanup.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { type EventType, featureOf } from '../events.ts'
import { disableEndpoint, findSealedEndpoint, replacedSecrets, updateHealth } from '../queries.ts'
import { openSigningSecrets } from '../secret.ts'
import { takeLane } from './lanes.ts'
import { type Posted, post } from './post.ts'
import { failDelivery, findDelivery, insertAttempt, oldDeliveries, updateDelivery } from './queries.ts'
import { retryDelayMs } from './retry.ts'
import { signedHeaders } from './sign.ts'

type Delivery = NonNullable<Awaited<ReturnType<typeof findDelivery>>>
type Endpoint = NonNullable<Awaited<ReturnType<typeof findSealedEndpoint>>>

const failingLimitMs = 5 * dayMs

/** Returns the reason why nothing may be sent now, or undefined. Each attempt checks this. */
const refusalOf = async (db: Db, org: OrgId, delivery: Delivery, endpoint: Endpoint) => {
  if (endpoint.status === 'proposed') return 'The endpoint is waiting for an admin’s approval.'
  if (endpoint.status === 'disabled') return 'The endpoint is disabled.'
  const { status, features } = await getOrganization(db, org)
  if (status === 'suspended') return 'The organization is suspended.'
  // Only `sendEvent` writes this value.
  const feature = featureOf(delivery.eventType as EventType)
  if (feature && !features[feature]) return `The feature ${feature} is disabled for the organization.`
  return delivery.isWanted ? undefined : 'The person who requested the notification is no longer a member.'
}

const faultOf = ({ statusCode, error }: Posted): string | undefined => {
  if (statusCode === null) return error ?? 'The endpoint did not respond.'
  if (statusCode >= 200 && statusCode < 300) return undefined
  const isRedirect = statusCode >= 300 && statusCode < 400
  return `The endpoint returned status ${statusCode}${isRedirect ? '. Redirects are not followed' : ''}.`
}

/** Stores an attempt's result and its consequences. If the endpoint was disabled, returns the reason. */
const settle = async (
  { jobs, clock }: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  { delivery, endpoint, posted }: { delivery: Delivery; endpoint: Endpoint; posted: Posted },
): Promise<'gone' | 'failing' | undefined> => {
  const { id, earlierAttempts } = delivery
  const { retryAfterMs, ...attempt } = posted
  const attemptCount = delivery.attemptCount + 1
  const now = clock.now()
  const fault = faultOf(posted)
  const end = (status: 'succeeded' | 'failed', reason: string | null) =>
    updateDelivery(trx, org, id, { status, reason, nextAttemptAt: null, attemptCount })

  // Nothing is inserted if the delivery was erased in the meantime.
  if (!(await insertAttempt(trx, org, { deliveryId: id, number: attemptCount, ...attempt }))) return undefined
  await updateHealth(trx, org, endpoint, fault === undefined, now)
  await publishChanges(
    trx,
    org,
    { resource: 'webhook-endpoints', kind: 'updated', ids: [endpoint.id] },
    { resource: 'health', kind: 'updated' },
  )
  if (fault === undefined) {
    await end('succeeded', null)
    return undefined
  }
  if (posted.statusCode === 410) {
    await end('failed', 'The endpoint returned status 410, so Earshot disabled it.')
    return (await disableEndpoint(trx, org, endpoint, { reason: 'gone', now })) ? 'gone' : undefined
  }
  const failures = attemptCount - earlierAttempts
  const delayMs = retryDelayMs(failures, retryAfterMs)
  if (delayMs === undefined) {
    await end('failed', `Gave up after ${failures} attempts. ${fault}`)
    const failingSince = new Date(now.getTime() - failingLimitMs)
    const disabling = { reason: 'failing', now, failingSince } as const
    return (await disableEndpoint(trx, org, endpoint, disabling)) ? 'failing' : undefined
  }
  const nextAttemptAt = new Date(now.getTime() + delayMs)
  await updateDelivery(trx, org, id, { status: 'pending', reason: fault, nextAttemptAt, attemptCount })
  const next = { organizationId: org, endpointId: endpoint.id, deliveryId: id, attempt: attemptCount + 1 }
  await jobs.enqueue(trx, deliver, next, { afterSeconds: delayMs / 1_000 })
  return undefined
}

type Payload = { organizationId: OrgId; deliveryId: string; attempt: number }

/** Makes one attempt. Reads all data when a lane is free, so that no outdated data is sent. */
const tryOnce = async (deps: Deps, payload: Payload, attempt: Attempt): Promise<void> => {
  const { db, secrets, clock, log } = deps
  const { organizationId: org, deliveryId } = payload
  const delivery = await findDelivery(db, org, deliveryId)
  if (delivery?.status !== 'pending' || delivery.attemptCount + 1 !== payload.attempt) return
  const refuse = (reason: string) => attempt.finish((trx) => failDelivery(trx, org, deliveryId, reason))
  const endpoint = await findSealedEndpoint(db, org, delivery.endpointId)
  if (!endpoint) return void (await refuse('The endpoint was deleted.'))
  const refusal = await refusalOf(db, org, delivery, endpoint)
  if (refusal !== undefined) return void (await refuse(refusal))
  const { body } = delivery
  const valid = openSigningSecrets(secrets, org, endpoint, clock.now())
  const headers = signedHeaders(valid, { id: `msg_${deliveryId}`, timestamp: clock.now(), body })
  const posted = await post(deps, { url: endpoint.url, headers, body })
  const disabled = await attempt.finish((trx) => settle(deps, trx, org, { delivery, endpoint, posted }))
  if (disabled) log.warn({ org, endpointId: endpoint.id, reason: disabled }, 'a webhook endpoint was disabled')
}

/**
 * Makes one attempt. Enqueues the next attempt in the transaction that stores the result. If a process dies in between,
 * the event is sent again with the same ID.
 */
export const deliver = defineJob({
  name: 'webhook.deliver',
  payload: Type.Object({
    organizationId: OrganizationId,
    endpointId: Type.String(),
    deliveryId: Type.String(),
    attempt: Type.Integer(),
  }),
  // These retries are for failures that are not caused by the receiver, such as an unavailable database or a process
  // that dies.
  retryLimit: 10,
  timeoutSeconds: 60,
  // Deliveries spend most of their time waiting for responses.
  concurrency: 64,
  run: async (deps: Deps, payload, attempt): Promise<void> => {
    const lane = await takeLane(payload.endpointId)
    if ('pauseMs' in lane) {
      const afterSeconds = lane.pauseMs / 1_000
      await attempt.finish((trx) => deps.jobs.enqueue(trx, deliver, payload, { afterSeconds }))
      return
    }
    try {
      await tryOnce(deps, payload, attempt)
    } finally {
      lane.leave()
    }
  },
  onFailed: async (_deps, { organizationId, deliveryId }, trx) => {
    await failDelivery(trx, organizationId, deliveryId, 'The delivery failed. Ask the operator of the service.')
  },
})

/** Deletes old deliveries and expired secrets. */
export const sweepWebhooks = defineCleanup({
  name: 'webhook.sweep',
  schedule: '10 * * * *',
  rows: { deliveries: oldDeliveries, secrets: replacedSecrets },
})
