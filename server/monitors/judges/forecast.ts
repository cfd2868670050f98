// Estimates what judging costs before it happens.
import { estimateTokenCount } from 'tokenx'
import { estimateSoundTokens } from '../../model-providers/requests/estimate-tokens.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { type JudgeDefinition, listens } from './definition.ts'
import { longestHeardMs } from './heard.ts'
import { buildPrompt, type TranscriptWindow } from './prompt.ts'

/** The requests for one transcript, and the tokens that all of them send. */
export type Forecast = {
  requests: number
  input: number
  /** The part of the input that is sound. */
  audioInput: number
}

/** A longer text is counted from its beginning, because its language and form hardly change. */
const mostCounted = 20_000

/**
 * Counts the tokens of a text about as current tokenizers do. This is more precise than `estimateTokens`, but can be too
 * low, so it is not used for limits.
 */
const countTokens = (text: string): number => {
  if (text.length <= mostCounted) return estimateTokenCount(text)
  return (estimateTokenCount(text.slice(0, mostCounted)) * text.length) / mostCounted
}

const countPrompt = (definition: JudgeDefinition, window: TranscriptWindow): number => {
  const { system, shared = '', user, schema } = buildPrompt([definition], window)
  return countTokens(system) + countTokens(shared) + countTokens(user) + countTokens(JSON.stringify(schema))
}

/** Returns the tokens of a request that sends no transcript. */
export const countEmptyPrompt = (definition: JudgeDefinition): number =>
  countPrompt(definition, { text: '', number: 1, of: 1 })

/** An excerpt of a usual turn, without what is before and after it. */
const usualTurnSeconds = 5
/** The rule of an excerpt quotes at most this many turns. */
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

/** Estimates the requests for a transcript. There are none if it is empty, or too long for the judge. */
export const forecastTranscript = (prepare: Prepare, definition: JudgeDefinition, turns: readonly Turn[]): Forecast => {
  const windows = prepare(definition, turns)
  if (!Array.isArray(windows)) return { requests: 0, input: 0, audioInput: 0 }
  const of = windows.length
  const input = windows.reduce((sum, text, at) => sum + countPrompt(definition, { text, number: at + 1, of }), 0)
  const audioInput = listens(definition) ? estimateSoundTokens(secondsHeard(definition, turns)) : 0
  return { requests: of, input: input + audioInput, audioInput }
}
