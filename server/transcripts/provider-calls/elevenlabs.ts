import { isObject } from '../../platform/is-object.ts'
import { at, idOf, instantOfMs, type JsonObject, numberOf, objectOf, secondsToMs, textOf } from '../json.ts'
import type { Metric, ProviderCall } from './call.ts'
import { bounded, type CallReading, directionOf, durationOf, metricsOf, transcriptOf } from './call.ts'

/** Reads ElevenLabs' transcription after a call, or its report about a call that could not start. */

/** Returns results, which can be a map by ID or a list of entries with an ID. */
const resultsIn = (analysis: JsonObject, name: string, id: string): [id: string, result: JsonObject][] => {
  const list = analysis[`${name}_list`]
  const found = isObject(analysis[name]) ? Object.entries(analysis[name]) : undefined
  const listed = Array.isArray(list) ? list.map((entry) => [idOf(at(entry, id)), entry] as const) : []
  return (found ?? listed).flatMap(([key, result]) => (key !== null && isObject(result) ? [[key, result]] : []))
}

const metricsIn = ({ analysis: found, metadata }: JsonObject): Metric[] => {
  const { add, all } = metricsOf('elevenlabs')
  const analysis = objectOf(found)
  add('summary', analysis.transcript_summary)
  add('success', analysis.call_successful)
  for (const [id, result] of resultsIn(analysis, 'evaluation_criteria_results', 'criteria_id')) {
    add(`criteria.${id}`, result.result, result.rationale)
    add(`criteria.${id}.score`, result.score)
  }
  for (const [id, result] of resultsIn(analysis, 'data_collection_results', 'data_collection_id')) {
    add(`data.${id}`, result.value, result.rationale)
  }
  add('feedback', at(metadata, 'feedback', 'overall_score'))
  return all()
}

const metadataOf = (data: JsonObject): JsonObject => {
  const variables = objectOf(at(data, 'conversation_initiation_client_data', 'dynamic_variables'))
  const given = Object.entries(variables).filter(([name]) => !name.startsWith('system__'))
  const branchId = textOf(data.branch_id)
  const sid = textOf(at(data, 'metadata', 'phone_call', 'call_sid'))
  return {
    ...Object.fromEntries(given),
    ...(branchId !== null && { branchId }),
    ...(sid !== null && { callSid: sid }),
  }
}

const promptOf = (data: JsonObject) =>
  textOf(at(data, 'conversation_initiation_client_data', 'conversation_config_override', 'agent', 'prompt', 'prompt'))

const readFailure = (data: JsonObject, externalId: string, eventSeconds: unknown): CallReading => {
  const startedAt = instantOfMs(secondsToMs(eventSeconds))
  if (startedAt === null) return { unreadable: 'event_timestamp is missing' }
  return {
    externalId,
    agentExternalId: idOf(data.agent_id),
    agentName: textOf(data.agent_name),
    versionLabel: null,
    systemPrompt: null,
    channel: 'call',
    direction: 'outbound',
    status: 'failed',
    startedAt,
    endedAt: startedAt,
    durationSeconds: 0,
    endReason: textOf(data.failure_reason),
    customerId: null,
    metadata: {},
    transcript: null,
    recordingUrl: null,
    metrics: [],
  }
}

const channelOf = (data: JsonObject): ProviderCall['channel'] =>
  at(data, 'metadata', 'text_only') === true ? 'chat' : 'call'

const readTranscription = (data: JsonObject, externalId: string): CallReading => {
  const { status } = data
  if (status !== 'done' && status !== 'failed') return { ignored: `a call that is ${idOf(status)} is not finished` }
  const { start_time_unix_secs, call_duration_secs, phone_call, termination_reason } = objectOf(data.metadata)
  const startedAt = instantOfMs(secondsToMs(start_time_unix_secs))
  if (startedAt === null) return { unreadable: 'data.metadata.start_time_unix_secs is missing' }
  const durationSeconds = durationOf(numberOf(call_duration_secs))
  return {
    externalId,
    agentExternalId: idOf(data.agent_id),
    agentName: textOf(data.agent_name),
    versionLabel: textOf(data.version_id),
    systemPrompt: promptOf(data),
    channel: channelOf(data),
    direction: directionOf(at(phone_call, 'direction')),
    status: status === 'failed' ? 'failed' : 'completed',
    startedAt,
    endedAt: durationSeconds === null ? null : instantOfMs(startedAt.getTime() + durationSeconds * 1_000),
    durationSeconds,
    endReason: textOf(termination_reason),
    customerId: idOf(data.user_id) ?? textOf(at(phone_call, 'external_number')),
    metadata: metadataOf(data),
    transcript: transcriptOf(data.transcript),
    // The recording has no URL. It arrives in a separate event (integrations/audio), or is downloaded using the
    // conversation's ID.
    recordingUrl: null,
    metrics: metricsIn(data),
  }
}

const read = ({ type, data, event_timestamp }: JsonObject): CallReading => {
  if (typeof type !== 'string') return { unreadable: 'type is missing' }
  if (type === 'post_call_audio') return { unreadable: 'data.full_audio is missing' }
  if (type !== 'post_call_transcription' && type !== 'call_initiation_failure') {
    return { ignored: `${type} does not report a finished call` }
  }
  if (!isObject(data)) return { unreadable: 'data is missing' }
  const externalId = idOf(data.conversation_id)
  if (externalId === null) return { unreadable: 'data.conversation_id is missing' }
  return type === 'call_initiation_failure'
    ? readFailure(data, externalId, event_timestamp)
    : readTranscription(data, externalId)
}

export const readElevenlabsCall = bounded(read)
