import type { Turn } from '../../transcripts/turn.ts'
import { readAnswers } from './answer.ts'
import type { JudgedDefinition } from './combine.ts'
import type { Tokens } from './definition.ts'
import { buildPrompt, type JudgePrompt, type TranscriptWindow } from './prompt.ts'
import type { ModelReply } from './provider.ts'

/** Returns undefined if the response is not from a model. */
export type AskModel = (prompt: JudgePrompt) => Promise<ModelReply | undefined>

/** If an answer is invalid, the model is asked once more. After that, the judgment fails. */
const mostRequests = 2

/** Splits the tokens of a request among its monitors, so that their sum is what was paid. */
const addTokens = (judged: readonly JudgedDefinition[], { input, output }: Tokens): void => {
  const share = (total: number, at: number) => Math.floor(total / judged.length) + (at < total % judged.length ? 1 : 0)
  for (const [at, one] of judged.entries()) {
    const { input: before, output: written } = one.tokens ?? { input: 0, output: 0 }
    one.tokens = { input: before + share(input, at), output: written + share(output, at) }
  }
}

/**
 * Adds the result of each monitor for one window. Monitors that already have a valid answer are not part of the second
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
    const reply = await ask(buildPrompt(definitions, window))
    if (reply?.tokens)
      addTokens(
        open.map(({ one }) => one),
        reply.tokens,
      )
    if (reply?.end === 'refused') {
      const reason = 'the model refused to answer'
      for (const { one } of open) one.verdicts.push({ status: 'unscored', reason, reasoning: null, evidence: [] })
      return
    }
    const readings = reply?.end === 'whole' ? readAnswers(reply.text, definitions, turns) : []
    const fault = reply
      ? "the model's response exceeded its token limit"
      : 'the endpoint returned no response from a model'
    open = open.flatMap(({ one }, at) => {
      const reading = readings[at] ?? { fault }
      if ('fault' in reading) return [{ one, fault: reading.fault }]
      one.verdicts.push(reading.verdict)
      return []
    })
  }
  for (const { one, fault } of open) {
    one.verdicts.push({ status: 'failed', reason: `${fault}, twice` })
  }
}
