import { textOfContent } from '../content.ts'
import { type Hints, type Reader, type TurnDraft, Unreadable } from '../draft.ts'
import {
  at,
  booleanOf,
  entriesOf,
  idOf,
  instantOfMs,
  type JsonObject,
  listAt,
  msSince,
  objectOf,
  secondsToMs,
  someEntry,
  textOf,
} from '../json.ts'
import { roleOf } from '../roles.ts'

/** Reads `chat_history.items` in LiveKit Agents' session reports. Times are in seconds since 1970. */

/** Removes voice directions from the agent's text, and leaves a space between two words. */
const spokenText = (text: string): string =>
  text
    .replaceAll(/<\/?expr\b[^<>]*> ?/g, (tag, offset: number) => {
      const follows = offset === 0 || /\s/.test(text[offset - 1] ?? '')
      return !follows && tag.endsWith(' ') ? ' ' : ''
    })
    .trim()

const message = (item: JsonObject, when: (seconds: unknown) => number | null): TurnDraft => {
  if (typeof item.role !== 'string') throw new Unreadable('a message has no role')
  const role = roleOf(item.role)
  const metrics = objectOf(item.metrics)
  const text = textOfContent(item.content)
  return {
    role,
    kind: 'message',
    text: text !== null && role === 'agent' ? spokenText(text) : text,
    // `created_at` is when the entry was written, not when anyone spoke.
    startMs: when(metrics.started_speaking_at),
    endMs: when(metrics.stopped_speaking_at),
    interrupted: item.interrupted === true,
    latency: {
      transcriptionMs: secondsToMs(metrics.transcription_delay),
      endOfTurnMs: secondsToMs(metrics.end_of_turn_delay),
      modelMs: secondsToMs(metrics.llm_node_ttft),
      voiceMs: secondsToMs(metrics.tts_node_ttfb),
      totalMs: secondsToMs(metrics.e2e_latency),
    },
  }
}

const draftOf = (item: JsonObject, when: (seconds: unknown) => number | null): TurnDraft => {
  const startMs = when(item.created_at)
  const callId = idOf(item.call_id)
  const name = textOf(item.name)
  // Similar lists from other senders often contain messages without a type.
  const type = item.type ?? ('role' in item ? 'message' : undefined)
  switch (type) {
    case 'message':
      return message(item, when)
    case 'function_call':
      return { role: 'agent', kind: 'tool_call', startMs, tool: { callId, name, arguments: item.arguments } }
    case 'function_call_output': {
      const tool = { callId, name, result: item.output, isError: booleanOf(item.is_error) }
      return { role: 'tool', kind: 'tool_result', startMs, tool }
    }
    case 'agent_handoff': {
      const [from, to] = [idOf(item.old_agent_id) ?? '?', idOf(item.new_agent_id) ?? '?']
      return { role: 'system', kind: 'event', text: `agent_handoff: ${from} → ${to}`, startMs }
    }
    case 'agent_config_update': {
      const instructions = textOf(item.instructions)
      return instructions === null
        ? { role: 'system', kind: 'event', text: 'agent_config_update', startMs }
        : { role: 'system', kind: 'message', text: instructions, startMs }
    }
    default:
      if (typeof type !== 'string') throw new Unreadable('an item has no type')
      return { role: 'system', kind: 'event', text: type, startMs }
  }
}

function* read(items: unknown[], start: Date | null | undefined): Generator<TurnDraft> {
  const when = (seconds: unknown) => msSince(start, instantOfMs(secondsToMs(seconds)))
  for (const item of entriesOf(items, 'item')) yield draftOf(item, when)
}

const itemTypes = new Set(['message', 'function_call', 'function_call_output', 'agent_handoff', 'agent_config_update'])

export const readLivekit: Reader = (content, hints: Hints) => {
  const items = listAt(content, 'items', 'chat_history.items')
  const isItem = ({ type }: JsonObject) => typeof type === 'string' && itemTypes.has(type)
  const reportStart = instantOfMs(secondsToMs(at(content, 'started_at')))
  return items && someEntry(items, isItem) ? read(items, reportStart ?? hints.startedAt) : undefined
}
