// Tests a monitor, which can be a draft, while the caller waits. Only stores the cost.

import { noResult } from '../../monitor-results/no-result.ts'
import type { Evaluation } from '../../monitor-results/queries.ts'
import type { StoredMonitor } from '../../monitors/queries.ts'
import { monthOf } from '../../organizations/spending/month.ts'
import { addSpending } from '../../organizations/spending/queries.ts'
import { batchesOf } from '../../platform/batches.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { EvaluationDeps } from '../deps.ts'
import { evaluateRules } from '../evaluate-rules.ts'
import { judgeConversation } from '../judge-conversation.ts'
import type { Subject } from '../monitors-in-scope.ts'

export type TrialResult = Omit<Evaluation['rows'][number], 'monitorId' | 'monitorVersion'>

type AskDeps = Pick<EvaluationDeps, 'db' | 'blobs' | 'judge' | 'rules' | 'clock' | 'config'>

type Task = {
  monitor: StoredMonitor
  /** The conversations on which the monitor is tested. */
  subjects: Subject[]
  /** The time when the conversations were read. */
  readAt: Date
  /** Aborts the test. */
  signal: AbortSignal
}

export const longestTrialSeconds = 60

const noAnswer = `timed out: a test can take at most ${longestTrialSeconds} seconds`

type AskBatch = (deps: AskDeps, org: OrgId, task: Task, subjects: Subject[]) => Promise<TrialResult[]>

const askJudge: AskBatch = async (deps, org, { monitor, readAt, signal }, [subject]) => {
  if (!subject) return []
  const task = { monitors: [monitor], subject, readAt, isAwaited: true, signal }
  const { evaluations, postponed, spent } = await judgeConversation(deps, org, task)
  await addSpending(deps.db, org, monthOf(deps.clock.now()), spent)
  return [...evaluations, ...postponed.map(({ evaluation }) => evaluation)].flatMap(({ rows }) => rows)
}

const askRule: AskBatch = async (deps, org, { monitor, readAt, signal }, subjects) => {
  const task = { monitors: [monitor], subjects, asked: () => true, readAt, signal }
  const { rows } = await evaluateRules(deps, org, task)
  return rows
}

/**
 * The number of conversations in a part. If time runs out, the current part is lost, so parts are small. They are not
 * even smaller, because each part can spend seconds on detecting a rule that never ends.
 */
const ruleBatch = 50

/**
 * Returns one result for each conversation, in order. Evaluates conversations in parts, so that completed parts count
 * if time runs out. Conversations without a result count as failed.
 */
export const askMonitor = async (deps: AskDeps, org: OrgId, task: Task): Promise<TrialResult[]> => {
  const { monitor, subjects, signal } = task
  const isJudge = monitor.kind === 'judge'
  const [ask, batchSize] = isJudge ? [askJudge, 1] : [askRule, ruleBatch]
  const atOnce = isJudge ? await deps.judge.concurrencyOf(org, monitor.definition) : 1
  const answers = new Map<string, TrialResult>()
  const batches = batchesOf(subjects, batchSize).values()
  let isBroken = false
  const askBatch = async (batch: Subject[]) => {
    try {
      for (const answer of await ask(deps, org, task, batch)) answers.set(answer.conversationId, answer)
    } catch (error) {
      if (signal.aborted) return
      isBroken = true
      throw error
    }
  }
  const work = async () => {
    for (const batch of batches) {
      if (isBroken || signal.aborted) return
      await askBatch(batch)
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: atOnce }, work))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
  const late = { ...noResult, status: 'failed' as const, reasoning: noAnswer }
  return subjects.map(({ id }) => answers.get(id) ?? { conversationId: id, ...late })
}
