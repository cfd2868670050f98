// Parses the phrases of filters. `say-phrase.ts` writes them.

import { instantIn } from '../lib/zones.ts'
import type { Option } from '../ui/controls.tsx'
import { fieldOperators, operators, takesValue } from './operators.ts'
import { isDates, timeOptions, withTime } from './periods.ts'
import {
  type Condition,
  categoriesBy,
  choices,
  entriesOf,
  type FieldCondition,
  joinParts,
  lists,
  type MeasureKind,
  measureFields,
  measuresOf,
  type Part,
  results,
  reviews,
  type Vocabulary,
} from './say-phrase.ts'

const find = (options: Option[], label: string): string | undefined =>
  options.find((option) => option.label.toLowerCase() === label.toLowerCase())?.value

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

type Comparison<Op> = [words: string, op: Op]

/** The longest operators come first, because `is not` also starts with `is`. */
const comparisonsOf = <Op extends string>(known: { value: Op; label: string }[]) =>
  [
    ...known.map(({ value, label }): Comparison<Op | Condition['op']> => [label, value]),
    ["doesn't contain", 'not_contains'] as Comparison<Condition['op']>,
    ["doesn't exist", 'is_not_set'] as Comparison<Condition['op']>,
    ...Object.entries(symbols),
  ].sort(([a], [b]) => b.length - a.length)

const comparisons = comparisonsOf(operators)
const fieldComparisons = comparisonsOf(fieldOperators)

type Read<Op> = { key: string; op: Op; value?: string }

const readComparison = <Op extends FieldCondition['op']>(
  text: string,
  comparisons: Comparison<Op>[],
): Read<Op> | undefined => {
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

const readCondition = (text: string): Condition | undefined => readComparison(text, comparisons)

const secondsIn: Record<string, number> = { s: 1, m: 60, h: 3_600 }

const readDuration = (text: string): Part | undefined => {
  const [, symbol = '', amount, unit = 's'] =
    /^duration\s*(>=?|<=?|≥|≤)\s*(\d+(?:\.\d+)?)\s*(s|m|h)?(?:ec|in|r|ours?|inutes?|econds?)?$/i.exec(text) ?? []
  if (amount === undefined) return undefined
  const seconds = Math.round(Number(amount) * (secondsIn[unit.toLowerCase()] ?? 1))
  return /[>≥]/.test(symbol) ? { minDurationSeconds: seconds } : { maxDurationSeconds: seconds }
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

/** Parses a number. It can be in seconds if the measure is a time. */
const readValue = (name: string, text = ''): number => {
  const seconds = /Ms\b/.test(name) ? /^(.+?) ?s$/.exec(text)?.[1] : undefined
  return seconds === undefined ? Number(text) : Number(seconds) * 1_000
}

const readMeasure = (kind: MeasureKind, text: string, words: Vocabulary): Part | undefined => {
  const condition = readCondition(text)
  // Other operators compare strings, or don't compare anything.
  if (!condition?.value || condition.op.includes('contains')) return undefined
  const known = measuresOf(kind, words)
  const name = find(known, condition.key) ?? known.find(({ value }) => value === condition.key)?.value
  const value = name === undefined ? Number.NaN : readValue(name, condition.value)
  return Number.isNaN(value) ? undefined : { [measureFields[kind]]: [{ name, op: condition.op, value }] }
}

const readTags = (text: string): Part | undefined => {
  const tags = text.split(',').map((tag) => tag.trim().toLowerCase())
  return tags.every((tag) => tag !== '' && tag.length <= 50) ? { tags: [...new Set(tags)] } : undefined
}

const outputKey = /^[a-z]\w{0,63}$/i

/**
 * Parses categories separated by commas. Each is a label or key. A label that contains a comma can only be the only
 * one.
 */
const readCategoryList = (text: string, options: Option[]): string[] | undefined => {
  const names = find(options, text) === undefined ? text.split(',') : [text]
  const any = names.map((name) => find(options, name.trim()) ?? name.trim().replaceAll(' ', '_'))
  return any.every((key) => outputKey.test(key)) ? [...new Set(any)] : undefined
}

/** Parses `Asks for a refund, billing by Reason for calling`. Labels and names can also contain the word `by`. */
const readCategories = (text: string, words: Vocabulary): Part | undefined => {
  for (let at = text.indexOf(' by '); at > 0; at = text.indexOf(' by ', at + 1)) {
    const monitorId = find(words.monitors, text.slice(at + ' by '.length))
    if (monitorId === undefined) continue
    const any = readCategoryList(text.slice(0, at), categoriesBy(words, monitorId))
    if (any) return { categories: { monitorId, any } }
  }
  return undefined
}

/** Parses the values of `is any of`. A value that contains a comma is in quotation marks. */
const readValues = (text: string): string[] => [
  ...new Set([...text.matchAll(/"([^"]*)"|[^,\s][^,]*/g)].map(([all, quoted]) => quoted ?? all.trim())),
]

/** Numbers, dates, and times of day. */
const orderedValue = /^(-?\d+(\.\d+)?|(\d{4}-)?\d\d-\d\d(T.+)?|\d\d:\d\d)$/
const orderedOperators = ['gt', 'gte', 'lt', 'lte']

const readFieldOf = (text: string, monitorId: string): FieldCondition | undefined => {
  const { key: field = '', op, value } = readComparison(text, fieldComparisons) ?? {}
  if (op === undefined || !outputKey.test(field)) return undefined
  if (op === 'in') return { monitorId, field, op, values: readValues(value ?? '') }
  if (value === undefined) return { monitorId, field, op }
  return orderedOperators.includes(op) && !orderedValue.test(value) ? undefined : { monitorId, field, op, value }
}

/**
 * Parses `amount is at least 100 by Refunds`. Values and names can also contain the word `by`. The name can be omitted
 * if only one monitor has the field.
 */
const readFieldCondition = (text: string, words: Vocabulary): Part | undefined => {
  for (let at = text.indexOf(' by '); at > 0; at = text.indexOf(' by ', at + 1)) {
    const monitorId = find(words.monitors, text.slice(at + ' by '.length))
    const condition = monitorId === undefined ? undefined : readFieldOf(text.slice(0, at), monitorId)
    if (condition) return { fields: [condition] }
  }
  const condition = readFieldOf(text, '')
  const [only, ...more] = words.fields.filter(({ key }) => key === condition?.field)
  return condition && only && more.length === 0 ? { fields: [{ ...condition, monitorId: only.monitorId }] } : undefined
}

/**
 * Parses `refund not received, at least 0.7`, `conversation …`, and `turn 3 of …`. Other texts state the meaning
 * themselves.
 */
const readMeaning = (text: string): Part | undefined => {
  const [, like = '', least] = /^(.+?)(?:,? at least (0?\.\d+|[01]))?$/i.exec(text) ?? []
  const minimum = least === undefined ? {} : { minimumSimilarity: Number(least) }
  const [, turn, conversationId] =
    /^(?:conversation|turn (\d+) of) ([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i.exec(like) ?? []
  if (conversationId !== undefined) {
    return { similarTo: { conversationId, ...(turn !== undefined && { turn: Number(turn) - 1 }), ...minimum } }
  }
  return /[\p{L}\p{N}]/u.test(like) ? { similarTo: { text: like, ...minimum } } : undefined
}

/** Parses the text after a field's name and a colon. */
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
    case 'meaning':
      return readMeaning(text)
    case 'started':
      return readTime(text, words)
    default:
      return undefined
  }
}

/**
 * Returns the conditions in phrases joined by `and`. Returns undefined if one of them is not a condition but, for
 * example, the rest of a value.
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
  const meant = /^(?:means|like) (.+)$/i.exec(text)?.[1]
  if (meant !== undefined) return readMeaning(meant)
  const duration = readDuration(text)
  if (duration) return duration
  if (/^field /i.test(text)) return readFieldCondition(text.slice('field '.length), words)
  for (const kind of ['signal', 'sound'] as const) {
    if (text.toLowerCase().startsWith(`${kind} `)) return readMeasure(kind, text.slice(`${kind} `.length), words)
  }
  const condition = readCondition(text.replace(/^metric /i, ''))
  return condition && (/^metric /i.test(text) ? { metrics: [condition] } : { metadata: [condition] })
}

/** Returns whether a part has only allowed fields. If dates are not allowed, it can't have a period either. */
export const isAllowed = (part: Part | undefined, without: readonly string[]): boolean =>
  part !== undefined && Object.keys(part).every((name) => !without.includes(name === 'period' ? 'since' : name))
