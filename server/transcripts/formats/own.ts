import { isObject } from '../../platform/is-object.ts'
import { type Reader, type TurnDraft, Unreadable } from '../draft.ts'
import { entriesOf, type JsonObject, listAt, someEntry } from '../json.ts'
import { knownRole } from '../roles.ts'
import { type Turn, turnKinds, turnRoles } from '../turn.ts'

/**
 * Reads Earshot's own format. A role and text are sufficient. Errors are reported, because users of this format can fix
 * them.
 */

const fault = (index: number, property: string, must: string) =>
  new Unreadable(`turns[${index}].${property} must be ${must}`)

/** Returns an optional property. Throws if the property does not satisfy its requirement. */
const optional = <T>(value: unknown, is: (value: unknown) => value is T, refuse: () => Error): T | null => {
  if (value === undefined || value === null) return null
  if (!is(value)) throw refuse()
  return value
}

const isText = (value: unknown) => typeof value === 'string'
const isBoolean = (value: unknown) => typeof value === 'boolean'
const isTime = (value: unknown): value is number => typeof value === 'number' && value >= 0 && Number.isFinite(value)
const isList = (value: unknown): value is unknown[] => Array.isArray(value)
const isKind = (value: unknown): value is Turn['kind'] => turnKinds.some((kind) => kind === value)

const timesOf = (entry: JsonObject, index: number, where = '') => {
  const time = (name: string) =>
    optional(entry[name], isTime, () => fault(index, where + name, 'milliseconds from the start, 0 or more'))
  const [startMs, endMs] = [time('startMs'), time('endMs')]
  if (startMs !== null && endMs !== null && endMs < startMs) {
    throw fault(index, `${where}endMs`, 'at or after startMs')
  }
  return { startMs, endMs }
}

const wordsOf = (entry: JsonObject, index: number): NonNullable<TurnDraft['words']> => {
  const words = optional(entry.words, isList, () => fault(index, 'words', 'a list')) ?? []
  return words.map((word, at) => {
    if (!isObject(word) || !isText(word.text)) throw fault(index, `words[${at}]`, 'an object with a text')
    return { text: word.text, ...timesOf(word, index, `words[${at}].`) }
  })
}

const toolOf = (entry: JsonObject, index: number): NonNullable<TurnDraft['tool']> => {
  const tool = entry.tool
  if (!isObject(tool)) throw fault(index, 'tool', 'an object with the name of the tool')
  const name = optional(tool.name, isText, () => fault(index, 'tool.name', 'text'))
  const callId = optional(tool.callId, isText, () => fault(index, 'tool.callId', 'text'))
  if (name === null && callId === null) throw fault(index, 'tool.name', 'given')
  const isError = optional(tool.isError, isBoolean, () => fault(index, 'tool.isError', 'true or false'))
  return { name, callId, isError, arguments: tool.arguments, result: tool.result }
}

const latencyOf = (entry: JsonObject, index: number): NonNullable<TurnDraft['latency']> => {
  const figures = optional(entry.latency, isObject, () => fault(index, 'latency', 'an object'))
  const figure = (name: string) =>
    optional(figures?.[name], isTime, () => fault(index, `latency.${name}`, 'milliseconds, 0 or more'))
  return {
    transcriptionMs: figure('transcriptionMs'),
    endOfTurnMs: figure('endOfTurnMs'),
    modelMs: figure('modelMs'),
    voiceMs: figure('voiceMs'),
    totalMs: figure('totalMs'),
  }
}

const draftOf = (entry: JsonObject, index: number): TurnDraft => {
  const role = typeof entry.role === 'string' ? knownRole(entry.role) : undefined
  if (!role) throw fault(index, 'role', `one of ${turnRoles.join(', ')}`)
  const kind = optional(entry.kind, isKind, () => fault(index, 'kind', `one of ${turnKinds.join(', ')}`)) ?? 'message'
  const text = optional(entry.text, isText, () => fault(index, 'text', 'text'))
  const usesTool = kind === 'tool_call' || kind === 'tool_result'
  if (kind === 'message' && entry.text === undefined) throw fault(index, 'text', 'given')
  return {
    role,
    kind,
    text,
    ...timesOf(entry, index),
    interrupted: optional(entry.interrupted, isBoolean, () => fault(index, 'interrupted', 'true or false')) ?? false,
    words: wordsOf(entry, index),
    latency: latencyOf(entry, index),
    ...(usesTool && { tool: toolOf(entry, index) }),
  }
}

function* read(entries: unknown[]): Generator<TurnDraft> {
  let index = 0
  for (const entry of entriesOf(entries)) {
    yield draftOf(entry, index)
    index += 1
  }
}

const isOwn = (entry: JsonObject) => 'text' in entry || 'kind' in entry

export const readOwn: Reader = (content) => {
  const entries = listAt(content, 'turns', 'transcript')
  const isNamed = isObject(content) && entries !== undefined && entries === content.turns
  return entries && (isNamed || someEntry(entries, isOwn)) ? read(entries) : undefined
}
