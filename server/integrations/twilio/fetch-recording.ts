import Type from 'typebox'
import { deleteRecording, failureOf, hasFile, storeFetchedFile } from '../../conversations/recordings/jobs.ts'
import {
  getRecordingSettings,
  lockRecordedConversation,
  lockRecording,
  storeUploaded,
} from '../../conversations/recordings/queries.ts'
import type { Deps } from '../../platform/deps.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { announcedRecording } from '../../transcripts/provider-calls/twilio.ts'
import { findDelivery, updateDelivery } from '../deliveries/queries.ts'
import { openPayload, parsePayload } from '../payload.ts'
import { findConversationOfCall, findSealedIntegration } from '../queries.ts'
import { openSecret } from '../secret.ts'
import type { TwilioSettings } from '../settings.ts'

/** The call has no conversation yet, because its transcript arrives minutes after its recording. */
class NoCallYet extends Error {}

/**
 * Returns whether a URL belongs to Twilio. The account's token is only sent to Twilio, regardless of the URL in the
 * callback.
 */
const isTwilio = (url: URL, apiBaseUrl: string | undefined): boolean =>
  (url.protocol === 'https:' && /(^|\.)twilio\.com$/.test(url.hostname)) ||
  (apiBaseUrl !== undefined && url.origin === new URL(apiBaseUrl).origin)

const sourceOf = (address: string, { accountSid, apiBaseUrl }: TwilioSettings, token: string) => {
  const url = URL.parse(address)
  if (!url || !isTwilio(url, apiBaseUrl)) return { url: address }
  const authorization = `Basic ${Buffer.from(`${accountSid}:${token}`).toString('base64')}`
  return { url: address, headers: { authorization } }
}

/** Fetches the recording announced by a Twilio status callback, after its call has a conversation. */
export const pullRecording = defineJob({
  name: 'twilio.pull-recording',
  payload: Type.Object({ organizationId: OrganizationId, deliveryId: Type.String() }),
  // The delays grow from half a minute to an hour, over half a day.
  retryLimit: 16,
  retryDelaySeconds: 30,
  timeoutSeconds: 15 * 60,
  run: async (deps: Deps, { organizationId: org, deliveryId }, attempt) => {
    const { db, secrets, jobs, reactions } = deps
    const delivery = await findDelivery(db, org, deliveryId)
    if (delivery?.status !== 'pending' || delivery.payload === null) return
    const integration = await findSealedIntegration(db, org, delivery.integrationId)
    if (!integration) return
    const parsed = parsePayload(await openPayload(secrets, org, deliveryId, delivery.payload), delivery.contentType)
    const announced = 'value' in parsed ? announcedRecording(parsed.value) : undefined
    if (!announced) return
    const conversationId = await findConversationOfCall(db, org, announced.callSid)
    if (conversationId === undefined) throw new NoCallYet('No conversation was received for this call.')
    if ((await getRecordingSettings(db, org, conversationId)).keep === 'nothing') {
      const ignored = { status: 'ignored', reason: 'The agent keeps no recordings.', conversationId } as const
      return attempt.finish(async (trx) => {
        await updateDelivery(trx, org, deliveryId, ignored, 'pending')
      })
    }
    // The provider's schema validated the settings before they were stored.
    const settings = integration.settings as TwilioSettings
    const source = sourceOf(announced.url, settings, openSecret(secrets, integration))
    const file = await storeFetchedFile(deps, org, source, attempt.signal)
    await attempt.finish(async (trx) => {
      // If an erasure has already listed the files, it would miss this file.
      const isThere = await lockRecordedConversation(trx, org, conversationId)
      const stored = isThere ? await lockRecording(trx, org, conversationId) : undefined
      const isNew = isThere && !hasFile(stored)
      if (isNew) {
        await storeUploaded(trx, org, conversationId, file)
        await reactions.recordingStored(trx, org, { conversationId })
      } else await jobs.enqueue(trx, deleteRecording, { key: file.blobKey }, { org })
      const status = isNew ? 'applied' : isThere ? 'unchanged' : 'erased'
      const change = { status, reason: null, conversationId: isThere ? conversationId : null } as const
      await updateDelivery(trx, org, deliveryId, change, 'pending')
    })
  },
  onFailed: async (_deps, { organizationId, deliveryId }, trx, error) => {
    const reason = error instanceof NoCallYet ? error.message : failureOf(error)
    await updateDelivery(trx, organizationId, deliveryId, { status: 'failed', reason, conversationId: null }, 'pending')
  },
})
