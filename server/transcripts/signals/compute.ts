import type { Turn } from '../turn.ts'
import { interruptionsIn } from './interruptions.ts'
import { percentile, responseLatencies } from './latency.ts'
import type { Signals } from './signals.ts'
import { commonMs, sideOf, silencesMs, totalMs, type Utterance, union, utterancesOf } from './speech.ts'

type Side = 'agent' | 'customer'

const perSide = <T>(measure: (side: Side) => T): { agent: T; customer: T } => ({
  agent: measure('agent'),
  customer: measure('customer'),
})

const round = (value: number, digits: number): number => Number(value.toFixed(digits))

/**
 * Matches a word, starting at its first letter or digit. A word is text between spaces that contains a letter or digit.
 */
const wordPattern = /[\p{L}\p{N}]\S*/gu

/** Returns null if the text of any of the side's messages is unknown. */
const countWords = (turns: Turn[], side: Side): number | null => {
  let count = 0
  for (const turn of turns) {
    if (sideOf(turn) !== side) continue
    if (turn.text === null) return null
    count += turn.text.match(wordPattern)?.length ?? 0
  }
  return count
}

/** Returns the start of the agent's first message, or null if any start is unknown. */
const firstWordMs = (turns: Turn[]): number | null => {
  let first: number | null = null
  for (const turn of turns) {
    if (sideOf(turn) !== 'agent') continue
    if (turn.startMs === null) return null
    first = Math.min(first ?? turn.startMs, turn.startMs)
  }
  return first
}

/** Returns null if tools returned results but none of them says whether it is an error. */
const countToolFailures = (turns: Turn[]): number | null => {
  const results = turns.filter(({ kind }) => kind === 'tool_result')
  const saying = results.filter(({ tool }) => typeof tool?.isError === 'boolean')
  if (results.length > 0 && saying.length === 0) return null
  return saying.filter(({ tool }) => tool?.isError).length
}

type TimedSignals = Pick<Signals, 'talkRatio' | 'wordsPerMinute' | 'responseLatencyMs' | 'overlapMs'>

const unknown: TimedSignals = {
  talkRatio: null,
  wordsPerMinute: { agent: null, customer: null },
  responseLatencyMs: { p50: null, p95: null, max: null },
  overlapMs: null,
}

/** The values from which a conversation's silence is computed, except its stated duration. */
type Sound = { spokenMs: number; lastEndMs: number; longestSilenceMs: number }

/** The signals that depend only on the turns. */
export type MeasuredSignals = Omit<Signals, 'longestSilenceMs' | 'deadAirShare'> & { sound: Sound | null }

/**
 * Computes signals with times. A side's talk time is the time during which at least one of its utterances is spoken.
 * Overlapping utterances by one side count once. When both sides speak at the same time, it counts for both.
 */
const timedSignals = (utterances: Utterance[], words: Signals['words']): TimedSignals => {
  const speech = perSide((side) => union(utterances.filter(({ by }) => by === side)))
  const talkMs = perSide((side) => totalMs(speech[side]))
  const bothMs = talkMs.agent + talkMs.customer
  const pace = (side: Side) => {
    const count = words[side]
    return count === null || talkMs[side] === 0 ? null : round((count * 60_000) / talkMs[side], 1)
  }
  const latencies = responseLatencies(utterances).sort((a, b) => a - b)
  return {
    talkRatio: bothMs === 0 ? null : round(talkMs.agent / bothMs, 4),
    wordsPerMinute: perSide(pace),
    responseLatencyMs: {
      p50: percentile(latencies, 0.5),
      p95: percentile(latencies, 0.95),
      max: latencies.at(-1) ?? null,
    },
    overlapMs: commonMs(speech.agent, speech.customer),
  }
}

const soundOf = (utterances: Utterance[]): Sound => {
  const spoken = union(utterances)
  const lastEndMs = spoken.at(-1)?.endMs ?? 0
  const longestSilenceMs = silencesMs(spoken, lastEndMs).reduce((longest, ms) => Math.max(longest, ms), 0)
  return { spokenMs: totalMs(spoken), lastEndMs, longestSilenceMs }
}

/**
 * Measures turns. A human agent belongs to neither side: their speech is not silence, but is otherwise not measured.
 */
export const measure = (turns: Turn[]): MeasuredSignals => {
  const words = perSide((side) => countWords(turns, side))
  const utterances = utterancesOf(turns)
  return {
    turns: perSide((side) => turns.filter((turn) => sideOf(turn) === side).length),
    words,
    firstWordMs: firstWordMs(turns),
    interruptions: interruptionsIn(turns),
    toolCalls: turns.filter(({ kind }) => kind === 'tool_call').length,
    toolFailures: countToolFailures(turns),
    ...(utterances ? timedSignals(utterances, words) : unknown),
    sound: utterances && soundOf(utterances),
  }
}

/** Returns the signals. The conversation ends at its stated end or after its last utterance, whichever is later. */
export const signalsOf = ({ sound, ...signals }: MeasuredSignals, durationMs?: number | null): Signals => {
  if (!sound) return { ...signals, longestSilenceMs: null, deadAirShare: null }
  const { spokenMs, lastEndMs, longestSilenceMs } = sound
  const endMs = Math.max(durationMs ?? 0, lastEndMs)
  return {
    ...signals,
    longestSilenceMs: Math.max(longestSilenceMs, endMs - lastEndMs),
    deadAirShare: endMs === 0 ? null : round((endMs - spokenMs) / endMs, 4),
  }
}
