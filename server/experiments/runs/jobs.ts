import Type from 'typebox'
import type { EvaluationDeps } from '../../evaluations/deps.ts'
import { evaluatePage, type Stop, secondsToWait } from '../../evaluations/runs/evaluate-page.ts'
import { canMove, type RunStatus } from '../../evaluations/runs/run-status.ts'
import { findMonitorsAtVersions, type StoredMonitor } from '../../monitors/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { eachOfPages } from '../../platform/jobs/attempt-each.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { currentTime, defineSweep } from '../../platform/jobs/define-sweep.ts'
import { noteChanges } from '../observations/note-changes.ts'
import { listPinnedResults } from '../observations/queries.ts'
import { failed, missing, pending } from '../observations/unit-totals.ts'
import { listPinned, lockExperiment, type PinnedOutcome } from '../queries.ts'
import { endLaunchRun } from './end-launch-run.ts'
import {
  advanceRun,
  findRun,
  listAwaited,
  listLacking,
  listOpen,
  listOrganizationsWithOpenAllOrgs,
  lockRun,
  markRetried,
  type RetryRun,
  updateRun,
} from './queries.ts'

const pageSize = 200
/** After this time, the job yields to others and is queued again. */
const turnMs = 10_000

const notThere = 'The monitors were deleted or disabled, or the organization was suspended.'

type RetryRunKey = { org: OrgId; experimentId: string; runId: string }

const begin = async (
  { clock }: EvaluationDeps,
  trx: Db,
  { org, experimentId, runId }: RetryRunKey,
): Promise<RetryRun | undefined> => {
  const run = await lockRun(trx, org, experimentId, runId)
  if (run?.status !== 'queued') return run?.status === 'running' ? run : undefined
  const startedAt = clock.now()
  await updateRun(trx, org, experimentId, runId, { status: 'running', startedAt })
  return { ...run, status: 'running', startedAt }
}

/** A retry without a result is missing again. */
const release = async (
  deps: EvaluationDeps,
  trx: Db,
  { org, experimentId }: RetryRunKey,
  since: Date,
): Promise<void> => {
  const awaited = await listAwaited(trx, org, experimentId, { retriedSince: since })
  await noteChanges(deps, trx, org, { conversationIds: awaited.map(({ id }) => id) })
}

const end = async (
  deps: EvaluationDeps,
  trx: Db,
  place: RetryRunKey,
  to: RunStatus,
  failure: string | null,
): Promise<void> => {
  const { org, experimentId, runId } = place
  const run = await lockRun(trx, org, experimentId, runId)
  if (!run || !canMove(run.status, to)) return
  const total = to === 'completed' ? run.scored + run.unscored + run.failed : run.total
  // Before the end is set, after which nothing counts.
  await release(deps, trx, place, run.createdAt)
  const finishedAt = deps.clock.now()
  await updateRun(trx, org, experimentId, runId, { status: to, failure, total, finishedAt })
}

const goOn = ({ jobs }: EvaluationDeps, attempt: Attempt, place: RetryRunKey, run: RetryRun, afterSeconds = 0) =>
  attempt.finish(async (trx) => {
    const { org, experimentId, runId } = place
    if (afterSeconds > 0) await updateRun(trx, org, experimentId, runId, { waits: run.waits + 1 })
    const payload = { organizationId: org, experimentId, runId }
    await jobs.enqueue(trx, retryLacking, payload, { afterSeconds })
  })

type Lacking = Awaited<ReturnType<typeof listLacking>>

type LackedOutcome = { outcome: PinnedOutcome; monitor: StoredMonitor; conversations: Lacking }

/** Outcomes that can be retried: a finished experiment does not protect its monitors from deletion. */
export const findAskable = async <O extends PinnedOutcome>(db: Db, org: OrgId, outcomes: O[]) => {
  const versions = outcomes.map(({ monitorId, monitorVersion }) => ({ id: monitorId, number: monitorVersion }))
  const monitors = await findMonitorsAtVersions(db, org, versions)
  return outcomes.flatMap((outcome) => {
    const monitor = monitors.find(({ id }) => id === outcome.monitorId)
    return monitor && monitor.kind !== 'external' ? { outcome, monitor } : []
  })
}

/** Evaluates an outcome for the conversations of a page without it. */
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

const countAnswers = async (trx: Db, org: OrgId, asked: LackedOutcome[]) => {
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

/** For each outcome, the conversations of the page without it. */
const lackedIn = (page: Lacking, askable: Omit<LackedOutcome, 'conversations'>[], since: Date): LackedOutcome[] => {
  // Another job evaluates what is pending, unless this run made it pending.
  const isLacking = (status: number | undefined, retriedAt: Date | null) =>
    status === missing || status === failed || (status === pending && retriedAt !== null && retriedAt >= since)
  return askable
    .map((one) => {
      const { position } = one.outcome
      return { ...one, conversations: page.filter((each) => isLacking(each.statuses[position], each.retriedAt)) }
    })
    .filter(({ conversations }) => conversations.length > 0)
}

/** Evaluates the outcomes one after the other, until one of them stops the run. */
const askUntilStopped = async (
  deps: EvaluationDeps,
  attempt: Attempt,
  place: RetryRunKey,
  run: RetryRun,
  asked: LackedOutcome[],
): Promise<Stop | undefined> => {
  for (const one of asked) {
    const stop = await askPage(deps, attempt, place, run, one)
    if (stop) return stop
  }
  return undefined
}

/**
 * Evaluates and counts what the next page is missing. Returns whether there may be more; if not, it has ended the job.
 */
const advance = async (deps: EvaluationDeps, attempt: Attempt, place: RetryRunKey, run: RetryRun): Promise<boolean> => {
  const { org, experimentId, runId } = place
  const finished = async (effect: (trx: Db) => Promise<void> = async () => {}) => {
    await attempt.finish(effect)
    return false
  }
  const askable = await findAskable(deps.db, org, await listPinned(deps.db, org, experimentId))
  if (askable.length === 0) return finished((trx) => end(deps, trx, place, 'failed', notThere))
  const page = await listLacking(deps.db, org, experimentId, {
    positions: askable.map(({ outcome }) => outcome.position),
    afterId: run.afterId,
    since: run.createdAt,
    limit: pageSize,
  })
  const last = page.at(-1)
  if (!last) return finished((trx) => end(deps, trx, place, 'completed', null))
  const asked = lackedIn(page, askable, run.createdAt)
  const ids = page.map(({ id }) => id)
  await attempt.transaction(async (trx) => {
    await markRetried(trx, org, experimentId, ids, deps.clock.now())
    await noteChanges(deps, trx, org, { conversationIds: ids })
  })
  const stop = await askUntilStopped(deps, attempt, place, run, asked)
  if (stop) {
    const seconds = secondsToWait(stop, run.waits)
    if (seconds === undefined) return finished((trx) => end(deps, trx, place, 'failed', stop.failure))
    await goOn(deps, attempt, place, run, seconds)
    return false
  }
  const isCounted = await attempt.transaction(async (trx) => {
    const present = await lockRun(trx, org, experimentId, runId)
    if (present?.status !== 'running') return false
    const counts = await countAnswers(trx, org, asked)
    await advanceRun(trx, org, experimentId, runId, { ...counts, afterId: last.id })
    return true
  })
  return isCounted || finished()
}

/**
 * Retries missing results of an experiment, page by page in ID order. A page is counted and completed in one
 * transaction.
 * After a failure in between, it starts with the same page, and only evaluates what has no result since.
 */
export const retryLacking = defineJob({
  name: 'experiment.retry',
  payload: Type.Object({ organizationId: OrganizationId, experimentId: Type.String(), runId: Type.String() }),
  retryLimit: 20,
  retryDelaySeconds: 2,
  timeoutSeconds: 60 * 60,
  run: async (deps: EvaluationDeps, { organizationId, experimentId, runId }, attempt) => {
    const place: RetryRunKey = { org: organizationId, experimentId, runId }
    const endsAt = performance.now() + turnMs
    for (;;) {
      attempt.signal.throwIfAborted()
      const run = await attempt.transaction((trx) => begin(deps, trx, place))
      if (!run) return attempt.finish(async () => {})
      if (!(await advance(deps, attempt, place, run))) return
      if (performance.now() >= endsAt) return goOn(deps, attempt, place, run)
    }
  },
  onFailed: (deps, { organizationId, experimentId, runId }, trx) =>
    end(deps, trx, { org: organizationId, experimentId, runId }, 'failed', 'The evaluation failed repeatedly.'),
})

const patienceMs = 24 * 60 * 60 * 1_000

/** Results that are overdue are counted again, and finished experiments stop accepting results. */
export const sweepExperiments = defineSweep({
  name: 'experiment.sweep',
  schedule: '35 * * * *',
  time: currentTime,
  listOrganizations: ({ db }: EvaluationDeps) => listOrganizationsWithOpenAllOrgs(db),
  listItems: ({ db }, { org, after }) => eachOfPages(pageSize, (page) => listOpen(db, org, page), after),
  sweepItem: (deps, { id, finishedAt }, { org, now, attempt }) =>
    attempt.transaction(async (trx) => {
      const addedBefore = new Date(now.getTime() - patienceMs)
      const awaited = await listAwaited(trx, org, id, { addedBefore })
      await noteChanges(deps, trx, org, { conversationIds: awaited.map((conversation) => conversation.id) })
      if (finishedAt === null || awaited.length > 0) return
      await endLaunchRun(trx, org, await lockExperiment(trx, org, id), now)
    }),
})
