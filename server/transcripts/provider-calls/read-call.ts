import type { CallReading } from './call.ts'
import { readElevenlabsCall } from './elevenlabs.ts'
import { readLivekitCall } from './livekit.ts'
import { readRetellCall } from './retell.ts'
import { readTwilioCall } from './twilio.ts'
import { readVapiCall } from './vapi.ts'

/** The providers with webhooks. For each of them, there is also a transcript format with the same name. */
const readers = {
  vapi: readVapiCall,
  retell: readRetellCall,
  elevenlabs: readElevenlabsCall,
  twilio: readTwilioCall,
  livekit: readLivekitCall,
}

export type Provider = keyof typeof readers

export const providers = Object.keys(readers) as Provider[]

/**
 * Reads a finished conversation from a provider's payload, or returns the reason why there is none. It is a pure
 * function that does not throw on any JSON.
 */
export const readCall = (provider: Provider, payload: unknown): CallReading => readers[provider](payload)
