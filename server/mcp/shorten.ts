// Shortens responses for models. Long values are shortened if they can be requested separately, and the response states
// how much is missing.

import type { JsonSchema } from '../platform/http/examples.ts'
import { isObject } from '../platform/is-object.ts'

type Json = Record<string, unknown>
export type Shorten = (answer: Json, args: Json) => Json

/** The maximum number of characters in a string. */
const mostCharacters = 2_000
/** The maximum number of characters in a response, which is about 15,000 tokens. */
const mostInAll = 60_000
/** The number of characters reserved in a response for the note on how to continue. */
const noteCharacters = 400
const defaultTurns = 50
const mostTurns = 200

export const transcriptArguments: Record<string, JsonSchema> = {
  fromTurn: { type: 'integer', minimum: 0, default: 0, description: 'The first turn to read, counted from 0.' },
  turns: { type: 'integer', minimum: 1, maximum: mostTurns, default: defaultTurns, description: 'How many turns.' },
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Returns JSON in which no string can close the surrounding fence. */
export const encode = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

const sizeOf = (value: unknown): number => encode(value).length

/**
 * Returns whether a string is a link, because a shortened link would not work. Signed links can be longer than other
 * strings.
 */
const isLink = (text: string): boolean => text.length <= 8_000 && /^https?:\/\/\S+$/.test(text)

/** Shortens long strings. A shortened string ends with a note, and is never cut within a character. */
const cutTexts = (value: unknown): unknown => {
  if (typeof value === 'string') {
    if (value.length <= mostCharacters || isLink(value)) return value
    const kept = value.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '')
    return `${kept}… (${value.length - kept.length} more characters)`
  }
  if (Array.isArray(value)) return value.map(cutTexts)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cutTexts(part)]))
}

/** Replaces the largest values with the beginning of their JSON until the response fits. */
const shrink = (object: Json, room: number): Json => {
  const parts = Object.entries(object).filter(([, part]) => typeof part === 'object' && part !== null)
  let shrunk = object
  for (const [name, part] of parts.sort(([, a], [, b]) => sizeOf(b) - sizeOf(a))) {
    if (sizeOf(shrunk) <= room || sizeOf(part) <= mostCharacters) break
    shrunk = { ...shrunk, [name]: cutTexts(JSON.stringify(part)) }
  }
  return shrunk
}

/** Keeps as many items as fit. Keeps at least the first one, which may be shortened. */
const fitting = ([first, ...others]: Json[], room: number): Json[] => {
  if (!first) return []
  const shown = [shrink(first, room)]
  let left = room - sizeOf(shown)
  for (const item of others) {
    left -= sizeOf(item) + 1
    if (left < 0) break
    shown.push(item)
  }
  return shown
}

/** Removes nulls, which are of no use to a model. */
const withoutNulls = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))

const shortTurn = ({ words: _words, latency: _latency, ...turn }: Json): Json => withoutNulls(turn)

/** Returns turns starting with the requested one. Omits word times and the original text. */
export const shortTranscript: Shorten = ({ content: _content, recordingUrl: _link, turns, ...transcript }, args) => {
  const all = listOf(turns)
  const from = Number(args.fromTurn ?? 0)
  const wanted = all.slice(from, from + Number(args.turns ?? defaultTurns)).map((turn) => cutTexts(shortTurn(turn)))
  const shown = fitting(listOf(wanted), mostInAll - noteCharacters - sizeOf(cutTexts(transcript)))
  const next = from + shown.length
  const left = Math.max(0, all.length - next)
  return {
    ...transcript,
    // The prompt is only included with the first turns.
    ...(from > 0 && { systemPrompt: undefined }),
    totalTurns: all.length,
    turns: shown,
    ...(left > 0 && { nextTurn: next, note: `${left} more turns. Continue with fromTurn ${next}.` }),
  }
}

/** The maximum number of marks of each kind in the sound of a conversation. */
const mostPlaces = 50

/** Returns a sound with its measures. The times at which each side speaks are only available in the console. */
export const shortSound: Shorten = ({ segments: _segments, ...sound }) => {
  const places = ['gaps', 'talkOver', 'marks'].map((name): [string, Json[]] => [name, listOf(sound[name])])
  const left = places.flatMap(([name, all]) => (all.length > mostPlaces ? [`${all.length - mostPlaces} ${name}`] : []))
  return {
    ...sound,
    ...Object.fromEntries(places.map(([name, all]) => [name, all.slice(0, mostPlaces)])),
    ...(left.length > 0 && { note: `Without ${left.join(', ')}, which are later.` }),
  }
}

/** The maximum number of topics in a list. */
const mostTopics = 100

/** Returns the first topics of a list, without figures by day. */
export const shortTopics: Shorten = ({ days: _days, conversationsByDay: _byDay, data, ...list }) => {
  const topics = listOf(data)
  const left = topics.length - mostTopics
  return {
    ...list,
    data: topics.slice(0, mostTopics).map(({ trend: _trend, ...topic }) => withoutNulls(topic)),
    ...(left > 0 && { note: `Without ${left} more topics.` }),
  }
}

const outcomeFields = [
  'metricId',
  'name',
  'measure',
  'primary',
  'kind',
  'verdict',
  'arms',
  'difference',
  'lift',
  'corrected',
]

const pick = (object: Json, names: string[]): Json =>
  Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]))

/**
 * Returns an experiment with its verdicts first. The timeline and the distributions are only available in the console.
 */
export const shortExperiment: Shorten = ({ outcomes, health, notifications: _people, ...experiment }) => ({
  ...experiment,
  outcomes: listOf(outcomes).map((outcome) => pick(outcome, outcomeFields)),
  health: isObject(health)
    ? pick(health, ['concerns', 'sampleRatio', 'concurrency', 'routing', 'conversations'])
    : health,
})

/**
 * Limits the size of a response. A list that does not fit loses its last items. It also loses its cursor, which would
 * skip those items.
 */
export const fitAnswer = (answer: Json, { hasPages }: { hasPages: boolean }): Json => {
  // `cutTexts` returns an object for an object.
  const cut = cutTexts(answer) as Json
  if (!Array.isArray(cut.data)) return shrink(cut, mostInAll)
  const { data, nextCursor, ...others } = cut
  const all = listOf(data)
  const shown = fitting(all, mostInAll - noteCharacters - sizeOf(others))
  const left = all.length - shown.length
  if (left > 0) {
    const how = hasPages ? `Repeat the call with limit ${shown.length}, then use its cursor` : 'Choose a shorter period'
    return { ...others, data: shown, note: `${left} more items do not fit. ${how}.` }
  }
  const whole = { ...cut, data: shown }
  return nextCursor ? { ...whole, note: 'There are more items. Pass nextCursor as cursor.' } : whole
}
