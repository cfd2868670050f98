import type { Provider } from '../conversations/transcripts/provider-calls/read-call.ts'
import type { LivekitSettings, Settings, VapiSettings } from './settings.ts'
import {
  type SignedRequest,
  type Verdict,
  verifyElevenlabs,
  verifyLivekit,
  verifyRetell,
  verifyTwilio,
} from './signatures.ts'
import { type VapiScheme, verifyVapi } from './vapi-signature.ts'

/** Settings are checked by their provider's schema before they are stored, which the casts below rest on. */
export const verifyWebhook = (provider: Provider, settings: Settings, request: SignedRequest): Verdict => {
  switch (provider) {
    case 'vapi':
      return verifyVapi(request, { scheme: 'secret', ...(settings as VapiSettings) } as VapiScheme)
    case 'retell':
      return verifyRetell(request)
    case 'elevenlabs':
      return verifyElevenlabs(request)
    case 'twilio':
      return verifyTwilio(request)
    case 'livekit':
      return verifyLivekit(request, (settings as LivekitSettings).apiKey)
  }
}
