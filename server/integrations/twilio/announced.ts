import type { Provider } from '../../conversations/transcripts/provider-calls/read-call.ts'
import { announcedTranscript } from '../../conversations/transcripts/provider-calls/twilio.ts'
import type { Parsed } from '../payload.ts'

/** The transcript that is to be pulled, where the payload does no more than announce one. */
export const announcedIn = (provider: Provider, parsed: Parsed): string | undefined =>
  provider === 'twilio' && 'value' in parsed ? announcedTranscript(parsed.value) : undefined
