// Answers as a model reads them: what is long is cut where it can be asked for again, and says how much is left.
import type { JsonSchema } from '../platform/http/examples.ts'

type Json = Record<string, unknown>
export type Shorten = (answer: Json, args: Json) => Json

/** Of one text within an answer. */
const mostCharacters = 2_000
/** Of a whole answer: some 15,000 tokens. */
const mostInAll = 60_000
const defaultTurns = 50
const mostTurns = 200

export const transcriptArguments: Record<string, JsonSchema> = {
  fromTurn: { type: 'integer', minimum: 0, default: 0, description: 'The first turn to read, counted from 0.' },
  turns: { type: 'integer', minimum: 1, maximum: mostTurns, default: defaultTurns, description: 'How many turns.' },
}

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : [])

const sizeOf = (value: unknown): number => JSON.stringify(value).length

/** Every text within its bound. One that is cut says so, and never in the middle of a character. */
const cutTexts = (value: unknown): unknown => {
  if (typeof value === 'string') {
    if (value.length <= mostCharacters) return value
    const kept = value.slice(0, mostCharacters).replace(/[\ud800-\udbff]$/, '')
    return `${kept}… (${value.length - kept.length} more characters)`
  }
  if (Array.isArray(value)) return value.map(cutTexts)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cutTexts(part)]))
}

/** As many of the items as fit; at least one. */
const fitting = (items: unknown[], room: number): unknown[] => {
  let used = 0
  const end = items.findIndex((item) => {
    used += sizeOf(item) + 1
    return used > room
  })
  return end === -1 ? items : items.slice(0, Math.max(1, end))
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
  const shown = fitting(wanted, mostInAll - sizeOf(cutTexts(transcript)))
  const next = from + shown.length
  const left = Math.max(0, all.length - next)
  return {
    ...transcript,
    // Told once, with the first turns.
    ...(from > 0 && { systemPrompt: undefined }),
    totalTurns: all.length,
    turns: shown,
    ...(left > 0 && { nextTurn: next, note: `${left} more turns; read on with fromTurn ${next}.` }),
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
export const fitAnswer = (answer: unknown): string => {
  const cut = cutTexts(answer)
  if (isObject(cut) && Array.isArray(cut.data)) {
    const shown = fitting(cut.data, mostInAll)
    if (shown.length < cut.data.length) {
      const note = `${cut.data.length - shown.length} more items of this page do not fit; ask again with limit ${shown.length}, and read on with its cursor.`
      return JSON.stringify({ data: shown, note })
    }
    if (cut.nextCursor) return JSON.stringify({ ...cut, note: 'There are more; send nextCursor as cursor.' })
  }
  const text = JSON.stringify(cut)
  if (text.length <= mostInAll) return text
  return `${text.slice(0, mostInAll)}… (${text.length - mostInAll} more characters)`
}
