import { isObject } from '../../platform/is-object.ts'
import { at, idOf, instantOf, instantOfMs, type JsonObject, listAt, objectOf, secondsToMs, textOf } from '../json.ts'
import { bounded, type CallReading, firstAddress } from './call.ts'

/**
 * Reads the session report that a LiveKit agent's worker posts. The report is either the whole payload or in an
 * envelope `{external_agent_id, payload: {call_id, livekit_capture}, metadata, customer_metadata}`.
 */

type Posted = { report: unknown; envelope: JsonObject; outer: JsonObject }

const unwrap = (posted: JsonObject): Posted => {
  const envelope = objectOf(posted.payload)
  const report = at(envelope, 'livekit_capture') ?? posted
  return { report, envelope, outer: report === posted ? {} : posted }
}

const instantIn = (value: unknown) => instantOf(value) ?? instantOfMs(secondsToMs(value))

const closing = (report: JsonObject): JsonObject => {
  const events = (listAt(report.events) ?? []).filter(isObject)
  return events.findLast(({ type }) => type === 'close') ?? {}
}

const promptOf = (report: JsonObject): string | null => {
  const items = (listAt(at(report, 'chat_history', 'items')) ?? []).filter(isObject)
  return textOf(items.find((item) => textOf(item.instructions) !== null)?.instructions)
}

const read = (posted: JsonObject): CallReading => {
  if (typeof posted.event === 'string') return { ignored: `${posted.event} does not report a finished session` }
  const { report, envelope, outer } = unwrap(posted)
  if (!isObject(report) || !isObject(report.chat_history)) return { unreadable: 'chat_history is missing' }
  // A room's name can be reused, but the IDs of the room and the job can't.
  const externalId = idOf(envelope.call_id) ?? idOf(report.room_id) ?? idOf(report.job_id)
  if (externalId === null) return { unreadable: 'room_id and job_id are missing' }
  const startedAt = instantIn(report.started_at) ?? instantIn(envelope.start_timestamp)
  if (startedAt === null) return { unreadable: 'started_at is missing' }
  const close = closing(report)
  const room = textOf(report.room)
  const failed = close.reason === 'error' || isObject(close.error)
  return {
    externalId,
    agentExternalId: idOf(outer.external_agent_id),
    agentName: null,
    versionLabel: null,
    systemPrompt: promptOf(report),
    channel: 'call',
    direction: null,
    status: failed ? 'failed' : 'completed',
    startedAt,
    endedAt: instantIn(close.created_at) ?? instantIn(envelope.end_timestamp) ?? instantIn(report.timestamp),
    durationSeconds: null,
    endReason: textOf(close.reason),
    customerId: null,
    metadata: {
      ...objectOf(outer.metadata),
      ...objectOf(outer.customer_metadata),
      ...(room !== null && { room }),
    },
    transcript: report.chat_history,
    recordingUrl: firstAddress(report.audio_recording_path),
    metrics: [],
  }
}

export const readLivekitCall = bounded(read)
