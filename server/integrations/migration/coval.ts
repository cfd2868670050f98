import { idOf, type JsonObject, objectOf, textOf } from '../../transcripts/json.ts'
import {
  channelOf,
  emptySentCall,
  filledList,
  instantIn,
  objectsIn,
  recordingIn,
  refuseOnly,
  type SentCall,
} from './sent-call.ts'

/**
 * Reads calls sent to Coval's `conversations:submit`. They contain OpenAI chat messages, with times in seconds if
 * known.
 */

/** Renames properties to the names that the reader expects. Coval has two names for each. */
const entryOf = (entry: unknown): unknown => {
  const { message, firstWordStart, lastWordEnd, ...told } = objectOf(entry)
  return {
    ...(message !== undefined && { content: message }),
    ...(firstWordStart !== undefined && { start_time: firstWordStart }),
    ...(lastWordEnd !== undefined && { end_time: lastWordEnd }),
    ...told,
  }
}

export const readCoval = (body: JsonObject): SentCall => {
  const transcript = filledList(body.transcript)
  const recordingUrl = recordingIn(body, 'audio_url')
  refuseOnly(body, ['upload_id', 'audio'], transcript !== null || recordingUrl !== null, '`transcript` or `audio_url`')
  const tags = filledList(body.tags)
  return {
    ...emptySentCall,
    externalId: textOf(body.external_conversation_id),
    agentExternalId: idOf(body.agent_id),
    channel: channelOf(objectsIn(transcript), recordingUrl),
    startedAt: instantIn(body, 'occurred_at'),
    metadata: { ...objectOf(body.metadata), ...(tags && { tags }) },
    transcript: transcript?.map(entryOf) ?? null,
    recordingUrl,
    format: 'coval',
  }
}
