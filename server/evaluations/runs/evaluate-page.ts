// Evaluates one page of a run's conversations with a rule, a judge, or a scorecard.

import type { Evaluation } from '../../monitor-results/queries.ts'
import { storeResults } from '../../monitor-results/store-results.ts'
import type { StoredMonitor } from '../../monitors/queries.ts'
import { monthOf } from '../../organizations/spending/month.ts'
import { addSpending } from '../../organizations/spending/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Attempt } from '../../platform/jobs/define-job.ts'
import type { EvaluationDeps } from '../deps.ts'
import { canEvaluate, evaluateRules } from '../evaluate-rules.ts'
import { judgeConversation } from '../judge-conversation.ts'
import type { Subject } from '../monitors-in-scope.ts'
import { listAnswered, listSubjects } from '../queries.ts'
import { computeScorecards } from '../scorecards/compute.ts'
import { lockScorable } from '../scorecards/queries.ts'
import { storeFailures } from '../store-failures.ts'
import { judgeInLanes, patientAttempts, type Stop, stopIfRefused, stopOf } from './judge-in-lanes.ts'

type PageTask = {
  monitor: StoredMonitor
  /** The start of the run. Earlier failures are evaluated again. */
  since: Date
  /** Returns whether the run has ended in the meantime. */
  isEnded: () => Promise<boolean>
  /** The conversations on the page, in order. */
  ids: string[]
  attempt: Attempt
}

/**
 * Runs a judge on conversations without a result, as many in parallel as the endpoint allows. Each result is stored
 * immediately, with its cost.
 */
const judgePage = async (
  deps: EvaluationDeps,
  org: OrgId,
  { monitor, since, isEnded, ids, attempt }: PageTask,
): Promise<Stop | undefined> => {
  const { db, clock } = deps
  const pairs = ids.map((conversationId) => ({ conversationId, monitorId: monitor.id, monitorVersion: monitor.number }))
  const answered = await listAnswered(db, org, pairs, { failedSince: since })
  const settled = new Set(answered.map(({ conversationId }) => conversationId))
  const readAt = clock.now()
  const found = await listSubjects(
    db,
    org,
    ids.filter((id) => !settled.has(id)),
  )
  // A conversation with a recording that has not been decoded yet is skipped, because it gets its own evaluation later.
  const subjects = found.filter((subject) => canEvaluate(subject, monitor))
  const refused: Evaluation[] = []
  const isRefused = ({ rows }: Evaluation) => rows.every(({ status, tokens }) => status === 'failed' && tokens === null)

  const judgeOne = async (subject: Subject): Promise<Stop | undefined> => {
    const task = { monitors: [monitor], subject, readAt, background: true, signal: attempt.signal }
    const judgement = await judgeConversation(deps, org, task)
    const { evaluations, spent, isOutOfBudget } = judgement
    if (isOutOfBudget) return stopOf(judgement)
    refused.push(...evaluations.filter(isRefused))
    await attempt.transaction(async (trx) => {
      for (const evaluation of evaluations) if (!isRefused(evaluation)) await storeResults(deps, trx, org, evaluation)
      await addSpending(trx, org, monthOf(clock.now()), spent)
    })
    return stopOf(judgement)
  }

  const giveUp = (subject: Subject) =>
    attempt.transaction((trx) => storeFailures(deps, trx, org, { monitors: [monitor], conversationId: subject.id }))

  const check = async () => ((await isEnded()) ? 'ended' : undefined)
  const lanes = { subjects, definition: monitor.definition, attempt, check, judgeOne, giveUp }
  const halt = await judgeInLanes(deps, org, lanes)
  const reasons = refused.map(({ rows }) => rows[0]?.reasoning)
  const refusal = stopIfRefused(reasons, subjects.length)
  if (refusal) return refusal
  await attempt.transaction(async (trx) => {
    for (const evaluation of refused) await storeResults(deps, trx, org, evaluation)
  })
  return halt === 'ended' ? undefined : halt
}

/**
 * Runs a rule on every conversation, including those with a result, because rules cost nothing, and metrics and
 * metadata may have changed. Skips conversations with sound that has not been measured yet, because they get their own
 * evaluation later.
 */
const rulePage = async (deps: EvaluationDeps, org: OrgId, { monitor, ids, attempt }: PageTask): Promise<undefined> => {
  const readAt = deps.clock.now()
  const found = await listSubjects(deps.db, org, ids)
  const { signal } = attempt
  const evaluate = async (subjects: Subject[]) => {
    const task = { monitors: [monitor], subjects, asked: canEvaluate, readAt, signal }
    const evaluation = await evaluateRules(deps, org, task)
    await attempt.transaction((trx) => storeResults(deps, trx, org, evaluation))
  }
  if (attempt.number <= patientAttempts) return void (await evaluate(found))
  for (const subject of found) {
    try {
      await evaluate([subject])
    } catch (error) {
      if (signal.aborted) throw error
      const failed = { monitors: [monitor], conversationId: subject.id }
      await attempt.transaction((trx) => storeFailures(deps, trx, org, failed))
    }
  }
}

/** Computes a scorecard for every conversation from the stored results of its items. */
const scorecardPage = (deps: EvaluationDeps, org: OrgId, { monitor, ids, attempt }: PageTask): Promise<undefined> =>
  attempt.transaction(async (trx) => {
    const conversations = await lockScorable(trx, org, ids)
    const scorings = conversations.map((conversation) => ({ conversation, monitor }))
    await computeScorecards(deps, trx, org, { scorings, skipsEmpty: false })
    return undefined
  })

/** Evaluates a page and stores the results. If it could not complete the page, returns the reason. */
export const evaluatePage = (deps: EvaluationDeps, org: OrgId, task: PageTask): Promise<Stop | undefined> => {
  if (task.monitor.kind === 'rule') return rulePage(deps, org, task)
  return task.monitor.kind === 'scorecard' ? scorecardPage(deps, org, task) : judgePage(deps, org, task)
}

const mostWaits = 8
const shortestWaitSeconds = 15
const longestWaitSeconds = 15 * 60

/** `waits` is the number of consecutive pauses that count as failures. */
export type Pause = { afterSeconds: number; waits: number }

/**
 * Returns the pause before a run continues, depending on the number of consecutive pauses. After the last one, returns
 * the run's failure.
 */
export const pauseAfter = (stop: Stop, waits: number): Pause | { failure: string } => {
  if (stop.kind === 'later') return { afterSeconds: Math.max(stop.afterSeconds, shortestWaitSeconds), waits }
  if (stop.kind === 'over' || waits >= mostWaits) return { failure: stop.failure }
  const afterSeconds = Math.min(longestWaitSeconds, Math.max(stop.afterSeconds, shortestWaitSeconds * 2 ** waits))
  return { afterSeconds, waits: waits + 1 }
}
