import { isObject } from '../../platform/is-object.ts'
import { at, idOf, instantOf, type JsonObject, listAt, numberOf, objectOf, textOf } from '../json.ts'
import { roleOf } from '../roles.ts'
import type { Metric } from './call.ts'
import { bounded, type CallReading, durationOf, firstAddress, metricsOf } from './call.ts'

/**
 * Reads a Twilio Conversational Intelligence transcript with its sentences, operator results, and media. It is fetched
 * after a webhook has announced it.
 */

/** Returns the ID of the announced transcript, or undefined if the payload is not an announcement. */
export const announcedTranscript = (payload: unknown): string | undefined =>
  at(payload, 'transcript') === undefined ? (textOf(at(payload, 'transcript_sid')) ?? undefined) : undefined

/**
 * Returns the recording announced by a status callback. Returns undefined if the callback is incomplete, or if the
 * payload is not a callback.
 */
export const announcedRecording = (payload: unknown): { callSid: string; url: string } | undefined => {
  const [callSid, url] = [textOf(at(payload, 'CallSid')), firstAddress(at(payload, 'RecordingUrl'))]
  const isCompleted = at(payload, 'RecordingStatus') === 'completed' && textOf(at(payload, 'RecordingSid')) !== null
  return isCompleted && callSid !== null && url !== null ? { callSid, url } : undefined
}

const unfinished = new Set(['new', 'queued', 'in-progress'])

/** Returns whether the transcript is unfinished and has to be requested again later. */
export const isUnfinished = ({ status }: JsonObject): boolean => typeof status === 'string' && unfinished.has(status)

const participantsOf = (transcript: JsonObject): JsonObject[] =>
  (listAt(at(transcript, 'channel', 'participants')) ?? []).filter(isObject)

const participant = (transcript: JsonObject, role: 'agent' | 'customer'): JsonObject =>
  participantsOf(transcript).find((one) => typeof one.role === 'string' && roleOf(one.role) === role) ?? {}

const metricsIn = (results: unknown): Metric[] => {
  const { add, all } = metricsOf('twilio')
  for (const result of (listAt(results) ?? []).filter(isObject)) {
    const value =
      result.predicted_label ??
      at(result, 'text_generation_results', 'result') ??
      result.json_results ??
      result.normalized_result ??
      result.extract_match
    add(textOf(result.name) ?? textOf(result.operator_type) ?? 'operator', value)
  }
  return all()
}

const metadataOf = (transcript: JsonObject): JsonObject => {
  const customerKey = textOf(transcript.customer_key)
  const sid = textOf(at(transcript, 'channel', 'media_properties', 'reference_sids', 'call_sid'))
  return {
    ...(customerKey !== null && { customerKey }),
    ...(sid !== null && { callSid: sid }),
  }
}

const read = (payload: JsonObject): CallReading => {
  const announced = announcedTranscript(payload)
  if (announced !== undefined) return { ignored: `transcript ${announced} is announced and will be fetched` }
  if (textOf(payload.RecordingSid) !== null) {
    return { ignored: `the recording ${payload.RecordingSid} is ${textOf(payload.RecordingStatus) ?? 'announced'}` }
  }
  const { transcript, sentences, operator_results, media } = payload
  if (!isObject(transcript)) return { unreadable: 'transcript is missing' }
  const externalId = idOf(transcript.sid)
  if (externalId === null) return { unreadable: 'transcript.sid is missing' }
  const status = textOf(transcript.status) ?? 'completed'
  if (unfinished.has(status)) return { ignored: `a transcript that is ${status} is not finished` }
  if (status !== 'completed') return { ignored: `the transcription ended as ${status}` }
  // If the start of the recording is unknown, the transcript's creation time is the closest value.
  const startedAt = instantOf(transcript.media_start_time) ?? instantOf(transcript.date_created)
  if (startedAt === null) return { unreadable: 'transcript.media_start_time is missing' }
  const durationSeconds = durationOf(numberOf(transcript.duration))
  const [agent, customer] = [participant(transcript, 'agent'), participant(transcript, 'customer')]
  return {
    externalId,
    agentExternalId: idOf(agent.user_id) ?? idOf(transcript.service_sid),
    agentName: null,
    versionLabel: null,
    systemPrompt: null,
    channel: 'call',
    direction: null,
    status: 'completed',
    startedAt,
    endedAt: durationSeconds === null ? null : new Date(startedAt.getTime() + durationSeconds * 1_000),
    durationSeconds,
    endReason: null,
    customerId: idOf(customer.user_id) ?? idOf(customer.media_participant_id),
    metadata: metadataOf(transcript),
    // The sentences only contain channels. The transcript contains the participants on each channel.
    transcript: Array.isArray(sentences) && sentences.length > 0 ? { transcript, sentences } : null,
    recordingUrl: firstAddress(objectOf(media).media_url, at(transcript, 'channel', 'media_properties', 'media_url')),
    metrics: metricsIn(operator_results),
  }
}

export const readTwilioCall = bounded(read)
