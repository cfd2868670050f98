import { textOfContent } from '../content.ts'
import { type TurnDraft, Unreadable } from '../draft.ts'
import { entriesOf, idOf, type JsonObject, nestedJson, textOf } from '../json.ts'
import { type SpokenEntry, spokenEntries } from '../roles.ts'

/** Reads messages in the GenAI conventions. Instrumentations write them as values or as JSON strings. */

const listOf = (value: unknown, what: string): unknown[] => {
  if (value === undefined || value === null) return []
  const list = typeof value === 'string' ? nestedJson(value) : value
  if (!Array.isArray(list)) throw new Unreadable(`${what} is neither an array nor the JSON of an array`)
  return list
}

const partDraft = (part: JsonObject): TurnDraft | undefined => {
  const callId = idOf(part.id)
  if (part.type === 'tool_call') {
    return { role: 'agent', kind: 'tool_call', tool: { callId, name: textOf(part.name), arguments: part.arguments } }
  }
  if (part.type !== 'tool_call_response') return undefined
  return { role: 'tool', kind: 'tool_result', tool: { callId, result: part.response ?? part.result } }
}

const draftsOfMessage = ({ entry, role }: SpokenEntry): TurnDraft[] => {
  const parts = Array.isArray(entry.parts) ? [...entriesOf(entry.parts, 'part')] : []
  const tools = parts.map(partDraft).filter((draft) => draft !== undefined)
  const text = textOfContent(entry.parts ?? entry.content)
  const isThought = parts.length > 0 && parts.every(({ type }) => type === 'reasoning')
  if (text === null && (tools.length > 0 || isThought)) return tools
  return [{ role, kind: 'message', text }, ...tools]
}

export const draftsOfMessages = (messages: unknown): TurnDraft[] =>
  [...spokenEntries(listOf(messages, 'the list of messages'))].flatMap(draftsOfMessage)

export const instructionsOf = (instructions: unknown): TurnDraft[] => {
  const isPlain = typeof instructions === 'string' && !nestedJson(instructions)
  const text = isPlain ? textOf(instructions) : textOfContent(listOf(instructions, 'the system instructions'))
  return text === null ? [] : [{ role: 'system', kind: 'message', text }]
}
