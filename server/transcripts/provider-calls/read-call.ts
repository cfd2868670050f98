import type { CallReading } from './call.ts'
import { readElevenlabsCall } from './elevenlabs.ts'
import { readLivekitCall } from './livekit.ts'
import { readRetellCall } from './retell.ts'
import { readTwilioCall } from './twilio.ts'
import { readVapiCall } from './vapi.ts'

/** The providers whose calls of their own accord are understood. Each name is also that of a transcript's format. */
const readers = {
  vapi: readVapiCall,
  retell: readRetellCall,
  elevenlabs: readElevenlabsCall,
  twilio: readTwilioCall,
  livekit: readLivekitCall,
}

export type Provider = keyof typeof readers

export const providers = Object.keys(readers) as Provider[]

/** What a provider's payload tells of a finished conversation, or why it tells nothing. Pure, and throws on no JSON. */
export const readCall = (provider: Provider, payload: unknown): CallReading => readers[provider](payload)
