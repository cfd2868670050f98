import { isObject } from '../../platform/is-object.ts'
import { textOfContent } from '../content.ts'
import type { Reader, TurnDraft } from '../draft.ts'
import { booleanOf, entriesOf, idOf, type JsonObject, listAt, objectOf, someEntry, textOf } from '../json.ts'
import { type SpokenEntry, spokenEntries } from '../roles.ts'

/**
 * Reads OpenAI chat messages, the format of most text agents. Also supports tools in message parts. The format has no
 * times.
 */

const toolCall = (callId: string | null, called: unknown): TurnDraft => {
  const { name, arguments: given, input } = objectOf(called)
  return { role: 'agent', kind: 'tool_call', tool: { callId, name: textOf(name), arguments: given ?? input } }
}

function* toolParts(content: unknown): Generator<TurnDraft> {
  for (const part of Array.isArray(content) ? content.filter(isObject) : []) {
    if (part.type === 'tool_use') yield toolCall(idOf(part.id), part)
    if (part.type !== 'tool_result') continue
    const tool = { callId: idOf(part.tool_use_id), result: part.content, isError: booleanOf(part.is_error) }
    yield { role: 'tool', kind: 'tool_result', tool }
  }
}

/** Yields the content of one message: text first, then tool calls. */
export function* draftsOfMessage({ entry, role }: SpokenEntry): Generator<TurnDraft> {
  if (role === 'tool') {
    const tool = { callId: idOf(entry.tool_call_id), name: textOf(entry.name), result: textOfContent(entry.content) }
    yield { role, kind: 'tool_result', tool }
    return
  }
  const text = textOfContent(entry.content)
  const calls = Array.isArray(entry.tool_calls) ? entry.tool_calls : []
  const inParts = [...toolParts(entry.content)]
  const called = calls.length > 0 || isObject(entry.function_call) || inParts.length > 0
  if (text !== null || !called) yield { role, kind: 'message', text }
  for (const call of entriesOf(calls, 'tool call')) yield toolCall(idOf(call.id), call.function ?? call.custom)
  if (isObject(entry.function_call)) yield toolCall(null, entry.function_call)
  yield* inParts
}

function* read(messages: unknown[]): Generator<TurnDraft> {
  for (const spoken of spokenEntries(messages)) yield* draftsOfMessage(spoken)
}

const isMessage = (entry: JsonObject) => 'role' in entry && ('content' in entry || 'tool_calls' in entry)

export const readOpenai: Reader = (content) => {
  const messages = listAt(content, 'messages', 'transcript')
  return messages && someEntry(messages, isMessage) ? read(messages) : undefined
}
