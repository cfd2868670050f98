import { longestReasoning, type Verdict } from './answer.ts'
import { type JudgeDefinition, type JudgeResult, mostAffected, type Tokens } from './definition.ts'
import { storable } from './text.ts'

type Failed = { status: 'failed'; reason: string; retryAfterSeconds?: number }

/** A monitor while a conversation is judged: a verdict for each window asked about, and what was paid so far. */
export type Judged = { definition: JudgeDefinition; verdicts: (Verdict | Failed)[]; tokens: Tokens | null }

type Scored = Extract<Verdict, { status: 'scored' }>

const isScored = (verdict: Verdict | Failed): verdict is Scored => verdict.status === 'scored'
const isFailed = (verdict: Verdict | Failed): verdict is Failed => verdict.status === 'failed'

/** Nothing that another window shows can change it, so it need not be paid for. */
export const isSettled = ({ definition, verdicts }: Judged): boolean =>
  verdicts.some(isFailed) || (definition.output.type === 'boolean' && isAnyAffected(verdicts))

const isAnyAffected = (verdicts: (Verdict | Failed)[]): boolean =>
  verdicts.some((verdict) => isScored(verdict) && verdict.result === 'affected')

type Outcome = Pick<
  JudgeResult,
  'status' | 'result' | 'score' | 'reasoning' | 'evidence' | 'reason' | 'retryAfterSeconds'
>

const withoutScore = { result: null, score: null } as const

const joinReasonings = (scored: Scored[]): string => {
  const [only, ...others] = scored
  if (only && others.length === 0) return only.reasoning
  // Of each window its share, so that the last one is heard too.
  const share = Math.floor(longestReasoning / scored.length) - 12
  return scored.map(({ reasoning }, at) => `Part ${at + 1}: ${storable(reasoning, share)}`).join('\n')
}

/**
 * A window that shows it suffices for affected, and all of them are needed for not affected. Of scores the one counts
 * that speaks most for affected.
 */
export const combine = ({ definition: { output }, verdicts }: Judged): Outcome => {
  const scored = verdicts.filter(isScored)
  const scores = scored.flatMap(({ score }) => (score === null ? [] : [score]))
  const extreme = output.type === 'score' && scores.length > 0 ? mostAffected(output.affectedWhen, scores) : null
  const affected = scored.find(({ result, score }) => result === 'affected' && score === extreme)
  const failed = verdicts.find(isFailed)
  // The extreme of scores is known only when each window has one.
  if (affected && (output.type === 'boolean' || !failed)) return affected
  if (failed) return { ...failed, ...withoutScore, reasoning: null, evidence: [] }
  const unscored = verdicts.find((verdict) => verdict.status === 'unscored')
  if (unscored) return { ...unscored, ...withoutScore }
  const evidence = scored.flatMap((verdict) => verdict.evidence).slice(0, 10)
  return { status: 'scored', result: 'not_affected', score: extreme, reasoning: joinReasonings(scored), evidence }
}
