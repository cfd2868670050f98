// Evaluates one page of conversations of a run with a rule or a judge.

import type { Evaluation } from '../../monitor-results/queries.ts'
import { storeResults } from '../../monitor-results/store-results.ts'
import type { StoredMonitor } from '../../monitors/queries.ts'
import { monthOf } from '../../organizations/spending/month.ts'
import { addSpending } from '../../organizations/spending/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Attempt } from '../../platform/jobs/define-job.ts'
import type { EvaluationDeps } from '../deps.ts'
import { evaluateRules } from '../evaluate-rules.ts'
import { judgeConversation, outOfBudget } from '../judge-conversation.ts'
import type { Subject } from '../monitors-in-scope.ts'
import { listAnswered, listSubjects } from '../queries.ts'
import { storeFailures } from '../store-failures.ts'

type PageTask = {
  monitor: StoredMonitor
  /** The start of the run. Failures from before it are evaluated again. */
  since: Date
  /** Returns whether the run was ended in the meantime. */
  isEnded: () => Promise<boolean>
  /** The conversations of the page, in order. */
  ids: string[]
  attempt: Attempt
}

/** The reason why a page was not completed. */
export type Stop =
  | { kind: 'over'; failure: string }
  /** The endpoint is not responding at the moment. */
  | { kind: 'wait'; afterSeconds: number; failure: string }

/** If the endpoint rejects this many requests and answers none, its key or model must be wrong. */
const enoughRefusals = 4

/**
 * After a page has failed this often, its conversations are evaluated one by one, and those that fail are stored as
 * failed.
 */
const patientAttempts = 3

/**
 * Runs a judge on conversations without a result, as many in parallel as the endpoint allows. Each result is stored
 * immediately, with its cost.
 */
const judgePage = async (
  deps: EvaluationDeps,
  org: OrgId,
  { monitor, since, isEnded, ids, attempt }: PageTask,
): Promise<Stop | undefined> => {
  const { db, clock, config } = deps
  const pairs = ids.map((conversationId) => ({ conversationId, monitorId: monitor.id, monitorVersion: monitor.number }))
  const answered = await listAnswered(db, org, pairs, { failedSince: since })
  const settled = new Set(answered.map(({ conversationId }) => conversationId))
  const readAt = clock.now()
  const subjects = await listSubjects(
    db,
    org,
    ids.filter((id) => !settled.has(id)),
  )
  const refused: Evaluation[] = []
  const isRefused = ({ rows }: Evaluation) => rows.every(({ status, tokens }) => status === 'failed' && tokens === null)

  const judgeOne = async (subject: (typeof subjects)[number]): Promise<Stop | undefined> => {
    const task = { monitors: [monitor], subject, readAt, background: true, signal: attempt.signal }
    const { evaluations, postponed, spent, isOutOfBudget } = await judgeConversation(deps, org, task)
    if (isOutOfBudget) return { kind: 'over', failure: `${outOfBudget[0]?.toUpperCase()}${outOfBudget.slice(1)}.` }
    refused.push(...evaluations.filter(isRefused))
    await attempt.transaction(async (trx) => {
      for (const evaluation of evaluations) if (!isRefused(evaluation)) await storeResults(deps, trx, org, evaluation)
      await addSpending(trx, org, monthOf(clock.now()), spent)
    })
    const [unanswered] = postponed.evaluations.flatMap(({ rows }) => rows)
    if (!unanswered) return undefined
    const failure = `The model endpoint is not responding: ${unanswered.reasoning}.`
    return { kind: 'wait', afterSeconds: postponed.afterSeconds, failure }
  }

  const judgeOrFail = async (subject: (typeof subjects)[number]): Promise<Stop | undefined> => {
    try {
      return await judgeOne(subject)
    } catch (error) {
      if (attempt.signal.aborted || attempt.number <= patientAttempts) throw error
      const failed = { monitors: [monitor], conversationId: subject.id }
      await attempt.transaction((trx) => storeFailures(deps, trx, org, failed))
      return undefined
    }
  }

  const queue = subjects.values()
  let stop: Stop | undefined
  let isOver = false
  const work = async () => {
    for (const subject of queue) {
      if (stop || isOver) return
      attempt.signal.throwIfAborted()
      isOver ||= await isEnded()
      if (isOver) return
      stop = (await judgeOrFail(subject)) ?? stop
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: config.judge.limits.concurrency }, work))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  if (refused.length >= enoughRefusals && refused.length === subjects.length) {
    return { kind: 'over', failure: `The model endpoint rejects every request: ${refused[0]?.rows[0]?.reasoning}.` }
  }
  await attempt.transaction(async (trx) => {
    for (const evaluation of refused) await storeResults(deps, trx, org, evaluation)
  })
  return stop
}

/**
 * Runs a rule on every conversation, including those with a result: rules cost nothing, and metrics and metadata may
 * have changed.
 */
const rulePage = async (deps: EvaluationDeps, org: OrgId, { monitor, ids, attempt }: PageTask): Promise<undefined> => {
  const readAt = deps.clock.now()
  const found = await listSubjects(deps.db, org, ids)
  const { signal } = attempt
  const evaluate = async (subjects: Subject[]) => {
    const task = { monitors: [monitor], subjects, asked: () => true, readAt, signal }
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

/** Evaluates a page and stores the results. If it was not completed, returns the reason. */
export const evaluatePage = (deps: EvaluationDeps, org: OrgId, task: PageTask): Promise<Stop | undefined> =>
  task.monitor.kind === 'rule' ? rulePage(deps, org, task) : judgePage(deps, org, task)

const mostWaits = 8
const shortestWaitSeconds = 15
const longestWaitSeconds = 15 * 60

/**
 * Returns the pause before a run continues, depending on the number of pauses in a row, or undefined after the last
 * one.
 */
export const secondsToWait = (stop: Stop, waits: number): number | undefined => {
  if (stop.kind === 'over' || waits >= mostWaits) return undefined
  return Math.min(longestWaitSeconds, Math.max(stop.afterSeconds, shortestWaitSeconds * 2 ** waits))
}
