// Suggests how a phrase continues. Loads when somebody types.

import { isAllowed, parsePhrase } from './parse-phrase.ts'
import { isDates, timeOptions } from './periods.ts'
import { choices, lists, type Part, results, reviews, sayPart, typedValue, type Vocabulary } from './say-phrase.ts'

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
