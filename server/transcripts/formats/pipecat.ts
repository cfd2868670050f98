import { textOfContent } from '../content.ts'
import type { Hints, Reader, TurnDraft } from '../draft.ts'
import {
  at,
  idOf,
  instantOf,
  type JsonObject,
  listAt,
  msSince,
  objectOf,
  secondsToMs,
  someEntry,
  textOf,
} from '../json.ts'
import { type SpokenEntry, spokenEntries } from '../roles.ts'

// Reads Pipecat transcripts. Messages in turn events have the start time of their turn. Other message lists can contain
// tool calls, and `start_time` and `end_time` in seconds.

const draftOf = ({ entry, name, role }: SpokenEntry, start: Date | null | undefined): TurnDraft => {
  const times = {
    startMs: secondsToMs(entry.start_time) ?? msSince(start, instantOf(entry.timestamp)),
    endMs: secondsToMs(entry.end_time),
  }
  const data = objectOf(entry.data)
  const called = { callId: idOf(data.id), name: textOf(data.name) }
  if (name === 'tool_call') {
    return { role: 'agent', kind: 'tool_call', ...times, tool: { ...called, arguments: data.arguments } }
  }
  if (name === 'tool_call_result') {
    return { role: 'tool', kind: 'tool_result', ...times, tool: { ...called, result: data.result } }
  }
  // The customer's text is unknown in speech-to-speech mode. It is null, but the turn exists.
  return {
    role,
    kind: 'message',
    text: textOfContent(entry.content),
    ...times,
    interrupted: entry.interrupted === true,
  }
}

function* read(entries: unknown[], start: Date | null | undefined): Generator<TurnDraft> {
  for (const spoken of spokenEntries(entries)) yield draftOf(spoken, start)
}

const isToolEntry = (entry: JsonObject) =>
  (entry.role === 'tool_call' || entry.role === 'tool_call_result') && 'data' in entry
const isTurnEvent = (entry: JsonObject) => 'content' in entry && typeof entry.timestamp === 'string'
const isPipecat = (entry: JsonObject) => 'role' in entry && (isToolEntry(entry) || isTurnEvent(entry))

export const readPipecat: Reader = (content, hints: Hints) => {
  const entries = listAt(content, 'transcript', 'messages')
  const start = instantOf(at(content, 'started_at')) ?? hints.startedAt
  return entries && someEntry(entries, isPipecat) ? read(entries, start) : undefined
}
