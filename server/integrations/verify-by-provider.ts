import type { Provider } from '../transcripts/provider-calls/read-call.ts'
import type { IntegrationSettings, LivekitSettings, VapiSettings } from './settings.ts'
import {
  hasElevenlabsSignature,
  hasLivekitToken,
  hasRetellSignature,
  hasTwilioSignature,
  type RequestHead,
  type SignatureVerdict,
  type SignedRequest,
  signsForm,
  verifyLivekit,
  verifyRetell,
  verifyTwilio,
} from './signatures.ts'
import { hasVapiSignature, type VapiScheme, verifyVapi } from './vapi-signature.ts'

/** Twilio sends a few dozen short fields, which need less than this. */
const formBytes = 64 * 1024

/** A provider with webhooks that can contain recordings. Those webhooks are read as they arrive. */
export type StreamingProvider = 'elevenlabs'

export const isStreaming = (provider: Provider): provider is StreamingProvider => provider === 'elevenlabs'

/** The settings have their provider's type, because the provider's schema validated them before they were stored. */
const vapiScheme = (settings: IntegrationSettings) =>
  ({ scheme: 'secret', ...(settings as VapiSettings) }) as VapiScheme

/** Returns whether the headers contain a signature. If not, the body is not read. */
export const hasSignature = (provider: Provider, settings: IntegrationSettings, head: RequestHead): boolean => {
  switch (provider) {
    case 'vapi':
      return hasVapiSignature(head, vapiScheme(settings))
    case 'retell':
      return hasRetellSignature(head)
    case 'elevenlabs':
      return hasElevenlabsSignature(head)
    case 'twilio':
      return hasTwilioSignature(head)
    case 'livekit':
      return hasLivekitToken(head)
  }
}

/**
 * Returns the maximum body size, if it is smaller than for other webhooks. A form must be parsed to verify its
 * signature, so its limit is low.
 */
export const webhookBodyLimit = (provider: Provider, head: RequestHead): number => {
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(String(head.headers['content-type']))
  return isForm || (provider === 'twilio' && signsForm(head)) ? formBytes : Number.POSITIVE_INFINITY
}

export const verifyWebhook = (
  provider: Exclude<Provider, StreamingProvider>,
  settings: IntegrationSettings,
  request: SignedRequest,
): SignatureVerdict => {
  switch (provider) {
    case 'vapi':
      return verifyVapi(request, vapiScheme(settings))
    case 'retell':
      return verifyRetell(request)
    case 'twilio':
      return verifyTwilio(request)
    case 'livekit':
      return verifyLivekit(request, (settings as LivekitSettings).apiKey)
  }
}
