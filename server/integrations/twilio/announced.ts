import type { Provider } from '../../transcripts/provider-calls/read-call.ts'
import { announcedRecording, announcedTranscript } from '../../transcripts/provider-calls/twilio.ts'
import type { Parsed } from '../payload.ts'

export type Announced = 'transcript' | 'recording'

/** Returns a reference to the data to fetch, if the payload only announces the data. */
export const announcedIn = (provider: Provider, parsed: Parsed): Announced | undefined => {
  if (provider !== 'twilio' || !('value' in parsed)) return undefined
  if (announcedRecording(parsed.value)) return 'recording'
  return announcedTranscript(parsed.value) === undefined ? undefined : 'transcript'
}
