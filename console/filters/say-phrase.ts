// Writes a filter's conditions as phrases that people can read and edit. `parse-phrase.ts` parses them.

import type { Schemas } from '../api/schema.d.ts'
import { signalLabel, signalNames } from '../conversations/signal-names.ts'
import { localIn } from '../lib/zones.ts'
import type { Option } from '../ui/controls.tsx'
import { fieldOperators, operators, takesValue } from './operators.ts'
import { chosenTime, isDates, timeOptions } from './periods.ts'

export type Part = Schemas['FilterPart']
export type Condition = Schemas['Condition']
export type FieldCondition = Schemas['FieldCondition']

/** The names that phrases contain, and the time zone of their dates. */
export type Vocabulary = Record<
  'agents' | 'agentGroups' | 'companies' | 'topics' | 'buckets' | 'monitors',
  Option[]
> & {
  /** The categories of monitors that define any. */
  categories: { monitorId: string; options: Option[] }[]
  /** The fields of monitors that define any. Only judges define types. */
  fields: { monitorId: string; key: string; type?: string; options?: string[] }[]
  /** The sound measures. */
  sounds: Option[]
  timezone: string
}

export const lists = [
  ['agent', 'agentIds', 'agents'],
  ['group', 'agentGroupIds', 'agentGroups'],
  ['company', 'companyIds', 'companies'],
  ['topic', 'topicIds', 'topics'],
] as const

export const choices = [
  ['channel', 'channels', { call: 'calls', chat: 'chats', voicemail: 'voicemail' }],
  ['direction', 'directions', { inbound: 'inbound', outbound: 'outbound' }],
  ['status', 'statuses', { completed: 'completed', in_progress: 'in progress', failed: 'failed' }],
] as const

export const reviews = {
  none: 'not in review',
  pending: 'awaiting',
  in_progress: 'in review',
  completed: 'completed',
} as const

export const results = {
  affected: 'affected',
  not_affected: 'not affected',
  unscored: 'unscored',
  all: 'result',
} as const

const labelOf = (options: Option[], id: string): string =>
  options.find(({ value }) => value === id)?.label ?? `${id.slice(0, 8)}…`

export const entriesOf = (words: Record<string, string>): Option[] =>
  Object.entries(words).map(([value, label]) => ({ value, label }))

const sayCondition = ({ key, op, value }: Condition): string => {
  const words = operators.find((operator) => operator.value === op)?.label ?? op
  return [key, words, ...(takesValue(op) ? [value ?? ''] : [])].join(' ')
}

const sayField = ({ monitorId, field, op, value, values }: FieldCondition, words: Vocabulary): string => {
  const label = fieldOperators.find((operator) => operator.value === op)?.label ?? op
  // A comma separates values.
  const listed = values?.map((each) => (each.includes(',') ? `"${each}"` : each)).join(', ')
  const said = [field, label, ...(takesValue(op) ? [listed ?? value ?? ''] : [])].join(' ')
  return `field ${said} by ${labelOf(words.monitors, monitorId)}`
}

const sayDuration = (seconds: number): string => {
  if (seconds > 0 && seconds % 3_600 === 0) return `${seconds / 3_600} h`
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

const sayTime = (part: Part, { timezone }: Vocabulary): string => {
  const chosen = chosenTime(part)
  if (!isDates(chosen)) {
    return (
      timeOptions(part)
        .find(({ value }) => value === chosen)
        ?.label.toLowerCase() ?? 'another period'
    )
  }
  const say = (instant: string) => localIn(instant, timezone).replace('T', ' ')
  return [part.since && `from ${say(part.since)}`, part.until && `before ${say(part.until)}`].filter(Boolean).join(' ')
}

const signals: Option[] = signalNames.map((value) => ({ value, label: signalLabel(value) }))

export const measureFields = { signal: 'signals', sound: 'sound' } as const
export type MeasureKind = keyof typeof measureFields

export const measuresOf = (kind: MeasureKind, { sounds }: Vocabulary): Option[] =>
  kind === 'signal' ? signals : sounds

const sayValue = (name: string, value: number): string => (/Ms\b/.test(name) ? `${value / 1_000} s` : String(value))

type Measured = NonNullable<Part['signals'] | Part['sound']>[number]

const sayMeasure = (kind: MeasureKind, { name, op, value }: Measured, words: Vocabulary): string => {
  const key = measuresOf(kind, words).find((measure) => measure.value === name)?.label ?? name
  return `${kind} ${sayCondition({ key, op, value: sayValue(name, value) })}`
}

/** Returns `meaning: refund not received, at least 0.7`. */
const sayMeaning = ({ text, conversationId, turn, minimumSimilarity }: NonNullable<Part['similarTo']>): string => {
  const like = text ?? (turn === undefined ? `conversation ${conversationId}` : `turn ${turn + 1} of ${conversationId}`)
  return `meaning: ${like}${minimumSimilarity === undefined ? '' : `, at least ${minimumSimilarity}`}`
}

export const categoriesBy = ({ categories }: Vocabulary, monitorId: string): Option[] =>
  categories.find((of) => of.monitorId === monitorId)?.options ?? []

const sayMonitors = ({ monitors = [], match }: Part, words: Vocabulary): string => {
  const said = monitors.map(({ id, result = 'all' }) => `${results[result]}: ${labelOf(words.monitors, id)}`)
  return said.join(match === 'any' || monitors.every(({ result = 'all' }) => result === 'all') ? ' or ' : ' and ')
}

/** Returns the phrase for a part with one condition. */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a list of fields
const sayOne = (part: Part, words: Vocabulary): string => {
  for (const [name, field, kind] of lists) {
    const ids = part[field]
    if (ids) return `${name}: ${ids.map((id) => labelOf(words[kind], id)).join(', ')}`
  }
  for (const [name, field, labels] of choices) {
    const values = part[field]
    if (values) return `${name}: ${values.map((value) => labelOf(entriesOf(labels), value)).join(', ')}`
  }
  if (part.monitors) return sayMonitors(part, words)
  if (part.categories) {
    const { monitorId, any } = part.categories
    const options = categoriesBy(words, monitorId)
    const labels = options.filter(({ label }) => !label.includes(','))
    const names = any.map((key) => labels.find(({ value }) => value === key)?.label ?? key.replaceAll('_', ' '))
    return `category: ${names.join(', ')} by ${labelOf(words.monitors, monitorId)}`
  }
  if (part.reviewStatus) return `review: ${reviews[part.reviewStatus]}`
  if (part.bucketId) return `bucket: ${labelOf(words.buckets, part.bucketId)}`
  if (part.tags) return `tag: ${part.tags.join(', ')}`
  if (part.customerId !== undefined) return `customer: ${part.customerId}`
  if (part.text !== undefined) return `mentions ${part.text}`
  if (part.similarTo) return sayMeaning(part.similarTo)
  if (part.minDurationSeconds !== undefined) return `duration ≥ ${sayDuration(part.minDurationSeconds)}`
  if (part.maxDurationSeconds !== undefined) return `duration ≤ ${sayDuration(part.maxDurationSeconds)}`
  if (part.metadata?.[0]) return sayCondition(part.metadata[0])
  if (part.metrics?.[0]) return `metric ${sayCondition(part.metrics[0])}`
  if (part.signals?.[0]) return sayMeasure('signal', part.signals[0], words)
  if (part.sound?.[0]) return sayMeasure('sound', part.sound[0], words)
  if (part.fields?.[0]) return sayField(part.fields[0], words)
  if (part.agentVersionIds) return `version: ${part.agentVersionIds.map((id) => `${id.slice(0, 8)}…`).join(', ')}`
  if (part.conversationIds) return `${part.conversationIds.length} chosen`
  if (part.findingIds) return `finding: ${part.findingIds.map((id) => `${id.slice(0, 8)}…`).join(', ')}`
  return `started: ${sayTime(part, words)}`
}

const listsOfConditions = ['metadata', 'metrics', 'signals', 'sound', 'fields'] as const

/** Returns each condition of a part as its own part. */
export const splitPart = (part: Part): Part[] => {
  const { since, until, monitors, match, metadata, metrics, signals, sound, fields, ...others } = part
  const separate = monitors && match !== 'any' && monitors.every(({ result = 'all' }) => result !== 'all')
  const conditions = { metadata, metrics, signals, sound, fields }
  return [
    ...Object.entries(others).map(([name, value]): Part => ({ [name]: value })),
    ...(since || until ? [{ ...(since && { since }), ...(until && { until }) }] : []),
    ...listsOfConditions.flatMap((name) => (conditions[name] ?? []).map((one): Part => ({ [name]: [one] }))),
    ...(separate ? monitors.map((one) => ({ monitors: [one] })) : []),
    ...(monitors && !separate ? [{ monitors, ...(match && { match }) }] : []),
  ]
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

/** Combines conditions that must all match. Of two times or search texts, the later one is used. */
export const joinParts = (parts: Part[]): Part => {
  const joined: Record<string, unknown> = {}
  for (const [name, value] of parts.flatMap((part) => Object.entries(part))) {
    const before = joined[name]
    if (name === 'period') for (const other of ['since', 'until']) delete joined[other]
    if (name === 'since' || name === 'until') delete joined.period
    joined[name] = isList(before) && isList(value) ? [...new Set([...before, ...value])] : value
  }
  return joined
}

/** Returns the phrase for a part. */
export const sayPart = (part: Part, words: Vocabulary): string =>
  splitPart(part)
    .map((one) => sayOne(one, words))
    .join(' and ')

/** Returns the metadata key in a phrase that is being typed, and the beginning of its value. */
export const typedValue = (typed: string): { key: string; start: string; begun: string } | undefined => {
  const [, key, comparison, start = ''] = /^(.+?) (is not|is|contains|=) ?(.*)$/.exec(typed.trimStart()) ?? []
  return key === undefined || /:|^(metric|signal|sound|field|mentions|means|like) /.test(key)
    ? undefined
    : { key, start, begun: `${key} ${comparison}` }
}
