import Type from 'typebox'
import { getOrganization } from '../../organizations/queries.ts'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { defineCleanup } from '../../platform/jobs/define-cleanup.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { type Mail, queueMail } from '../../platform/mail/mail.ts'
import { takeLane } from '../../webhooks/deliveries/lanes.ts'
import { type Posted, post } from '../../webhooks/deliveries/post.ts'
import { retryDelayMs } from '../../webhooks/deliveries/retry.ts'
import { sendEvent, type WebhookEvent } from '../../webhooks/send.ts'
import { writeEmail } from '../kinds/email.ts'
import { writeOpsgenie } from '../kinds/opsgenie.ts'
import { writePagerduty } from '../kinds/pagerduty.ts'
import type { Write } from '../kinds/request.ts'
import { writeSlack } from '../kinds/slack.ts'
import { writeTeams } from '../kinds/teams.ts'
import type { Message } from '../message.ts'
import {
  type DestinationSettings,
  findSealedDestination,
  listMemberAddresses,
  updateDestinationHealth,
} from '../queries.ts'
import { type EmailSettings, openSettings, type WebhookSettings } from '../settings.ts'
import {
  endMessageDelivery,
  findMessageDelivery,
  insertMessageAttempt,
  oldMessageDeliveries,
  supersedeOlder,
  updateMessageDelivery,
} from './queries.ts'

type Delivery = NonNullable<Awaited<ReturnType<typeof findMessageDelivery>>>
type Destination = NonNullable<Awaited<ReturnType<typeof findSealedDestination>>>

/** The kinds of destinations that receive a request. Their settings were validated when they were stored. */
const writers = {
  slack: writeSlack as Write<never>,
  teams: writeTeams as Write<never>,
  pagerduty: writePagerduty as Write<never>,
  opsgenie: writeOpsgenie as Write<never>,
}

const superseded = 'Replaced by a newer message about the same subject.'

/** Returns the reason why nothing may be sent now, if there is one. Each attempt checks this. */
const refusalOf = async (db: Db, org: OrgId, destination: Destination): Promise<string | undefined> => {
  if (destination.status === 'disabled') return 'The destination is disabled.'
  const { status } = await getOrganization(db, org)
  return status === 'suspended' ? 'The organization is suspended.' : undefined
}

const faultOf = ({ statusCode, error }: Posted): string | undefined => {
  if (statusCode === null) return error ?? 'There was no response.'
  return statusCode >= 200 && statusCode < 300 ? undefined : `The destination responded with ${statusCode}.`
}

/** Returns whether retrying is pointless because the destination rejects the content of the request. */
const isFinal = ({ statusCode }: Posted): boolean =>
  statusCode !== null && statusCode >= 300 && statusCode < 500 && ![408, 425, 429].includes(statusCode)

const publishDestination = (trx: Db, org: OrgId, id: string) =>
  publishChanges(
    trx,
    org,
    { resource: 'destinations', kind: 'updated', ids: [id] },
    { resource: 'health', kind: 'updated' },
  )

type Payload = { organizationId: OrgId; destinationId: string; deliveryId: string; attempt: number }

/** Stores the result of an attempt, and enqueues the next one if another one is allowed. */
const recordAttempt = async (
  { jobs, clock }: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  payload: Payload,
  { delivery, posted }: { delivery: Delivery; posted: Posted },
): Promise<void> => {
  const { organizationId: org, destinationId } = payload
  const { id, earlierAttempts } = delivery
  const { retryAfterMs, ...attempt } = posted
  const attemptCount = delivery.attemptCount + 1
  const now = clock.now()
  const fault = faultOf(posted)
  // Nothing is inserted if the destination was deleted in the meantime.
  if (!(await insertMessageAttempt(trx, org, { deliveryId: id, number: attemptCount, ...attempt }))) return
  await updateDestinationHealth(trx, org, destinationId, fault === undefined, now)
  await publishDestination(trx, org, destinationId)
  const end = (status: 'succeeded' | 'failed', reason: string | null) =>
    updateMessageDelivery(trx, org, id, { status, reason, nextAttemptAt: null, attemptCount })
  if (fault === undefined) return void (await end('succeeded', null))
  if (isFinal(posted)) return void (await end('failed', fault))
  const failures = attemptCount - earlierAttempts
  const delayMs = retryDelayMs(failures, retryAfterMs)
  if (delayMs === undefined) return void (await end('failed', `Gave up after ${failures} attempts. ${fault}`))
  const nextAttemptAt = new Date(now.getTime() + delayMs)
  await updateMessageDelivery(trx, org, id, { status: 'pending', reason: fault, nextAttemptAt, attemptCount })
  await jobs.enqueue(trx, deliverMessage, { ...payload, attempt: attemptCount + 1 }, { afterSeconds: delayMs / 1_000 })
}

/** A message, and its email unless it goes to a webhook endpoint. */
type Written = { message: Message; mail: Omit<Mail, 'to'> | undefined }

/** Passes a message on to the deliveries of emails or webhooks, which have their own retries. */
const handOver = async (deps: Deps, trx: Db, org: OrgId, { settings }: Destination, { message, mail }: Written) => {
  if (!mail) {
    const { endpointId } = settings as WebhookSettings
    // Messages to webhooks have an event. Only a test has none, and sends the endpoint's test event instead.
    const event = (message.event ?? { type: 'webhook.test', data: { endpointId } }) as WebhookEvent
    const isSent = (await sendEvent(deps, trx, org, endpointId, event)) !== undefined
    return isSent ? undefined : 'The webhook endpoint was deleted.'
  }
  const { addresses, memberIds } = settings as EmailSettings
  const to = [...addresses, ...(await listMemberAddresses(trx, org, memberIds))]
  if (to.length === 0) return 'None of the members are active.'
  await queueMail(deps, trx, org, { to, ...mail })
  return deps.config.smtp ? undefined : 'No mail server is configured. Ask the operator to set EARSHOT_SMTP_URL.'
}

/** Reads everything right before sending, so that nothing outdated is sent. */
const tryOnce = async (deps: Deps, payload: Payload, attempt: Attempt): Promise<void> => {
  const { db, secrets, jobs, baseUrl } = deps
  const { organizationId: org, destinationId, deliveryId } = payload
  const delivery = await findMessageDelivery(db, org, deliveryId, deps.clock.now())
  if (delivery?.status !== 'pending' || delivery.attemptCount + 1 !== payload.attempt) return
  const end = (status: 'succeeded' | 'failed' | 'superseded', reason: string | null) =>
    attempt.finish(async (trx) => {
      await endMessageDelivery(trx, org, deliveryId, { status, reason })
      await publishDestination(trx, org, destinationId)
    })
  if (delivery.isSuperseded) return void (await end('superseded', superseded))
  if (delivery.isOlderBeingSent) {
    return void (await attempt.finish((trx) => jobs.enqueue(trx, deliverMessage, payload, { afterSeconds: 1 })))
  }
  const destination = await findSealedDestination(db, org, destinationId)
  if (!destination) return
  const refusal = await refusalOf(db, org, destination)
  if (refusal !== undefined) return void (await end('failed', refusal))
  const { kind } = destination
  if (kind === 'email' || kind === 'webhook') {
    // This is outside the transaction because drawing the chart takes time.
    const mail = kind === 'email' ? writeEmail(delivery.message) : undefined
    await attempt.finish(async (trx) => {
      const fault = await handOver(deps, trx, org, destination, { message: delivery.message, mail })
      const status = fault === undefined ? 'succeeded' : 'failed'
      await endMessageDelivery(trx, org, deliveryId, { status, reason: fault ?? null })
      await updateDestinationHealth(trx, org, destinationId, fault === undefined, deps.clock.now())
      await publishDestination(trx, org, destinationId)
    })
    return
  }
  if (delivery.isOlderWaiting) {
    const { subjectId, position } = delivery
    const older = { destinationId, subjectId, position, reason: superseded }
    await attempt.transaction((trx) => supersedeOlder(trx, org, older))
  }
  const settings: DestinationSettings = openSettings(secrets, org, destination)
  const about = { subjectId: delivery.subjectId, createdAt: delivery.createdAt, baseUrl: baseUrl() }
  const request = writers[kind](delivery.message, settings as never, about)
  if (!request) return void (await end('failed', 'This kind of destination receives no reports.'))
  const posted = await post(deps, request)
  await attempt.finish((trx) => recordAttempt(deps, trx, payload, { delivery, posted }))
}

/**
 * Makes one attempt. Enqueues the next one in the transaction that stores the result. If a process dies between sending
 * and storing, the message is sent again. PagerDuty and Opsgenie recognize the duplicate by its subject.
 */
export const deliverMessage = defineJob({
  name: 'destination.deliver',
  payload: Type.Object({
    organizationId: OrganizationId,
    destinationId: Type.String(),
    deliveryId: Type.String(),
    attempt: Type.Integer(),
  }),
  // These retries are for failures of the service itself, such as an unreachable database.
  retryLimit: 10,
  timeoutSeconds: 60,
  concurrency: 64,
  run: async (deps: Deps, payload, attempt): Promise<void> => {
    const lane = await takeLane(payload.destinationId)
    if ('pauseMs' in lane) {
      const afterSeconds = lane.pauseMs / 1_000
      await attempt.finish((trx) => deps.jobs.enqueue(trx, deliverMessage, payload, { afterSeconds }))
      return
    }
    try {
      await tryOnce(deps, payload, attempt)
    } finally {
      lane.leave()
    }
  },
  onFailed: async (_deps, { organizationId, deliveryId }, trx) => {
    const reason = 'Earshot could not send it. Ask your operator.'
    await endMessageDelivery(trx, organizationId, deliveryId, { status: 'failed', reason })
  },
})

export const sweepMessageDeliveries = defineCleanup({
  name: 'destination.sweep',
  schedule: '20 * * * *',
  rows: { deliveries: oldMessageDeliveries },
})
