// Evaluates one conversation with several judges, and returns the cost.

import type { Evaluation } from '../monitor-results/queries.ts'
import type { JudgeDefinition, JudgeResult } from '../monitors/judges/definition.ts'
import type { Paid } from '../monitors/judges/judge.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import { monthOf } from '../organizations/spending/month.ts'
import { addSpending, getSpending, type Spent } from '../organizations/spending/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import { readTranscript } from '../transcripts/read.ts'
import type { Turn } from '../transcripts/turn.ts'
import type { EvaluationDeps } from './deps.ts'
import { listContents } from './queries.ts'

type JudgeDeps = Pick<EvaluationDeps, 'db' | 'judge' | 'clock'>

export type JudgeSubject = {
  id: string
  startedAt: Date
  length: number | null
  format: string | null
  unreadable: string | null
}

export type JudgeTask = {
  monitors: StoredMonitor[]
  subject: JudgeSubject
  /** The time when the subject was read. */
  readAt: Date
  /** This is set for a run, so that evaluations of new conversations come first. */
  background?: boolean
  /** Someone waits for the result. */
  isAwaited?: boolean
  signal?: AbortSignal
}

export type Judgement = {
  /** The results to store, one list for each model request. */
  evaluations: Evaluation[]
  /** Monitors that have no response yet but may get one later. */
  postponed: { monitors: StoredMonitor[]; afterSeconds: number; evaluations: Evaluation[] }
  spent: Spent
  isOutOfBudget: boolean
}

export const outOfBudget = 'the monthly judge budget is used up'

/** Groups the monitors that can share a model request. */
export const groupsOf = ({ judge }: Pick<EvaluationDeps, 'judge'>, monitors: StoredMonitor[]): StoredMonitor[][] =>
  judge
    // Definitions were validated for their kind when they were stored.
    .groups(monitors.map((monitor) => ({ monitor, definition: monitor.definition as JudgeDefinition })))
    .map((group) => group.map(({ monitor }) => monitor))

type Row = Evaluation['rows'][number]

/** Returns the reasoning. If the model was not called or gave none, this is the reason for the result. */
const reasoningOf = ({ reason, reasoning }: JudgeResult): string | null =>
  reason === undefined ? reasoning : reasoning === null ? reason : `${reason}\n${reasoning}`

const readTurns = async ({ db }: JudgeDeps, org: OrgId, subject: JudgeSubject): Promise<Turn[] | { why: string }> => {
  if (subject.unreadable !== null) return { why: `the transcript cannot be read: ${subject.unreadable}` }
  const [transcript] = subject.length === null ? [] : await listContents(db, org, [subject.id])
  if (!transcript) return { why: 'there is no transcript' }
  const { format, startedAt } = subject
  const reading = readTranscript(JSON.parse(transcript.content), {
    startedAt,
    ...(format !== null && { provider: format }),
  })
  return 'turns' in reading ? reading.turns : { why: `the transcript cannot be read: ${reading.unreadable}` }
}

/** Evaluates judges without storing results, and returns the cost. If it is aborted, it stores the cost immediately. */
export const judgeConversation = async (deps: JudgeDeps, org: OrgId, task: JudgeTask): Promise<Judgement> => {
  const { monitors, subject, readAt: evaluatedAt, background = false, isAwaited = false, signal } = task
  const judgement: Judgement = {
    evaluations: [],
    postponed: { monitors: [], afterSeconds: 0, evaluations: [] },
    spent: { judgements: 0, input: 0, output: 0, cost: 0 },
    isOutOfBudget: false,
  }
  const placeOf = ({ id, number }: StoredMonitor) => ({
    conversationId: subject.id,
    monitorId: id,
    monitorVersion: number,
  })
  const withoutAsking = (of: StoredMonitor[], status: 'unscored' | 'failed', reasoning: string) => {
    const nothing = { result: null, score: null, evidence: [], tokens: null, cost: null }
    const rows = of.map((monitor): Row => ({ ...placeOf(monitor), ...nothing, status, reasoning }))
    judgement.evaluations.push({ evaluator: 'judge', evaluatedAt, rows })
  }

  const turns = await readTurns(deps, org, subject)
  if (!Array.isArray(turns)) {
    withoutAsking(monitors, 'unscored', turns.why)
    return judgement
  }
  const count = ({ tokens, cost }: Paid) => {
    const { spent } = judgement
    spent.judgements += tokens === null ? 0 : 1
    spent.input += tokens?.input ?? 0
    spent.output += tokens?.output ?? 0
    spent.cost += cost ?? 0
  }
  const onLost = (paid: Paid[]) => paid.forEach(count)

  const askGroup = async (group: StoredMonitor[]) => {
    const { budgetLeft } = await getSpending(deps.db, org, monthOf(deps.clock.now()))
    if (budgetLeft === 0) {
      judgement.isOutOfBudget = true
      return withoutAsking(group, 'failed', outOfBudget)
    }
    const definitions = group.map(({ definition }) => definition as JudgeDefinition)
    const request = { definitions, turns, owner: org, background, isAwaited, onLost }
    const results = await deps.judge.evaluate({ ...request, ...(signal && { signal }) })
    for (const [at, result] of results.entries()) {
      const monitor = group[at]
      if (!monitor) continue
      const { evaluator, status, result: verdict, score, evidence, tokens, cost, retryAfterSeconds } = result
      const row: Row = {
        ...placeOf(monitor),
        status,
        result: verdict,
        score,
        evidence,
        tokens,
        cost,
        reasoning: reasoningOf(result),
      }
      const { postponed } = judgement
      count(result)
      const evaluation = { evaluator, evaluatedAt, rows: [row] }
      if (retryAfterSeconds === undefined) judgement.evaluations.push(evaluation)
      else {
        postponed.monitors.push(monitor)
        postponed.afterSeconds = Math.max(postponed.afterSeconds, retryAfterSeconds)
        postponed.evaluations.push(evaluation)
      }
    }
  }

  try {
    for (const group of groupsOf(deps, monitors)) await askGroup(group)
  } catch (error) {
    // The responses are lost, but the provider charges for them.
    await addSpending(deps.db, org, monthOf(deps.clock.now()), judgement.spent)
    throw error
  }
  return judgement
}
