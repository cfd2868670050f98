import { at, idOf, type JsonObject, objectOf, textOf } from '../../transcripts/json.ts'
import {
  directionIn,
  emptySentCall,
  filledList,
  instantIn,
  objectsIn,
  recordingIn,
  refuseOnly,
  type SentCall,
} from './sent-call.ts'

/**
 * Reads calls sent to Bluejay's `evaluate`. Their offsets are in milliseconds, and their tools are separate from the
 * messages.
 */

const turnOf = (entry: JsonObject): JsonObject => ({
  role: entry.speaker === 'USER' ? 'CUSTOMER' : entry.speaker,
  text: entry.utterance,
  startOffsetMs: entry.start_offset_ms,
  endOffsetMs: entry.end_offset_ms,
})

const toolCallOf = ({ name, parameters, output, start_offset_ms }: JsonObject): JsonObject => ({
  name,
  parameters,
  startOffsetMs: start_offset_ms,
  // The end of the tool call is unknown, so the result comes right after the call.
  ...(output !== undefined && output !== null && { result: output, endOffsetMs: start_offset_ms }),
})

/** Converts the transcript to Roark's format, which has the same structure but other names. */
const transcriptOf = (body: JsonObject) => {
  const messages = objectsIn(body.transcript).map(turnOf)
  const used = objectsIn(body.tool_calls).map(toolCallOf)
  return messages.length + used.length > 0
    ? { transcript: messages, ...(used.length > 0 && { toolInvocations: used }) }
    : null
}

const metadataOf = (body: JsonObject): JsonObject => {
  const tags = filledList(body.tags)
  const events = filledList(body.events)
  const traceId = textOf(body.trace_id)
  const label = textOf(body.label)
  return {
    ...objectOf(body.metadata),
    ...(tags && { tags }),
    ...(events && { events }),
    ...(traceId !== null && { traceId }),
    ...(label !== null && { label }),
  }
}

export const readBluejay = (body: JsonObject): SentCall => {
  const transcript = transcriptOf(body)
  const recordingUrl = recordingIn(body, 'recording_url')
  const instead = '`transcript` or `recording_url`'
  refuseOnly(body, ['transcript_url', 'recording_base64'], transcript !== null || recordingUrl !== null, instead)
  const customer = objectsIn(body.participants).find(({ role }) => role === 'USER')
  const endedBy = textOf(body.conversation_ended_by)
  return {
    ...emptySentCall,
    agentExternalId: idOf(body.agent_id) ?? idOf(body.external_agent_id),
    direction: directionIn(body.call_direction),
    startedAt: instantIn(body, 'start_time_utc'),
    endReason: endedBy === null ? null : `${endedBy.toLowerCase()}_ended`,
    customerId: textOf(at(customer, 'phone_number')) ?? textOf(at(customer, 'name')),
    metadata: metadataOf(body),
    transcript,
    recordingUrl,
    format: 'roark',
  }
}
