// Judges conversations with one request each, which is sent and answered in a batch.
import type { ModelBatches, ModelLink } from '../../model-providers/models.ts'
import type { ModelPrompt, ModelReply, ModelTokens } from '../../model-providers/requests/dialect.ts'
import { estimateTokens } from '../../model-providers/requests/estimate-tokens.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { addPaid, readReply } from './ask-about-window.ts'
import { combine, type JudgedDefinition } from './combine.ts'
import type { JudgeDefinition, JudgeResult } from './definition.ts'
import { buildPrompt } from './prompt.ts'

type BatchReading = Pick<JudgeResult, 'tokens' | 'cost'> & {
  /** Undefined if the answer is missing or invalid, so that the model should be asked once more. */
  result: JudgeResult | undefined
}

export type BatchJudge = {
  batches: ModelBatches
  /** The provider and model, and a note that the request was sent in a batch. */
  evaluator: string
  /**
   * Returns the request for a transcript, or undefined if there is nothing to ask, or if more than one request is
   * needed.
   */
  promptFor: (turns: readonly Turn[]) => ModelPrompt | undefined
  /** Returns the usual maximum cost of a request in US dollars. Zero if the price is unknown. */
  expectedCost: (prompt: ModelPrompt) => number
  /** Checks an answer in the same way as for other requests. */
  read: (turns: readonly Turn[], reply: ModelReply | undefined) => BatchReading
}

/** Answers are shorter, unless the model thinks before it answers. */
const longAnswerTokens = 800

type Prepare = (turns: readonly Turn[]) => string[] | object

export const openBatchJudge = (
  { evaluator: model, costOf }: Pick<ModelLink, 'evaluator' | 'costOf'>,
  batches: ModelBatches,
  definition: JudgeDefinition,
  prepare: Prepare,
): BatchJudge => {
  const evaluator = `${model} (batch)`

  const batchCostOf = (tokens: ModelTokens | null): number | null => {
    const cost = costOf(tokens)
    return cost === null ? null : cost * (1 - batches.discount)
  }

  const promptFor: BatchJudge['promptFor'] = (turns) => {
    const windows = prepare(turns)
    const [text, ...others] = Array.isArray(windows) ? windows : []
    return text === undefined || others.length > 0 ? undefined : buildPrompt([definition], { text, number: 1, of: 1 })
  }

  const expectedCost: BatchJudge['expectedCost'] = ({ system, shared = '', user, schema }) => {
    const texts = [system, shared, user, JSON.stringify(schema)]
    const input = texts.reduce((sum, text) => sum + estimateTokens(text), 0)
    return batchCostOf({ input, output: longAnswerTokens, cachedInput: 0, cacheWrite: 0 }) ?? 0
  }

  const read: BatchJudge['read'] = (turns, reply) => {
    const judged: JudgedDefinition = { definition, verdicts: [], tokens: null, cost: null }
    if (reply?.tokens) addPaid([judged], reply.tokens, batchCostOf(reply.tokens))
    const { tokens, cost } = judged
    const [reading] = readReply(reply, [definition], turns)
    if (!reading || 'fault' in reading) return { tokens, cost, result: undefined }
    judged.verdicts.push(reading.verdict)
    const result = { ...combine(judged), evaluator, responseMs: null, tokens, cost }
    return { tokens, cost, result }
  }

  return { batches, evaluator, promptFor, expectedCost, read }
}
