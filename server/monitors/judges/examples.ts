// Selects the examples in a request, and formats them. They contain other people's words, so they are part of the
// user's message, and each is one line of JSON, like a turn of a transcript.

import { estimateTokens } from '../../model-providers/requests/estimate-tokens.ts'
import { nameInRequest } from './answer.ts'
import type { Example, JudgeDefinition } from './definition.ts'
import { similarityOf, wordsOf } from './similarity.ts'
import { asLine } from './transcript.ts'

/**
 * The number of examples in a request that are similar to the conversation, in addition to the examples in every
 * request.
 */
const mostSimilar = 2

type Named = { example: Example; monitor: string | undefined }

const lineOf = ({ example: { correctResult, note, excerpt }, monitor }: Named): string =>
  asLine({ ...(monitor !== undefined && { monitor }), decided: correctResult, ...(note && { why: note }), excerpt })

const blockOf = (examples: Named[]): string | undefined =>
  examples.length === 0 ? undefined : `<examples>\n${examples.map(lineOf).join('\n')}\n</examples>`

const namedOf = (definitions: readonly JudgeDefinition[], choose: (examples: Example[]) => Example[]): Named[] =>
  definitions.flatMap(({ examples = [] }, at) =>
    choose(examples).map((example) => ({
      example,
      monitor: definitions.length > 1 ? nameInRequest(at) : undefined,
    })),
  )

/** Returns the examples at the start of every request for these monitors, so that providers can cache them. */
export const fixedExamples = (definitions: readonly JudgeDefinition[]): string | undefined =>
  blockOf(namedOf(definitions, (examples) => examples.filter(({ isDisputed }) => isDisputed)))

/** Returns the examples that are most similar to a transcript. */
export const similarExamples = (definitions: readonly JudgeDefinition[], transcript: string): string | undefined => {
  if (definitions.every(({ examples = [] }) => examples.every(({ isDisputed }) => isDisputed))) return undefined
  const words = wordsOf(transcript)
  const nearest = (examples: Example[]) =>
    examples
      .filter(({ isDisputed }) => !isDisputed)
      .map((example) => ({ example, similarity: similarityOf(words, wordsOf(example.excerpt)) }))
      .sort((a, b) => b.similarity - a.similarity)
      .slice(0, mostSimilar)
      .map(({ example }) => example)
  return blockOf(namedOf(definitions, nearest))
}

const longest = (examples: Example[]): Example[] =>
  examples.filter(({ isDisputed }) => !isDisputed).sort((a, b) => b.excerpt.length - a.excerpt.length)

/** Returns the maximum number of tokens for the examples in one request. */
export const mostExampleTokens = (definitions: readonly JudgeDefinition[]): number =>
  estimateTokens(fixedExamples(definitions) ?? '') +
  estimateTokens(blockOf(namedOf(definitions, (examples) => longest(examples).slice(0, mostSimilar))) ?? '')
