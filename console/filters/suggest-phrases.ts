// Suggests continuations of a phrase. Loads when somebody types.

import { localIn } from '../lib/zones.ts'
import { fieldOperators, takesValue } from './operators.ts'
import { isAllowed, parsePhrase } from './parse-phrase.ts'
import { isDates, timeOptions } from './periods.ts'
import {
  choices,
  type FieldCondition,
  lists,
  type Part,
  results,
  reviews,
  sayPart,
  typedValue,
  type Vocabulary,
} from './say-phrase.ts'

type Field = Vocabulary['fields'][number]

/** The usual comparisons for each type of value. The types of rules' fields are unknown. */
const usual: Record<string, string[]> = {
  number: ['is at least', 'is at most', 'is'],
  date: ['is at least', 'is less than', 'is'],
  string: ['contains', 'is'],
  list: ['contains'],
  enum: ['is any of'],
  boolean: [],
}

const anyType = ['is', 'contains', 'is at least', 'is at most']

/** Returns the beginnings of phrases about fields named by the typed words. A value completes each of them. */
const fieldBeginnings = (typed: string[], words: Vocabulary): string[] => {
  const isNamed = (key: string) => typed.some((word) => word.length > 1 && key.toLowerCase().startsWith(word))
  return words.fields
    .filter(({ key }) => typed[0] === 'field' || isNamed(key))
    .flatMap(({ key, type = '' }) => (usual[type] ?? anyType).map((operator) => `field ${key} ${operator} `))
}

/** Returns the phrases about a field that don't need a typed value. */
const fieldPhrases = ({ monitorId, key, type, options = [] }: Field, words: Vocabulary): string[] => {
  const say = (condition: Omit<FieldCondition, 'monitorId' | 'field'>) =>
    sayPart({ fields: [{ monitorId, field: key, ...condition }] }, words)
  return [
    ...(type === 'enum' ? options.map((value) => say({ op: 'eq', value })) : []),
    ...(type === 'boolean' ? [say({ op: 'is_true' }), say({ op: 'is_false' })] : []),
    say({ op: 'is_set' }),
    say({ op: 'is_not_set' }),
    // Only judges quote the values.
    ...(type === undefined ? [] : [say({ op: 'is_unsupported' })]),
  ]
}

const dayMs = 86_400_000

/** Returns today, and days before and after today. */
const nearbyDays = (timezone: string): string[] =>
  [0, -7, 7, -30].map((days) => localIn(new Date(Date.now() + days * dayMs).toISOString(), timezone).slice(0, 10))

/** Returns values that can continue the typed phrase about a field. */
const suggestedValues = ({ type, options = [] }: Field, { timezone }: Vocabulary): string[] =>
  type === 'date' ? nearbyDays(timezone) : options

/** Returns the typed phrase about a field, completed by each monitor that has the field. */
const completedFields = (text: string, words: Vocabulary): string[] => {
  const isComplete = words.monitors.some(({ label }) => text.toLowerCase().endsWith(` by ${label.toLowerCase()}`))
  if (isComplete) return []
  const key = /^field (\w+) ./i.exec(text)?.[1]
  const needsValue = fieldOperators.some(
    ({ value, label }) => takesValue(value) && text.toLowerCase().endsWith(` ${label}`),
  )
  return words.fields
    .filter((field) => field.key === key)
    .flatMap((field) => {
      const name = words.monitors.find(({ value }) => value === field.monitorId)?.label ?? ''
      const phrases = needsValue ? suggestedValues(field, words).map((value) => `${text} ${value}`) : [text]
      return phrases.map((phrase) => `${phrase} by ${name}`)
    })
}

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
  ...words.fields.flatMap((field) => fieldPhrases(field, words)),
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
  'meaning: ': 'similarTo',
  'not affected: ': 'monitors',
  'unscored: ': 'monitors',
  'category: ': 'categories',
  'direction: ': 'directions',
  'status: ': 'statuses',
  'review: ': 'reviewStatus',
  'group: ': 'agentGroupIds',
  'topic: ': 'topicIds',
  'bucket: ': 'bucketId',
  'metric ': 'metrics',
  'signal ': 'signals',
  'sound ': 'sound',
  'field ': 'fields',
}

/** Returns whether a text has several words that don't begin a phrase of another kind. */
const isSentence = (text: string): boolean =>
  /\s/.test(text) && !/[:<>=≥≤]/.test(text) && !/^(metric|signal|sound|field|duration|mentions)\s/i.test(text)

export type Suggestion = { text: string; count?: number | undefined; part?: Part | undefined }

type Counted = { text: string; count: number }

/** Tags, metadata keys, and the values for the typed key, with their numbers of occurrences. */
export type Known = { tags: Counted[]; keys: Counted[]; values: Counted[] }

const mostSuggestions = 12

/** Suggests phrases that contain every typed word. The typed phrase itself comes first. */
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
  const begunFields = without.includes('fields') ? [] : fieldBeginnings(wanted, words).filter(fits)
  const ofFields = completedFields(text, words).filter(allows).map(complete)
  const all: Suggestion[] = [
    ...(isAllowed(whole, without) ? [complete(sayPart(whole as Part, words))] : []),
    ...values,
    ...ofFields,
    ...begunFields.map((start) => ({ text: start })),
    ...(text === '' ? begun.map((start) => ({ text: start })) : []),
    ...(text === ''
      ? []
      : knownPhrases(words)
          .filter((phrase) => fits(phrase) && allows(phrase))
          .map(complete)),
    ...tags,
    ...(without.includes('metadata') ? [] : keys),
    ...(text === '' ? [] : begun.map((start) => ({ text: start }))),
    ...(text === '' || whole || ofFields.length > 0
      ? []
      : [`mentions ${text}`, ...(isSentence(text) ? [`meaning: ${text}`] : [])].filter(allows).map(complete)),
  ]
  const byText = new Map(all.map((suggestion) => [suggestion.text, suggestion]))
  return [...byText.values()].slice(0, mostSuggestions)
}
