// Compares the results of a test with the stored ones, for each conversation and in total.
import { noResult } from '../../monitor-results/no-result.ts'
import type { listLastJudgments, listNewestResults } from './queries.ts'
import type { TrialResult } from './run-trial.ts'
import type { TrialAnswer } from './schema.ts'

type Stored = Awaited<ReturnType<typeof listNewestResults>>[number]
type Judgment = Awaited<ReturnType<typeof listLastJudgments>>[number]
type Tried = TrialAnswer['data'][number]

type ComparedResult = Pick<TrialResult, 'status' | 'result'>

/** Returns undefined for a failure, which is not a verdict on the conversation. */
const sayingOf = ({ status, result }: ComparedResult) => (status === 'failed' ? undefined : (result ?? 'unscored'))

const hasFlipped = (now: ComparedResult, before: ComparedResult): boolean => {
  const [is, was] = [sayingOf(now), sayingOf(before)]
  return is !== undefined && was !== undefined && is !== was
}

const notAsked = { ...noResult, status: null }

const total = (values: number[]): number => values.reduce((sum, value) => sum + value, 0)

const isJudged = ({ asked, judgment }: Tried): boolean => asked && judgment !== null

const summarize = (data: Tried[], answers: TrialResult[]): TrialAnswer['summary'] => {
  const count = (holds: (one: Tried) => boolean) => data.filter(holds).length
  const tokens = answers.flatMap((answer) => answer.tokens ?? [])
  const costs = answers.flatMap(({ cost }) => cost ?? [])
  return {
    affected: count(({ result }) => result === 'affected'),
    notAffected: count(({ result }) => result === 'not_affected'),
    unscored: count(({ status }) => status === 'unscored'),
    failed: count(({ status }) => status === 'failed'),
    notAsked: count(({ asked }) => !asked),
    flips: {
      toAffected: count(({ flips, result }) => flips && result === 'affected'),
      toNotAffected: count(({ flips, result }) => flips && result === 'not_affected'),
      toUnscored: count(({ flips, status }) => flips && status === 'unscored'),
    },
    people: {
      judged: count(isJudged),
      agreeBefore: count((one) => isJudged(one) && one.stored?.result === one.judgment),
      agreeNow: count((one) => isJudged(one) && one.result === one.judgment),
    },
    tokens:
      tokens.length > 0
        ? { input: total(tokens.map(({ input }) => input)), output: total(tokens.map(({ output }) => output)) }
        : null,
    cost: costs.length > 0 ? total(costs) : null,
  }
}

type ComparedAnswers = { answers: TrialResult[]; stored: Stored[]; judgments: Judgment[] }

const byConversation = <T extends { conversationId: string }>(list: T[]) =>
  new Map(list.map((one) => [one.conversationId, one]))

/** Returns the comparisons in the order of the IDs. A conversation without an answer was skipped. */
export const compare = (conversationIds: string[], known: ComparedAnswers): TrialAnswer => {
  const answers = byConversation(known.answers)
  const results = byConversation(known.stored)
  const judgments = byConversation(known.judgments)
  const data = conversationIds.map((conversationId): Tried => {
    const answer = answers.get(conversationId)
    const stored = results.get(conversationId)
    return {
      conversationId,
      asked: answer !== undefined,
      ...(answer ?? notAsked),
      stored: stored ?? null,
      judgment: judgments.get(conversationId)?.correctResult ?? null,
      flips: answer !== undefined && stored !== undefined && hasFlipped(answer, stored),
    }
  })
  return { data, summary: summarize(data, known.answers) }
}
