import Type from 'typebox'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { OutboundError } from '../../platform/outbound/errors.ts'
import { announcedTranscript } from '../../transcripts/provider-calls/twilio.ts'
import { applyPayload } from '../apply-payload.ts'
import { findDelivery, updateDelivery } from '../deliveries/queries.ts'
import { openPayload, type Parsed, parsePayload, sealPayload } from '../payload.ts'
import { findSealedIntegration } from '../queries.ts'
import { readPayload } from '../read-payload.ts'
import { openSecret } from '../secret.ts'
import type { TwilioSettings } from '../settings.ts'
import { fetchTranscript, PullFailed } from './fetch-transcript.ts'

const twilioApi = 'https://intelligence.twilio.com'

const transcriptIn = (parsed: Parsed): string | undefined =>
  'value' in parsed ? announcedTranscript(parsed.value) : undefined

const reasonOf = (error: unknown): string =>
  error instanceof ApiError || error instanceof OutboundError || error instanceof PullFailed
    ? error.message
    : 'Fetching the transcript failed.'

/**
 * Fetches the transcript that a Twilio webhook announced. Reads the announcement from the delivery, because jobs
 * outlive their data and must not contain conversation IDs.
 */
export const pullTranscript = defineJob({
  name: 'twilio.pull-transcript',
  payload: Type.Object({ organizationId: OrganizationId, deliveryId: Type.String() }),
  // The delays grow from half a minute to an hour, over half a day, because transcribing a long call takes time.
  retryLimit: 16,
  retryDelaySeconds: 30,
  timeoutSeconds: 600,
  run: async (deps: Deps, { organizationId, deliveryId }, attempt) => {
    const { db, secrets, outbound, config } = deps
    const org = organizationId
    const delivery = await findDelivery(db, org, deliveryId)
    if (delivery?.status !== 'pending') return
    const integration = await findSealedIntegration(db, org, delivery.integrationId)
    if (!integration) return
    const announcement = delivery.payload && (await openPayload(secrets, org, deliveryId, delivery.payload))
    const transcriptSid = announcement ? transcriptIn(parsePayload(announcement, delivery.contentType)) : undefined
    if (transcriptSid === undefined) throw new ApiError('gone', 'The announcement is no longer stored.')
    // The provider's schema validated the settings before they were stored.
    const { accountSid, apiBaseUrl = twilioApi } = integration.settings as TwilioSettings
    const account = { accountSid, token: openSecret(secrets, integration), baseUrl: apiBaseUrl }
    const bundle = await fetchTranscript(outbound, account, transcriptSid, { maxBytes: config.limits.documentBytes })
    attempt.signal.throwIfAborted()
    const bytes = Buffer.from(JSON.stringify(bundle))
    const { redacted, reading } = await readPayload(deps, integration, bytes, 'application/json')
    const storedBytes = redacted === undefined ? bytes : redacted
    const payload = storedBytes === null ? null : await sealPayload(secrets, org, deliveryId, Buffer.from(storedBytes))
    await applyPayload(deps, integration, reading, (trx, settled) => {
      const change = {
        ...settled,
        payload: settled.status === 'erased' ? null : payload,
        contentType: 'application/json',
      }
      return updateDelivery(trx, org, deliveryId, change, 'pending')
    })
  },
  onFailed: async (_deps, { organizationId, deliveryId }, trx, error) => {
    const failed = { status: 'failed', reason: reasonOf(error), conversationId: null } as const
    await updateDelivery(trx, organizationId, deliveryId, failed, 'pending')
  },
})
