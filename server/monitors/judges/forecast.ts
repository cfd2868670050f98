// Estimates the cost of judging in advance.
import { estimateTokenCount } from 'tokenx'
import { estimateSoundTokens } from '../../model-providers/requests/estimate-tokens.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { type JudgeDefinition, listens } from './definition.ts'
import { longestHeardMs } from './heard.ts'
import { buildPrompt, type TranscriptWindow } from './prompt.ts'

/** The number of requests for one transcript, and the total tokens that they send. */
export type Forecast = {
  requests: number
  input: number
  /** The input tokens that are sound. */
  audioInput: number
}

/** A longer text is estimated from its beginning, because its language and style hardly change. */
const mostCounted = 20_000

/**
 * Estimates the number of tokens in text as current tokenizers would count them. This is more accurate than
 * `estimateTokens`, but can be too low, so it is not used for limits.
 */
const countTokens = (text: string): number => {
  if (text.length <= mostCounted) return estimateTokenCount(text)
  return (estimateTokenCount(text.slice(0, mostCounted)) * text.length) / mostCounted
}

const countPrompt = (definition: JudgeDefinition, window: TranscriptWindow): number => {
  const { system, shared = '', user, schema } = buildPrompt([definition], window)
  return countTokens(system) + countTokens(shared) + countTokens(user) + countTokens(JSON.stringify(schema))
}

/** Returns the number of tokens in a request without a transcript. */
export const countEmptyPrompt = (definition: JudgeDefinition): number =>
  countPrompt(definition, { text: '', number: 1, of: 1 })

/** The length of an excerpt of a usual turn, without the sound before and after it. */
const usualTurnSeconds = 5
/** An excerpt rule quotes at most this many turns. */
const usualExcerpts = 2

/** Estimates how much of a recording a judge hears. */
const secondsHeard = ({ soundExcerpt }: JudgeDefinition, turns: readonly Turn[]): number => {
  const callSeconds = Math.max(0, ...turns.map(({ endMs, startMs }) => endMs ?? startMs ?? 0)) / 1_000
  const most = Math.min(callSeconds, longestHeardMs / 1_000)
  if (!soundExcerpt) return most
  const { beforeMs, afterMs } = soundExcerpt
  return Math.min(most, usualExcerpts * (usualTurnSeconds + (beforeMs + afterMs) / 1_000))
}

type Prepare = (definition: JudgeDefinition, turns: readonly Turn[]) => string[] | object

/** Estimates the requests for a transcript. There are none if it is empty or too long for the judge. */
export const forecastTranscript = (prepare: Prepare, definition: JudgeDefinition, turns: readonly Turn[]): Forecast => {
  const windows = prepare(definition, turns)
  if (!Array.isArray(windows)) return { requests: 0, input: 0, audioInput: 0 }
  const of = windows.length
  const input = windows.reduce((sum, text, at) => sum + countPrompt(definition, { text, number: at + 1, of }), 0)
  const audioInput = listens(definition) ? estimateSoundTokens(secondsHeard(definition, turns)) : 0
  return { requests: of, input: input + audioInput, audioInput }
}
