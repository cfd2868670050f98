import type { Hints, Reader, TurnDraft } from '../draft.ts'
import type { JsonObject } from '../json.ts'
import { at, entriesOf, idOf, instantOfMs, listAt, msSince, numberOf, secondsToMs, someEntry, textOf } from '../json.ts'
import { type SpokenEntry, spokenEntries } from '../roles.ts'

/**
 * Reads `artifact.messages` in Vapi's end-of-call reports. The latencies belong to the call, not to individual
 * messages.
 */

const timesOf = (entry: JsonObject, hints: Hints) => {
  const [time, endTime] = [numberOf(entry.time), numberOf(entry.endTime)]
  const startMs = secondsToMs(entry.secondsFromStart) ?? msSince(hints.startedAt, instantOfMs(time))
  const lastedMs = time !== null && endTime !== null ? endTime - time : numberOf(entry.duration)
  return { startMs, endMs: startMs !== null && lastedMs !== null ? startMs + lastedMs : null }
}

function* draftsOf({ entry, name, role }: SpokenEntry, hints: Hints): Generator<TurnDraft> {
  const times = timesOf(entry, hints)
  const calls = Array.isArray(entry.toolCalls) ? entry.toolCalls : []
  if (name === 'tool_call_result' || (role === 'tool' && entry.result !== undefined)) {
    const tool = { callId: idOf(entry.toolCallId), name: textOf(entry.name), result: entry.result }
    yield { role: 'tool', kind: 'tool_result', startMs: times.startMs, tool }
    return
  }
  const text = textOf(entry.message)
  if (name !== 'tool_calls' || text !== null) {
    yield { role: name === 'tool_calls' ? 'agent' : role, kind: 'message', text, ...times }
  }
  for (const call of entriesOf(calls, 'tool call')) {
    const callName = textOf(at(call, 'function', 'name')) ?? textOf(call.name)
    const tool = { callId: idOf(call.id), name: callName, arguments: at(call, 'function', 'arguments') }
    yield { role: 'agent', kind: 'tool_call', startMs: times.startMs, tool }
  }
}

function* read(messages: unknown[], hints: Hints): Generator<TurnDraft> {
  for (const spoken of spokenEntries(messages)) yield* draftsOf(spoken, hints)
}

const isVapi = (entry: JsonObject) =>
  typeof entry.role === 'string' && ('message' in entry || 'toolCalls' in entry || 'toolCallId' in entry)

export const readVapi: Reader = (content, hints) => {
  const messages = listAt(content, 'messages', 'artifact.messages', 'message.artifact.messages')
  return messages && someEntry(messages, isVapi) ? read(messages, hints) : undefined
}
