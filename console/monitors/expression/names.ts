// Defines the names in rules, for completion and hover. docs/rules.md describes them for people.

import { signalLabel, signalNames } from '../../conversations/signal-names.ts'
import { soundLabel, soundNames } from '../../conversations/sound-names.ts'

export type Name = {
  name: string
  about: string
  /** The text that is inserted after the name. */
  after?: string
}

const roots: Name[] = [
  { name: 'conversation', about: 'The conversation’s properties', after: '.' },
  { name: 'signals', about: 'Conversation measurements', after: '.' },
  { name: 'sound', about: 'Recording measures, such as sound.responseMs.agent.p95', after: '.' },
  { name: 'turns', about: 'The transcript: a list of turns', after: '.' },
  { name: 'metadata', about: 'Your own conversation data, such as metadata.plan', after: '.' },
  { name: 'metrics', about: 'Customer metrics, such as metrics.csat', after: '.' },
  { name: 'has', about: 'has(metadata.plan) is true if there is a value', after: '(' },
  { name: 'size', about: 'The length of a list, map, or string', after: '(' },
  { name: 'double', about: 'Converts to a number', after: '(' },
  { name: 'int', about: 'Converts to a whole number', after: '(' },
  { name: 'string', about: 'Converts to a string', after: '(' },
  { name: 'timestamp', about: "A time, such as timestamp('2026-11-21T09:00:00Z')", after: "('" },
  { name: 'duration', about: "A length of time, such as duration('90s')", after: "('" },
  { name: 'true', about: 'True' },
  { name: 'false', about: 'False' },
  { name: 'null', about: 'No value' },
]

const conversation: Name[] = [
  { name: 'channel', about: "'call', 'chat', or 'voicemail'" },
  { name: 'direction', about: "'inbound' or 'outbound'" },
  { name: 'durationSeconds', about: 'The duration in seconds' },
  { name: 'startedAt', about: "A time; .getHours('Europe/Berlin') returns the hour in a time zone" },
  { name: 'endedAt', about: 'A time' },
  { name: 'endReason', about: 'Why the conversation ended, such as ‘customer-ended’' },
  { name: 'customerId', about: 'Your customer ID' },
  { name: 'externalId', about: 'Your conversation ID' },
  { name: 'agentId', about: 'The agent ID' },
  { name: 'agentVersionId', about: 'The agent version ID' },
  { name: 'companyId', about: 'The company ID' },
  { name: 'id', about: 'The conversation ID' },
  { name: 'status', about: 'Always ‘completed’ when a rule runs' },
]

const turn: Name[] = [
  { name: 'text', about: 'The text, or an empty string' },
  { name: 'role', about: "'agent', 'customer', 'system', 'tool', 'human_agent', or 'other'" },
  { name: 'kind', about: "'message', 'tool_call', 'tool_result', or 'event'" },
  { name: 'index', about: 'The number of the turn, from 0' },
  { name: 'startMs', about: 'The start in milliseconds from the start of the conversation' },
  { name: 'endMs', about: 'The end in milliseconds from the start of the conversation' },
  { name: 'interrupted', about: 'Whether the speaker was interrupted' },
  { name: 'tool.name', about: 'The tool’s name' },
  { name: 'tool.isError', about: 'Whether the tool failed' },
  { name: 'tool.arguments', about: 'The call’s arguments' },
  { name: 'tool.result', about: 'The tool’s result' },
  { name: 'latency.totalMs', about: 'How long the response took, in milliseconds' },
]

const functions: Name[] = [
  { name: 'by', about: "Messages from one role, such as turns.by('agent')", after: "('" },
  { name: 'mentions', about: "Whether a pattern occurs, such as mentions('refund|money back')", after: "('" },
  { name: 'mentioning', about: 'The turns that contain a pattern', after: "('" },
  { name: 'calls', about: 'Calls to a tool', after: "('" },
  { name: 'first', about: 'The first turn, or the given number of first turns', after: '(' },
  { name: 'last', about: 'The last turn, or the given number of last turns', after: '(' },
  { name: 'after', about: 'The turns after the first of the given turns', after: '(' },
  { name: 'before', about: 'The turns before the first of the given turns', after: '(' },
  { name: 'size', about: 'The number of turns or characters', after: '()' },
  {
    name: 'exists',
    about: 'Whether a condition is true for any item, such as exists(t, t.role == ‘agent’)',
    after: '(t, t.',
  },
  { name: 'all', about: 'Whether a condition is true for all items', after: '(t, t.' },
  { name: 'filter', about: 'The items for which a condition is true', after: '(t, t.' },
  { name: 'map', about: 'One value per item', after: '(t, t.' },
  { name: 'contains', about: 'Whether a string contains another', after: "('" },
  { name: 'startsWith', about: 'Whether a string starts with another', after: "('" },
  { name: 'endsWith', about: 'Whether a string ends with another', after: "('" },
  { name: 'matches', about: 'Whether a pattern occurs, case-sensitive', after: "('" },
  { name: 'lowerAscii', about: 'The string in lower case', after: '()' },
  { name: 'getHours', about: 'The hour of a time, in UTC or a time zone', after: "('" },
  { name: 'getDayOfWeek', about: 'The weekday of a time: 0 is Sunday', after: "('" },
]

const signals: Name[] = signalNames.map((name) => ({ name, about: signalLabel(name) }))

const sound: Name[] = soundNames.map((name) => ({ name, about: soundLabel(name) }))

const isInString = (before: string): boolean =>
  (before.replace(/\\./g, '').match(/'/g) ?? []).length % 2 === 1 ||
  (before.replace(/'(?:\\.|[^'\\])*'/g, '').match(/"/g) ?? []).length % 2 === 1

/** Returns the names that can follow the text, and where the name that is being typed starts. */
export const namesAfter = (before: string): { from: number; names: Name[] } | undefined => {
  if (isInString(before)) return undefined
  const [path = ''] = /[A-Za-z_][\w.]*$/.exec(before) ?? []
  const start = before.length - path.length
  const isCalled = before[start - 1] === '.'
  const at = path.indexOf('.')
  const [root, typed] = at < 0 ? ['', path] : [path.slice(0, at), path.slice(at + 1)]
  const from = before.length - typed.length
  if (isCalled || /[)\]]\.$/.test(before)) return { from: isCalled ? start : before.length, names: functions }
  if (root === 'conversation') return { from, names: conversation }
  if (root === 'signals') return { from, names: signals }
  if (root === 'sound') return { from, names: sound }
  if (root === 'turns') return { from, names: functions }
  if (root === 'metadata' || root === 'metrics') return undefined
  if (root !== '') return { from, names: [...turn, ...functions] }
  return { from, names: roots }
}

/** Returns the name at a position in the text. */
export const nameAt = (text: string, at: number): (Name & { from: number; to: number }) | undefined => {
  const end = at + (/^\w*/.exec(text.slice(at))?.[0].length ?? 0)
  const found = namesAfter(text.slice(0, end))
  const name = found?.names.find((known) => known.name === text.slice(found.from, end))
  return found && name && end > found.from ? { ...name, from: found.from, to: end } : undefined
}
