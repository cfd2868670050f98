import type { Hints, Reader, TurnDraft } from '../draft.ts'
import {
  booleanOf,
  entriesOf,
  idOf,
  instantOfMs,
  type JsonObject,
  listAt,
  msSince,
  numberOf,
  secondsToMs,
  someEntry,
  textOf,
} from '../json.ts'
import { type SpokenEntry, spokenEntries } from '../roles.ts'

/**
 * Reads `transcript_with_tool_calls` in Retell's calls, and `message_with_tool_calls` in its chats. Words have times.
 * Tool calls and node transitions in a call have none, so they keep their positions.
 */

const wordsOf = (entry: JsonObject) =>
  [...entriesOf(Array.isArray(entry.words) ? entry.words : [], 'word')].map((word) => ({
    text: (textOf(word.word) ?? '').trim(),
    startMs: secondsToMs(word.start),
    endMs: secondsToMs(word.end),
  }))

const timesOf = (entry: JsonObject, words: ReturnType<typeof wordsOf>, hints: Hints) => {
  const sent = msSince(hints.startedAt, instantOfMs(numberOf(entry.created_timestamp)))
  return {
    startMs: words.find(({ startMs }) => startMs !== null)?.startMs ?? secondsToMs(entry.time_sec) ?? sent,
    endMs: words.findLast(({ endMs }) => endMs !== null)?.endMs ?? null,
  }
}

const transition = (entry: JsonObject) => {
  const name = (which: string) => textOf(entry[`${which}_node_name`]) ?? textOf(entry[`${which}_node_id`]) ?? '?'
  return `node_transition: ${name('former')} → ${name('new')}`
}

const draftOf = ({ entry, name, role }: SpokenEntry, hints: Hints): TurnDraft => {
  const words = wordsOf(entry)
  const times = timesOf(entry, words, hints)
  const text = textOf(entry.content)
  const callId = idOf(entry.tool_call_id)
  switch (name) {
    case 'tool_call_invocation':
      return {
        role: 'agent',
        kind: 'tool_call',
        ...times,
        tool: { callId, name: textOf(entry.name), arguments: entry.arguments },
      }
    case 'tool_call_result': {
      const successful = booleanOf(entry.successful)
      const isError = successful === null ? null : !successful
      return { role: 'tool', kind: 'tool_result', ...times, tool: { callId, result: entry.content, isError } }
    }
    case 'node_transition':
      return { role: 'system', kind: 'event', text: transition(entry), ...times }
    case 'dtmf':
      return { role: 'customer', kind: 'event', text: `dtmf: ${idOf(entry.digit) ?? '?'}`, ...times }
    case 'sms':
    case 'injected':
      return { role: 'system', kind: 'event', text: text === null ? name : `${name}: ${text}`, ...times }
    default:
      return role === 'other' && text === null
        ? { role: 'system', kind: 'event', text: name, ...times }
        : { role, kind: 'message', text, ...times, words }
  }
}

function* read(entries: unknown[], hints: Hints): Generator<TurnDraft> {
  for (const spoken of spokenEntries(entries)) yield draftOf(spoken, hints)
}

const lists = ['transcript_with_tool_calls', 'transcript_object', 'message_with_tool_calls']
const paths = lists.flatMap((list) => [list, `call.${list}`, `chat.${list}`])
const ownRoles = new Set(['tool_call_invocation', 'node_transition', 'dtmf', 'transfer_target'])

const isRetell = (entry: JsonObject) =>
  (typeof entry.role === 'string' && ownRoles.has(entry.role)) ||
  (Array.isArray(entry.words) && 'content' in entry) ||
  ('created_timestamp' in entry && 'message_id' in entry)

export const readRetell: Reader = (content, hints) => {
  const entries = listAt(content, ...paths)
  const isNamed = entries !== undefined && entries !== content
  return entries && (isNamed || someEntry(entries, isRetell)) ? read(entries, hints) : undefined
}
