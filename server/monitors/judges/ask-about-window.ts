import type { ModelPrompt, ModelReply } from '../../model-providers/requests/dialect.ts'
import type { Turn } from '../../transcripts/turn.ts'
import { type Reading, readAnswers } from './answer.ts'
import type { JudgedDefinition } from './combine.ts'
import type { JudgeDefinition, Tokens } from './definition.ts'
import { buildPrompt, type TranscriptWindow } from './prompt.ts'

/** Returns the reply and its cost. There is no reply if the response is not from a model. */
export type AskModel = (prompt: ModelPrompt) => Promise<{ reply: ModelReply | undefined; cost: number | null }>

/** If an answer is invalid, the model is asked once more. After that, the judgment fails. */
const mostRequests = 2

/**
 * Divides a request's tokens and cost among its monitors, so that the shares add up to the total. If one cost is
 * unknown, so is the total.
 */
export const addPaid = (judged: readonly JudgedDefinition[], { input, output }: Tokens, cost: number | null): void => {
  const share = (total: number, at: number) => Math.floor(total / judged.length) + (at < total % judged.length ? 1 : 0)
  for (const [at, one] of judged.entries()) {
    const before = one.tokens === null ? 0 : one.cost
    const { input: read, output: written } = one.tokens ?? { input: 0, output: 0 }
    one.cost = before === null || cost === null ? null : before + cost / judged.length
    one.tokens = { input: read + share(input, at), output: written + share(output, at) }
  }
}

/** Reads each monitor's answer, or the reason why there is none. */
export const readReply = (
  reply: ModelReply | undefined,
  definitions: readonly JudgeDefinition[],
  turns: readonly Turn[],
): Reading[] => {
  if (reply?.end === 'whole') return readAnswers(reply.text, definitions, turns)
  return definitions.map((): Reading => {
    if (reply?.end === 'refused') {
      const reason = 'the model refused to answer'
      return { verdict: { status: 'unscored', reason, reasoning: null, evidence: [] } }
    }
    if (reply) return { fault: "the model's response exceeded its token limit" }
    return { fault: 'the endpoint returned no response from a model' }
  })
}

/**
 * Adds each monitor's result for one window. Monitors that already have a valid answer are not part of the second
 * request.
 */
export const askAboutWindow = async (
  ask: AskModel,
  judged: readonly JudgedDefinition[],
  window: TranscriptWindow,
  turns: readonly Turn[],
): Promise<void> => {
  let open = judged.map((one) => ({ one, fault: '' }))
  for (let request = 1; request <= mostRequests && open.length > 0; request++) {
    const definitions = open.map(({ one }) => one.definition)
    const { reply, cost } = await ask(buildPrompt(definitions, window))
    if (reply?.tokens) {
      const paying = open.map(({ one }) => one)
      addPaid(paying, reply.tokens, cost)
    }
    const readings = readReply(reply, definitions, turns)
    open = open.flatMap(({ one }, at) => {
      const reading = readings[at] ?? { fault: '' }
      if ('fault' in reading) return [{ one, fault: reading.fault }]
      one.verdicts.push(reading.verdict)
      return []
    })
  }
  for (const { one, fault } of open) {
    one.verdicts.push({ status: 'failed', reason: `${fault}, twice` })
  }
}
