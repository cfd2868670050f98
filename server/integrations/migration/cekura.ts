import { isObject } from '../../platform/is-object.ts'
import { idOf, type JsonObject, nestedJson, objectOf, textOf } from '../../transcripts/json.ts'
import { channelOf, emptySentCall, filledList, instantIn, objectsIn, recordingIn, type SentCall } from './sent-call.ts'

/**
 * Reads calls sent to Cekura's `observe`. Turn times are seconds from the start. Cekura calls the customer `Testing
 * Agent`.
 */

/** The roles in Pipecat's format, which Cekura also accepts. */
const roles = new Map([
  ['main agent', 'agent'],
  ['testing agent', 'customer'],
  ['function call', 'tool_call'],
  ['function_call', 'tool_call'],
  ['function call result', 'tool_call_result'],
  ['function_call_result', 'tool_call_result'],
])

const entryOf = (entry: unknown): unknown => {
  if (!isObject(entry) || typeof entry.role !== 'string') return entry
  return { ...entry, role: roles.get(entry.role.toLowerCase()) ?? entry.role }
}

const listIn = (given: unknown): unknown[] | null => filledList(typeof given === 'string' ? nestedJson(given) : given)

/**
 * Returns the transcript. Cekura's own format and Pipecat's are read in the same way, but senders have to declare any
 * other format.
 */
const transcriptOf = (body: JsonObject): Pick<SentCall, 'transcript' | 'format'> => {
  const type = textOf(body.transcript_type) ?? 'cekura'
  const list = listIn(body.transcript_json)
  if (type === 'cekura' || type === 'pipecat') return { transcript: list?.map(entryOf) ?? null, format: 'pipecat' }
  return { transcript: list ?? (isObject(body.transcript_json) ? body.transcript_json : null), format: type }
}

const failed = /^(failed|error|busy|no[-_ ]?answer|rejected)/i

export const readCekura = (body: JsonObject): SentCall => {
  const hidden = new Set(namesIn(body.redact_fields))
  const shown = (given: unknown) =>
    Object.fromEntries(Object.entries(objectOf(given)).filter(([name]) => !hidden.has(name)))
  const endReason = textOf(body.call_ended_reason)
  const recordingUrl = recordingIn(body, 'voice_recording_url')
  const { transcript, format } = transcriptOf(body)
  const traceId = textOf(body.trace_id)
  return {
    ...emptySentCall,
    externalId: idOf(body.call_id),
    agentExternalId: idOf(body.agent) ?? idOf(body.agent_id) ?? idOf(body.assistant_id),
    channel: /voice[-_ ]?mail/i.test(endReason ?? '') ? 'voicemail' : channelOf(objectsIn(transcript), recordingUrl),
    status: failed.test(endReason ?? '') ? 'failed' : 'completed',
    startedAt: instantIn(body, 'timestamp'),
    endReason,
    customerId: hidden.has('customer_number') ? null : idOf(body.customer_number),
    metadata: { ...shown(body.dynamic_variables), ...shown(body.metadata), ...(traceId !== null && { traceId }) },
    transcript,
    recordingUrl,
    format,
  }
}

const namesIn = (given: unknown): string[] =>
  Array.isArray(given) ? given.filter((name) => typeof name === 'string') : []
