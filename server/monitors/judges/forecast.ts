// Estimates what judging costs before it happens.
import { estimateTokenCount } from 'tokenx'
import type { Turn } from '../../transcripts/turn.ts'
import type { JudgeDefinition } from './definition.ts'
import { buildPrompt, type TranscriptWindow } from './prompt.ts'

/** The requests for one transcript, and the tokens that all of them send. */
export type Forecast = { requests: number; input: number }

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

type Prepare = (definition: JudgeDefinition, turns: readonly Turn[]) => string[] | object

/** Estimates the requests for a transcript. There are none if it is empty, or too long for the judge. */
export const forecastTranscript = (prepare: Prepare, definition: JudgeDefinition, turns: readonly Turn[]): Forecast => {
  const windows = prepare(definition, turns)
  if (!Array.isArray(windows)) return { requests: 0, input: 0 }
  const of = windows.length
  const input = windows.reduce((sum, text, at) => sum + countPrompt(definition, { text, number: at + 1, of }), 0)
  return { requests: of, input }
}
