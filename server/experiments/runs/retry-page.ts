// Retries one page of an experiment's conversations.

import type { EvaluationDeps } from '../../evaluations/deps.ts'
import { evaluatePage } from '../../evaluations/runs/evaluate-page.ts'
import type { Stop } from '../../evaluations/runs/judge-in-lanes.ts'
import { findMonitorsAtVersions, type StoredMonitor } from '../../monitors/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Attempt } from '../../platform/jobs/define-job.ts'
import { listPinnedResults } from '../observations/queries.ts'
import { failed, missing, pending } from '../observations/unit-totals.ts'
import type { PinnedOutcome } from '../queries.ts'
import { findRun, type listLacking, type RetryRun } from './queries.ts'

export type RetryRunKey = { org: OrgId; experimentId: string; runId: string }

type Lacking = Awaited<ReturnType<typeof listLacking>>

export type LackedOutcome = { outcome: PinnedOutcome; monitor: StoredMonitor; conversations: Lacking }

/**
 * Returns the outcomes that can be retried. Outcomes of deleted monitors can't be retried. A monitor can be deleted
 * after its experiment is finished.
 */
export const findAskable = async <O extends PinnedOutcome>(db: Db, org: OrgId, outcomes: O[]) => {
  const versions = outcomes.map(({ monitorId, monitorVersion }) => ({ id: monitorId, number: monitorVersion }))
  const monitors = await findMonitorsAtVersions(db, org, versions)
  return outcomes.flatMap((outcome) => {
    const monitor = monitors.find(({ id }) => id === outcome.monitorId)
    return monitor && monitor.kind !== 'external' ? { outcome, monitor } : []
  })
}

/** Evaluates an outcome for the conversations on a page that lack it. */
const askPage = (
  deps: EvaluationDeps,
  attempt: Attempt,
  place: RetryRunKey,
  run: RetryRun,
  { monitor, conversations }: LackedOutcome,
): Promise<Stop | undefined> => {
  const { org, experimentId, runId } = place
  const ids = conversations.map(({ id }) => id)
  const isEnded = async () => (await findRun(deps.db, org, experimentId, runId))?.status !== 'running'
  return evaluatePage(deps, org, { monitor, since: run.createdAt, isEnded, ids, attempt })
}

export const countAnswers = async (trx: Db, org: OrgId, asked: LackedOutcome[]) => {
  const counts = { scored: 0, unscored: 0, failed: 0 }
  const names = ['scored', 'unscored', 'failed'] as const
  for (const { outcome, conversations } of asked) {
    for (const { status } of await listPinnedResults(trx, org, { conversations, pinned: [outcome] })) {
      const name = names[status]
      if (name) counts[name] += 1
    }
  }
  return counts
}

/** Returns, for each outcome, the conversations on the page that lack it. */
export const lackedIn = (
  page: Lacking,
  askable: Omit<LackedOutcome, 'conversations'>[],
  since: Date,
): LackedOutcome[] => {
  // Other jobs provide pending results, unless this run made them pending.
  const isLacking = (status: number | undefined, retriedAt: Date | null) =>
    status === missing || status === failed || (status === pending && retriedAt !== null && retriedAt >= since)
  return askable
    .map((one) => {
      const { position } = one.outcome
      return { ...one, conversations: page.filter((each) => isLacking(each.statuses[position], each.retriedAt)) }
    })
    .filter(({ conversations }) => conversations.length > 0)
}

/** Groups outcomes of the same monitor, because one evaluation provides all of their values. */
const byMonitor = (asked: LackedOutcome[]): LackedOutcome[] => {
  const joined = new Map<string, LackedOutcome>()
  for (const one of asked) {
    const others = joined.get(one.monitor.id)?.conversations ?? []
    const conversations = new Map([...others, ...one.conversations].map((each) => [each.id, each]))
    joined.set(one.monitor.id, { ...one, conversations: [...conversations.values()] })
  }
  return [...joined.values()]
}

/** Evaluates the outcomes one after the other, until one of them stops the run. */
export const askUntilStopped = async (
  deps: EvaluationDeps,
  attempt: Attempt,
  place: RetryRunKey,
  run: RetryRun,
  asked: LackedOutcome[],
): Promise<Stop | undefined> => {
  for (const one of byMonitor(asked)) {
    const stop = await askPage(deps, attempt, place, run, one)
    if (stop) return stop
  }
  return undefined
}
