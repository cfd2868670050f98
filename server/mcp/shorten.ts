// Answers as a model reads them: what is long is cut where it can be asked for again, and says how much is left.

import type { JsonSchema } from '../platform/http/examples.ts'
import { isObject } from '../platform/is-object.ts'

type Json = Record<string, unknown>
export type Shorten = (answer: Json, args: Json) => Json

/** Of one text within an answer. */
const mostCharacters = 2_000
/** Of a whole answer: some 15,000 tokens. */
const mostInAll = 60_000
/** Of them for what says how to go on. */
const noteCharacters = 400
const defaultTurns = 50
const mostTurns = 200

export const transcriptArguments: Record<string, JsonSchema> = {
  fromTurn: { type: 'integer', minimum: 0, default: 0, description: 'The first turn to read, counted from 0.' },
  turns: { type: 'integer', minimum: 1, maximum: mostTurns, default: defaultTurns, description: 'How many turns.' },
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** JSON in which no text can end a fence around it. */
export const encode = (value: unknown): string => JSON.stringify(value).replaceAll('<', '\\u003c')

const sizeOf = (value: unknown): number => encode(value).length

/** A part of it leads nowhere. Signed ones are longer than other texts may be. */
const isLink = (text: string): boolean => text.length <= 8_000 && /^https?:\/\/\S+$/.test(text)

/** Every text within its bound. One that is cut says so, and never in the middle of a character. */
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

/** Its largest parts as the beginning of their JSON, until it fits. */
const shrink = (object: Json, room: number): Json => {
  const parts = Object.entries(object).filter(([, part]) => typeof part === 'object' && part !== null)
  let shrunk = object
  for (const [name, part] of parts.sort(([, a], [, b]) => sizeOf(b) - sizeOf(a))) {
    if (sizeOf(shrunk) <= room || sizeOf(part) <= mostCharacters) break
    shrunk = { ...shrunk, [name]: cutTexts(JSON.stringify(part)) }
  }
  return shrunk
}

/** As many of the items as fit; at least one, which is made to. */
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

/** Nulls tell a model nothing that leaving out does not. */
const withoutNulls = (object: Json): Json =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))

const shortTurn = ({ words: _words, latency: _latency, ...turn }: Json): Json => withoutNulls(turn)

/** Turns from the one that is asked for: without the times of single words, and the text as it came. */
export const shortTranscript: Shorten = ({ content: _content, recordingUrl: _link, turns, ...transcript }, args) => {
  const all = listOf(turns)
  const from = Number(args.fromTurn ?? 0)
  const wanted = all.slice(from, from + Number(args.turns ?? defaultTurns)).map((turn) => cutTexts(shortTurn(turn)))
  const shown = fitting(listOf(wanted), mostInAll - noteCharacters - sizeOf(cutTexts(transcript)))
  const next = from + shown.length
  const left = Math.max(0, all.length - next)
  return {
    ...transcript,
    // Told once, with the first turns.
    ...(from > 0 && { systemPrompt: undefined }),
    totalTurns: all.length,
    turns: shown,
    ...(left > 0 && { nextTurn: next, note: `${left} more turns. Continue with fromTurn ${next}.` }),
  }
}

const outcomeFields = ['metricId', 'name', 'primary', 'kind', 'verdict', 'arms', 'difference', 'lift', 'corrected']

const pick = (object: Json, names: string[]): Json =>
  Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]))

/** Verdicts first; the course over time and the distributions stay in the console. */
export const shortExperiment: Shorten = ({ outcomes, health, notifications: _people, ...experiment }) => ({
  ...experiment,
  outcomes: listOf(outcomes).map((outcome) => pick(outcome, outcomeFields)),
  health: isObject(health)
    ? pick(health, ['concerns', 'sampleRatio', 'concurrency', 'routing', 'conversations'])
    : health,
})

/**
 * Any answer, within the bound of a whole one. A list that does not fit loses its end together with its cursor, which
 * would skip what was left out.
 */
export const fitAnswer = (answer: Json, { hasPages }: { hasPages: boolean }): Json => {
  // An object stays one.
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
