import { isObject } from '../../platform/is-object.ts'
import { at, idOf, instantOfMs, type JsonObject, numberOf, objectOf, textOf } from '../json.ts'
import type { Metric, ProviderCall } from './call.ts'
import { bounded, type CallReading, directionOf, durationOf, firstAddress, metricsOf, transcriptOf } from './call.ts'

/** Reads Retell's calls and chats, which arrive once after they end and again after they are analyzed. */

const finished = new Set(['call_ended', 'call_analyzed', 'chat_ended', 'chat_analyzed'])

const statusOf = (status: unknown, endReason: string | null): ProviderCall['status'] => {
  const broke = endReason !== null && /^(error|dial)_|^(invalid_destination|no_valid_payment)$/.test(endReason)
  return status === 'error' || status === 'not_connected' || broke ? 'failed' : 'completed'
}

const metricsIn = (call: JsonObject): Metric[] => {
  const { add, all } = metricsOf('retell')
  const analysis = objectOf(call.call_analysis ?? call.chat_analysis)
  add('summary', analysis.call_summary ?? analysis.chat_summary)
  add('sentiment', analysis.user_sentiment)
  add('success', analysis.call_successful ?? analysis.chat_successful)
  add('inVoicemail', analysis.in_voicemail)
  for (const [name, value] of Object.entries(objectOf(analysis.custom_analysis_data))) add(`data.${name}`, value)
  for (const [part, figures] of Object.entries(objectOf(call.latency))) {
    add(`latency.${part}.p50Ms`, at(figures, 'p50'))
    add(`latency.${part}.p95Ms`, at(figures, 'p95'))
  }
  // Retell's amounts are in cents.
  const cents = numberOf(at(call, 'call_cost', 'combined_cost') ?? at(call, 'chat_cost', 'combined_cost'))
  add('costCents', cents)
  return all()
}

/** Returns the metadata. Values set on the call take precedence over collected ones. */
const metadataOf = (call: JsonObject): JsonObject => {
  const tag = textOf(call.agent_tag)
  const sid = textOf(at(call, 'telephony_identifier', 'twilio_call_sid'))
  return {
    ...objectOf(call.custom_sip_headers),
    ...objectOf(call.retell_llm_dynamic_variables),
    ...objectOf(call.collected_dynamic_variables),
    ...objectOf(call.custom_attributes),
    ...objectOf(call.metadata),
    ...(tag !== null && { agentTag: tag }),
    ...(sid !== null && { twilioCallSid: sid }),
  }
}

const callChannelOf = (call: JsonObject, endReason: string | null) => {
  const isVoicemail = endReason === 'voicemail_reached' || at(call, 'call_analysis', 'in_voicemail') === true
  return isVoicemail ? 'voicemail' : 'call'
}

const customerOf = (call: JsonObject): string | null => {
  const direction = directionOf(call.direction)
  if (direction === null) return null
  return textOf(direction === 'inbound' ? call.from_number : call.to_number)
}

const read = ({ event, call: spoken, chat }: JsonObject): CallReading => {
  if (typeof event !== 'string') return { unreadable: 'event is missing' }
  if (!finished.has(event)) return { ignored: `${event} does not report a finished call` }
  const isChat = event.startsWith('chat')
  const call = isChat ? chat : spoken
  if (!isObject(call)) return { unreadable: `${isChat ? 'chat' : 'call'} is missing` }
  const externalId = idOf(isChat ? call.chat_id : call.call_id)
  if (externalId === null) return { unreadable: `${isChat ? 'chat.chat_id' : 'call.call_id'} is missing` }
  const startedAt = instantOfMs(numberOf(call.start_timestamp))
  const endedAt = instantOfMs(numberOf(call.end_timestamp))
  // A call that nobody answered may only have an end time.
  const began = startedAt ?? endedAt
  if (began === null) return { unreadable: 'start_timestamp is missing' }
  const endReason = textOf(call.disconnection_reason)
  const durationMs = numberOf(call.duration_ms)
  return {
    externalId,
    agentExternalId: idOf(call.agent_id),
    agentName: textOf(call.agent_name),
    versionLabel: idOf(call.agent_version),
    systemPrompt: null,
    channel: isChat ? 'chat' : callChannelOf(call, endReason),
    direction: directionOf(call.direction),
    status: statusOf(call.call_status ?? call.chat_status, endReason),
    startedAt: began,
    endedAt,
    durationSeconds: durationOf(durationMs === null ? null : durationMs / 1_000),
    endReason,
    customerId: customerOf(call),
    metadata: metadataOf(call),
    transcript: transcriptOf(
      call.transcript_with_tool_calls,
      call.message_with_tool_calls,
      call.scrubbed_transcript_with_tool_calls,
      call.transcript_object,
      call.transcript,
    ),
    recordingUrl: firstAddress(
      call.recording_multi_channel_url,
      call.recording_url,
      call.scrubbed_recording_multi_channel_url,
      call.scrubbed_recording_url,
    ),
    metrics: metricsIn(call),
  }
}

export const readRetellCall = bounded(read)
