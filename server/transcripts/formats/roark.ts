import type { Reader, TurnDraft } from '../draft.ts'
import { at, entriesOf, type JsonObject, listAt, numberOf, someEntry, textOf } from '../json.ts'
import { spokenEntries } from '../roles.ts'

/** Reads Roark's messages and its separate list of tools. All of them have offsets in milliseconds. */

const spoken = (entries: unknown[]): TurnDraft[] =>
  [...spokenEntries(entries)].map(({ entry, role }) => ({
    role,
    kind: 'message',
    text: textOf(entry.text),
    startMs: numberOf(entry.startOffsetMs),
    endMs: numberOf(entry.endOffsetMs),
  }))

const invoked = (invocation: JsonObject): TurnDraft[] => {
  const name = textOf(invocation.name)
  const startMs = numberOf(invocation.startOffsetMs)
  const call: TurnDraft = {
    role: 'agent',
    kind: 'tool_call',
    startMs,
    tool: { name, arguments: invocation.parameters },
  }
  if (invocation.result === undefined || invocation.result === null) return [call]
  const endMs = numberOf(invocation.endOffsetMs)
  return [call, { role: 'tool', kind: 'tool_result', startMs: endMs, tool: { name, result: invocation.result } }]
}

/** Places each tool turn before the first message that starts after it. A tool turn without a time goes to the end. */
function* merge(messages: TurnDraft[], tools: TurnDraft[]): Generator<TurnDraft> {
  const waiting = tools.toSorted((a, b) => (a.startMs ?? Infinity) - (b.startMs ?? Infinity) || 0)
  let next = 0
  for (const message of messages) {
    for (let tool = waiting[next]; tool && isBefore(tool, message); tool = waiting[next]) {
      yield tool
      next += 1
    }
    yield message
  }
  yield* waiting.slice(next)
}

const isBefore = (tool: TurnDraft, message: TurnDraft) =>
  typeof tool.startMs === 'number' && typeof message.startMs === 'number' && tool.startMs < message.startMs

export const readRoark: Reader = (content) => {
  const entries = listAt(content, 'transcript')
  const invocations = at(content, 'toolInvocations')
  const hasOffset = (entry: JsonObject) => 'startOffsetMs' in entry
  if (!entries || !(Array.isArray(invocations) || someEntry(entries, hasOffset))) return undefined
  const tools = [...entriesOf(Array.isArray(invocations) ? invocations : [], 'tool invocation')]
  return merge(spoken(entries), tools.flatMap(invoked))
}
