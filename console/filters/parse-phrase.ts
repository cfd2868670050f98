// Parses and writes the language of filters: each condition is a phrase that people can read, type, and edit.

import type { Schemas } from '../api/schema.d.ts'
import { signalLabel, signalNames } from '../conversations/signal-names.ts'
import { soundLabel, soundNames } from '../conversations/sound-names.ts'
import { instantIn, localIn } from '../lib/zones.ts'
import type { Option } from '../ui/controls.tsx'
import { operators, takesValue } from './operators.ts'
import { chosenTime, isDates, timeOptions, withTime } from './periods.ts'

export type Part = Schemas['FilterPart']
type Condition = Schemas['Condition']

/** The names that phrases contain, and the time zone of their dates. */
export type Vocabulary = Record<'agents' | 'agentGroups' | 'companies' | 'buckets' | 'monitors', Option[]> & {
  /** The categories of monitors that define them. */
  categories: { monitorId: string; options: Option[] }[]
  timezone: string
}

const lists = [
  ['agent', 'agentIds', 'agents'],
  ['group', 'agentGroupIds', 'agentGroups'],
  ['company', 'companyIds', 'companies'],
] as const

const choices = [
  ['channel', 'channels', { call: 'calls', chat: 'chats', voicemail: 'voicemail' }],
  ['direction', 'directions', { inbound: 'inbound', outbound: 'outbound' }],
  ['status', 'statuses', { completed: 'completed', in_progress: 'in progress', failed: 'failed' }],
] as const

const reviews = {
  none: 'not in review',
  pending: 'awaiting',
  in_progress: 'in review',
  completed: 'completed',
} as const

const results = { affected: 'affected', not_affected: 'not affected', unscored: 'unscored', all: 'result' } as const

const find = (options: Option[], label: string): string | undefined =>
  options.find((option) => option.label.toLowerCase() === label.toLowerCase())?.value

const labelOf = (options: Option[], id: string): string =>
  options.find(({ value }) => value === id)?.label ?? `${id.slice(0, 8)}…`

const entriesOf = (words: Record<string, string>): Option[] =>
  Object.entries(words).map(([value, label]) => ({ value, label }))

/** Returns the values of names separated by commas. A name can contain a comma itself. */
const valuesOf = (options: Option[], text: string): string[] | undefined => {
  const whole = find(options, text)
  if (whole !== undefined) return [whole]
  const values = text.split(/\s*,\s*/).map((name) => find(options, name))
  return values.every((value) => value !== undefined) ? values : undefined
}

const symbols: Record<string, Condition['op']> = {
  '>=': 'gte',
  '<=': 'lte',
  '!=': 'neq',
  '≥': 'gte',
  '≤': 'lte',
  '>': 'gt',
  '<': 'lt',
  '=': 'eq',
}

/** The longest operators are first, because `is not` also starts with `is`. */
const comparisons: [words: string, op: Condition['op']][] = [
  ...operators.map(({ value, label }): [string, Condition['op']] => [label, value]),
  ["doesn't contain", 'not_contains'] as [string, Condition['op']],
  ["doesn't exist", 'is_not_set'] as [string, Condition['op']],
  ...Object.entries(symbols),
].sort(([a], [b]) => b.length - a.length)

const readCondition = (text: string): Condition | undefined => {
  for (let at = text.indexOf(' '); at > 0; at = text.indexOf(' ', at + 1)) {
    const rest = text.slice(at + 1)
    const found = comparisons.find(([words]) => rest === words || rest.startsWith(`${words} `))
    if (!found) continue
    const [words, op] = found
    const [key, value] = [text.slice(0, at).trim(), rest.slice(words.length).trim()]
    if (takesValue(op)) return value === '' ? undefined : { key, op, value }
    return value === '' ? { key, op } : undefined
  }
  return undefined
}

const sayCondition = ({ key, op, value }: Condition): string => {
  const words = operators.find((operator) => operator.value === op)?.label ?? op
  return [key, words, ...(takesValue(op) ? [value ?? ''] : [])].join(' ')
}

const secondsIn: Record<string, number> = { s: 1, m: 60, h: 3_600 }

const readDuration = (text: string): Part | undefined => {
  const [, symbol = '', amount, unit = 's'] =
    /^duration\s*(>=?|<=?|≥|≤)\s*(\d+(?:\.\d+)?)\s*(s|m|h)?(?:ec|in|r|ours?|inutes?|econds?)?$/i.exec(text) ?? []
  if (amount === undefined) return undefined
  const seconds = Math.round(Number(amount) * (secondsIn[unit.toLowerCase()] ?? 1))
  return /[>≥]/.test(symbol) ? { minDurationSeconds: seconds } : { maxDurationSeconds: seconds }
}

const sayDuration = (seconds: number): string => {
  if (seconds > 0 && seconds % 3_600 === 0) return `${seconds / 3_600} h`
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

const readDate = (text: string | undefined, timezone: string) =>
  text === undefined ? undefined : instantIn(`${text.slice(0, 10)}T${text.slice(11) || '00:00'}`, timezone)

const readTime = (text: string, { timezone }: Vocabulary): Part | undefined => {
  const option = find(
    timeOptions({}).filter(({ value }) => value !== '' && !isDates(value)),
    text,
  )
  if (option !== undefined) return withTime({}, option, timezone)
  const day = String.raw`(\d{4}-\d\d-\d\d(?: \d\d:\d\d)?)`
  const [, from, to] = new RegExp(`^(?:from ${day})?(?: ?before ${day})?$`).exec(text) ?? []
  const [since, until] = [readDate(from, timezone), readDate(to, timezone)]
  return since || until ? { ...(since && { since }), ...(until && { until }) } : undefined
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

const measures = {
  signal: { field: 'signals', names: signalNames, labelOf: signalLabel },
  sound: { field: 'sound', names: soundNames, labelOf: soundLabel },
} as const
type MeasureKind = keyof typeof measures

const units: Record<string, number> = { ms: 1, s: 1_000, min: 60_000 }

/** Reads a number, with a unit of time if the measure is a time. */
const readValue = (name: string, text: string | undefined): number => {
  const [, amount, unit = 'ms'] = /^(.*?)\s*(ms|s|min)$/i.exec(text ?? '') ?? []
  const isTime = /Ms\b/.test(name) && amount !== undefined && amount !== ''
  return isTime ? Number(amount) * (units[unit.toLowerCase()] ?? 1) : Number(text)
}

const sayValue = (name: string, value: number): string =>
  /Ms\b/.test(name) && value !== 0 && value % 100 === 0 ? `${value / 1_000} s` : String(value)

const readMeasure = (kind: MeasureKind, text: string): Part | undefined => {
  const { field, names, labelOf: labelOfName } = measures[kind]
  const condition = readCondition(text)
  if (!condition || !['eq', 'neq', 'gt', 'gte', 'lt', 'lte'].includes(condition.op)) return undefined
  const name = names.find((each) =>
    [each, labelOfName(each)].some((one) => one.toLowerCase() === condition.key.toLowerCase()),
  )
  const value = name === undefined ? Number.NaN : readValue(name, condition.value)
  return Number.isNaN(value) ? undefined : { [field]: [{ name, op: condition.op, value }] }
}

type Measured = NonNullable<Part['signals'] | Part['sound']>[number]

const sayMeasure = (kind: MeasureKind, { name, op, value }: Measured): string =>
  `${kind} ${sayCondition({ key: measures[kind].labelOf(name), op, value: sayValue(name, value) })}`

const readTags = (text: string): Part | undefined => {
  const tags = text.split(',').map((tag) => tag.trim().toLowerCase())
  return tags.every((tag) => tag !== '' && tag.length <= 50) ? { tags: [...new Set(tags)] } : undefined
}

const categoryKey = /^[a-z]\w{0,63}$/i

const categoriesBy = ({ categories }: Vocabulary, monitorId: string): Option[] =>
  categories.find((of) => of.monitorId === monitorId)?.options ?? []

/** Reads categories separated by commas, each as its label or key. A label with a comma is only read by itself. */
const readCategoryList = (text: string, options: Option[]): string[] | undefined => {
  const names = find(options, text) === undefined ? text.split(',') : [text]
  const any = names.map((name) => find(options, name.trim()) ?? name.trim().replaceAll(' ', '_'))
  return any.every((key) => categoryKey.test(key)) ? [...new Set(any)] : undefined
}

/** Reads `Asks for a refund, billing by Reason for calling`. Labels and names can contain the word as well. */
const readCategories = (text: string, words: Vocabulary): Part | undefined => {
  for (let at = text.indexOf(' by '); at > 0; at = text.indexOf(' by ', at + 1)) {
    const monitorId = find(words.monitors, text.slice(at + ' by '.length))
    if (monitorId === undefined) continue
    const any = readCategoryList(text.slice(0, at), categoriesBy(words, monitorId))
    if (any) return { categories: { monitorId, any } }
  }
  return undefined
}

/** Reads what follows the name of a field and a colon. */
const readField = (field: string, text: string, words: Vocabulary): Part | undefined => {
  const list = lists.find(([name]) => name === field)
  if (list) {
    const ids = valuesOf(words[list[2]], text)
    return ids && { [list[1]]: ids }
  }
  const choice = choices.find(([name]) => name === field)
  if (choice) {
    const values = valuesOf(entriesOf(choice[2]), text)
    return values && { [choice[1]]: values }
  }
  const result = Object.entries(results).find(([, name]) => name === field)?.[0]
  if (result !== undefined) {
    const id = find(words.monitors, text)
    return id === undefined ? undefined : { monitors: [{ id, result: result as keyof typeof results }] }
  }
  switch (field) {
    case 'review': {
      const status = find(entriesOf(reviews), text)
      return status === undefined ? undefined : { reviewStatus: status as keyof typeof reviews }
    }
    case 'bucket': {
      const bucketId = find(words.buckets, text)
      return bucketId === undefined ? undefined : { bucketId }
    }
    case 'tag':
      return readTags(text)
    case 'category':
      return readCategories(text, words)
    case 'customer':
      return text === '' ? undefined : { customerId: text }
    case 'started':
      return readTime(text, words)
    default:
      return undefined
  }
}

/**
 * Returns the conditions of phrases joined by `and`, unless one of them is not a condition, like the rest of a value.
 */
const readSeveral = (text: string, words: Vocabulary): Part | undefined => {
  const phrases = text.split(/\s+and\s+/i)
  if (phrases.length < 2) return undefined
  const parts = phrases.map((phrase) => readOne(phrase, words))
  return parts.every((part) => part !== undefined) ? joinParts(parts) : undefined
}

/** Returns the condition that a phrase states, or undefined if it states none. */
export const parsePhrase = (phrase: string, words: Vocabulary): Part | undefined =>
  readSeveral(phrase.trim(), words) ?? readOne(phrase.trim(), words)

const readOne = (text: string, words: Vocabulary): Part | undefined => {
  const [, field, rest] = /^([a-z ]+?)\s*:\s*(.+)$/i.exec(text) ?? []
  const known = field !== undefined && rest !== undefined ? readField(field.toLowerCase(), rest, words) : undefined
  if (known) return known
  const said = /^mentions (.+)$/i.exec(text)?.[1]
  if (said !== undefined) return { text: said }
  const duration = readDuration(text)
  if (duration) return duration
  for (const kind of ['signal', 'sound'] as const) {
    if (text.toLowerCase().startsWith(`${kind} `)) return readMeasure(kind, text.slice(`${kind} `.length))
  }
  const condition = readCondition(text.replace(/^metric /i, ''))
  return condition && (/^metric /i.test(text) ? { metrics: [condition] } : { metadata: [condition] })
}

const sayMonitors = ({ monitors = [], match }: Part, words: Vocabulary): string => {
  const said = monitors.map(({ id, result = 'all' }) => `${results[result]}: ${labelOf(words.monitors, id)}`)
  return said.join(match === 'any' || monitors.every(({ result = 'all' }) => result === 'all') ? ' or ' : ' and ')
}

/** Returns the phrase of a part with one condition. */
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
  if (part.minDurationSeconds !== undefined) return `duration ≥ ${sayDuration(part.minDurationSeconds)}`
  if (part.maxDurationSeconds !== undefined) return `duration ≤ ${sayDuration(part.maxDurationSeconds)}`
  if (part.metadata?.[0]) return sayCondition(part.metadata[0])
  if (part.metrics?.[0]) return `metric ${sayCondition(part.metrics[0])}`
  if (part.signals?.[0]) return sayMeasure('signal', part.signals[0])
  if (part.sound?.[0]) return sayMeasure('sound', part.sound[0])
  if (part.agentVersionIds) return `version: ${part.agentVersionIds.map((id) => `${id.slice(0, 8)}…`).join(', ')}`
  if (part.conversationIds) return `${part.conversationIds.length} chosen`
  if (part.findingIds) return `finding: ${part.findingIds.map((id) => `${id.slice(0, 8)}…`).join(', ')}`
  return `started: ${sayTime(part, words)}`
}

const listsOfConditions = ['metadata', 'metrics', 'signals', 'sound'] as const

/** Returns each condition of a part on its own. */
export const splitPart = (part: Part): Part[] => {
  const { since, until, monitors, match, metadata, metrics, signals, sound, ...others } = part
  const separate = monitors && match !== 'any' && monitors.every(({ result = 'all' }) => result !== 'all')
  const conditions = { metadata, metrics, signals, sound }
  return [
    ...Object.entries(others).map(([name, value]): Part => ({ [name]: value })),
    ...(since || until ? [{ ...(since && { since }), ...(until && { until }) }] : []),
    ...listsOfConditions.flatMap((name) => (conditions[name] ?? []).map((one): Part => ({ [name]: [one] }))),
    ...(separate ? monitors.map((one) => ({ monitors: [one] })) : []),
    ...(monitors && !separate ? [{ monitors, ...(match && { match }) }] : []),
  ]
}

const isList = (value: unknown): value is unknown[] => Array.isArray(value)

/** Combines conditions that must all match. Of two times or texts, the later one counts. */
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

/** Returns the phrase of a part. */
export const sayPart = (part: Part, words: Vocabulary): string =>
  splitPart(part)
    .map((one) => sayOne(one, words))
    .join(' and ')

/** Returns all phrases about names and choices. */
const knownPhrases = (words: Vocabulary): string[] => [
  ...Object.values(results).flatMap((result) => words.monitors.map(({ label }) => `${result}: ${label}`)),
  ...lists.flatMap(([name, , kind]) => words[kind].map(({ label }) => `${name}: ${label}`)),
  ...choices.flatMap(([name, , labels]) => Object.values(labels).map((label) => `${name}: ${label}`)),
  ...timeOptions({})
    .filter(({ value }) => value !== '' && !isDates(value))
    .map(({ label }) => `started: ${label.toLowerCase()}`),
  ...Object.values(reviews).map((label) => `review: ${label}`),
  ...words.buckets.map(({ label }) => `bucket: ${label}`),
  ...words.categories.flatMap(({ monitorId, options }) =>
    options.map(({ value }) => sayPart({ categories: { monitorId, any: [value] } }, words)),
  ),
]

/** The beginnings of phrases to complete, with their fields. */
const beginnings: Record<string, keyof Part> = {
  'affected: ': 'monitors',
  'agent: ': 'agentIds',
  'company: ': 'companyIds',
  'started: ': 'since',
  'duration > ': 'minDurationSeconds',
  'channel: ': 'channels',
  'customer: ': 'customerId',
  'tag: ': 'tags',
  'mentions ': 'text',
  'not affected: ': 'monitors',
  'unscored: ': 'monitors',
  'category: ': 'categories',
  'direction: ': 'directions',
  'status: ': 'statuses',
  'review: ': 'reviewStatus',
  'group: ': 'agentGroupIds',
  'bucket: ': 'bucketId',
  'metric ': 'metrics',
  'signal ': 'signals',
  'sound ': 'sound',
}

export type Suggestion = { text: string; count?: number | undefined; part?: Part | undefined }

type Counted = { text: string; count: number }

/** Tags, metadata keys, and the values of the typed key, with their numbers of occurrences. */
export type Known = { tags: Counted[]; keys: Counted[]; values: Counted[] }

const mostSuggestions = 12

/** Returns the metadata key of a phrase that is being typed, and the beginning of its value. */
export const typedValue = (typed: string): { key: string; start: string; begun: string } | undefined => {
  const [, key, comparison, start = ''] = /^(.+?) (is not|is|contains|=) ?(.*)$/.exec(typed.trimStart()) ?? []
  return key === undefined || /:|^(metric|signal|sound|mentions) /.test(key)
    ? undefined
    : { key, start, begun: `${key} ${comparison}` }
}

/** Returns whether a part only has allowed fields. A filter without dates has no period either. */
const isAllowed = (part: Part | undefined, without: readonly string[]): boolean =>
  part !== undefined && Object.keys(part).every((name) => !without.includes(name === 'period' ? 'since' : name))

/** Suggests phrases that contain every typed word, the typed phrase itself first. */
export const suggest = (typed: string, words: Vocabulary, known: Known, without: readonly string[]): Suggestion[] => {
  const text = typed.trim()
  const wanted = text
    .toLowerCase()
    .split(/[\s:]+/)
    .filter(Boolean)
  const fits = (phrase: string) => wanted.every((word) => phrase.toLowerCase().includes(word))
  const whole = parsePhrase(text, words)
  const value = typedValue(typed)
  const allows = (phrase: string) => isAllowed(parsePhrase(phrase, words), without)
  const complete = (phrase: string): Suggestion => ({ text: phrase, part: parsePhrase(phrase, words) })
  const values = (value ? known.values : []).map(({ text: each, count }) => ({
    ...complete(`${value?.begun} ${each}`),
    count,
  }))
  const keys = known.keys
    .filter(({ text: key }) => fits(key))
    .map(({ text: key, count }) => ({ text: `${key} is `, count }))
  const tags = (text === '' || without.includes('tags') ? [] : known.tags)
    .map(({ text: tag, count }) => ({ ...complete(`tag: ${tag}`), count }))
    .filter((suggestion) => fits(suggestion.text))
  const begun = Object.entries(beginnings)
    .filter(([start, field]) => fits(start) && !without.includes(field))
    .map(([start]) => start)
  const all: Suggestion[] = [
    ...(isAllowed(whole, without) ? [complete(sayPart(whole as Part, words))] : []),
    ...values,
    ...(text === '' ? begun.map((start) => ({ text: start })) : []),
    ...(text === ''
      ? []
      : knownPhrases(words)
          .filter((phrase) => fits(phrase) && allows(phrase))
          .map(complete)),
    ...tags,
    ...(without.includes('metadata') ? [] : keys),
    ...(text === '' ? [] : begun.map((start) => ({ text: start }))),
    ...(text === '' || without.includes('text') || whole ? [] : [complete(`mentions ${text}`)]),
  ]
  const byText = new Map(all.map((suggestion) => [suggestion.text, suggestion]))
  return [...byText.values()].slice(0, mostSuggestions)
}
