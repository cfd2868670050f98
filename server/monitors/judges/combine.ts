import { type JudgeVerdict, longestReasoning } from './answer.ts'
import { type JudgeDefinition, type JudgeResult, mostAffected, type Tokens } from './definition.ts'
import { storable } from './text.ts'

type Failed = { status: 'failed'; reason: string; retryAfterSeconds?: number }

/** A monitor during a judgment: a result for each window so far, and the cost. */
export type JudgedDefinition = {
  definition: JudgeDefinition
  verdicts: (JudgeVerdict | Failed)[]
  tokens: Tokens | null
}

type Scored = Extract<JudgeVerdict, { status: 'scored' }>

const isScored = (verdict: JudgeVerdict | Failed): verdict is Scored => verdict.status === 'scored'
const isFailed = (verdict: JudgeVerdict | Failed): verdict is Failed => verdict.status === 'failed'

/** Returns whether the result is final, so that no other window has to be paid for. */
export const isSettled = ({ definition, verdicts }: JudgedDefinition): boolean =>
  verdicts.some(isFailed) || (definition.output.type === 'boolean' && isAnyAffected(verdicts))

const isAnyAffected = (verdicts: (JudgeVerdict | Failed)[]): boolean =>
  verdicts.some((verdict) => isScored(verdict) && verdict.result === 'affected')

type CombinedVerdict = Pick<
  JudgeResult,
  'status' | 'result' | 'score' | 'reasoning' | 'evidence' | 'reason' | 'retryAfterSeconds'
>

const withoutScore = { result: null, score: null } as const

const joinReasonings = (scored: Scored[]): string => {
  const [only, ...others] = scored
  if (only && others.length === 0) return only.reasoning
  // Each window gets an equal share, so that the last one is included.
  const share = Math.floor(longestReasoning / scored.length) - 12
  return scored.map(({ reasoning }, at) => `Part ${at + 1}: ${storable(reasoning, share)}`).join('\n')
}

/**
 * Combines the results of all windows. One affected window is sufficient for affected, but not affected requires all of
 * them. If there are several scores, the one closest to affected counts.
 */
export const combine = ({ definition: { output }, verdicts }: JudgedDefinition): CombinedVerdict => {
  const scored = verdicts.filter(isScored)
  const scores = scored.flatMap(({ score }) => (score === null ? [] : [score]))
  const extreme = output.type === 'score' && scores.length > 0 ? mostAffected(output.affectedWhen, scores) : null
  const affected = scored.find(({ result, score }) => result === 'affected' && score === extreme)
  const failed = verdicts.find(isFailed)
  // The most extreme score is only known if every window has a score.
  if (affected && (output.type === 'boolean' || !failed)) return affected
  if (failed) return { ...failed, ...withoutScore, reasoning: null, evidence: [] }
  const unscored = verdicts.find((verdict) => verdict.status === 'unscored')
  if (unscored) return { ...unscored, ...withoutScore }
  const evidence = scored.flatMap((verdict) => verdict.evidence).slice(0, 10)
  return { status: 'scored', result: 'not_affected', score: extreme, reasoning: joinReasonings(scored), evidence }
}
