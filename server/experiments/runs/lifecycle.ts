// Manages the lifecycle of an experiment's runs: the run for new conversations, and retries of missing results.
// Requests, jobs, and the counter change the state of a run only through these functions.

import Type from 'typebox'
import type { EvaluationDeps } from '../../evaluations/deps.ts'
import { type Pause, pauseAfter } from '../../evaluations/runs/evaluate-page.ts'
import { canMove, type RunStatus } from '../../evaluations/runs/run-status.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { readOutcome } from '../observations/exact-sums.ts'
import { noteChanges } from '../observations/note-changes.ts'
import { hasChanges } from '../observations/queries.ts'
import { listOutcomes, listPinned, lockExperiment, type StoredExperiment, type StoredOutcome } from '../queries.ts'
import {
  advanceRun,
  insertRun,
  listAwaited,
  listLacking,
  listUnfinishedRuns,
  lockRun,
  markRetried,
  type RetryRun,
  updateRun,
} from './queries.ts'
import { askUntilStopped, countAnswers, findAskable, lackedIn, type RetryRunKey } from './retry-page.ts'

const pageSize = 200
/** After this time, the job yields to others and is queued again. */
const turnMs = 10_000

const publishExperiment = (trx: Db, org: OrgId, id: string) =>
  publishChanges(trx, org, { resource: 'experiments', kind: 'updated', ids: [id] })

const notThere = 'The monitors were deleted or disabled, or the organization was suspended.'

/** Creates the run for an experiment's new conversations. It lasts as long as the experiment accepts results. */
export const createLaunchRun = (trx: Db, { org, userId }: Actor, experimentId: string, now: Date) =>
  insertRun(trx, org, {
    id: newId(),
    experimentId,
    trigger: 'launch',
    status: 'running',
    total: 0,
    createdByUserId: userId,
    createdAt: now,
    startedAt: now,
    finishedAt: null,
  })

export const countsOf = (outcomes: StoredOutcome[]) =>
  outcomes.flatMap(({ sums }) => {
    const { a, b } = readOutcome(sums).counts
    return [a, b]
  })

const isAskedAlready = 'A retry run is already in progress. Wait until it finishes.'

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

/** Creates a retry. Only one retry can run at a time. If there is nothing to retry, it is completed immediately. */
export const createRetryRun = async (
  { clock, jobs }: Pick<EvaluationDeps, 'clock' | 'jobs'>,
  trx: Db,
  actor: Actor,
  id: string,
): Promise<RetryRun> => {
  const { org } = actor
  const { id: experimentId } = await lockExperiment(trx, org, id)
  const unfinished = await listUnfinishedRuns(trx, org, experimentId)
  // Retried results count as pending, so a second retry would not find any missing ones.
  if (unfinished.some(({ trigger }) => trigger === 'retry')) throw new ApiError('conflict', isAskedAlready)
  const askable = await findAskable(trx, org, await listOutcomes(trx, org, experimentId))
  const counts = countsOf(askable.map(({ outcome }) => outcome))
  const total = sum(counts.map(({ missing, failed }) => missing + failed))
  const now = clock.now()
  const made = await insertRun(trx, org, {
    id: newId(),
    experimentId,
    trigger: 'retry',
    total,
    createdByUserId: actor.userId,
    createdAt: now,
    ...(total === 0
      ? { status: 'completed', startedAt: now, finishedAt: now }
      : { status: 'queued', startedAt: null, finishedAt: null }),
  })
  if (total > 0) {
    const payload = { organizationId: org, experimentId, runId: made.id }
    await jobs.enqueue(trx, retryLacking, payload)
  }
  await recordAudit(trx, actor, 'experiment.retry', { type: 'experiment', id: experimentId })
  return made
}

const begin = async (
  { clock }: EvaluationDeps,
  trx: Db,
  { org, experimentId, runId }: RetryRunKey,
): Promise<RetryRun | undefined> => {
  const run = await lockRun(trx, org, experimentId, runId)
  if (run?.status !== 'queued') return run?.status === 'running' ? run : undefined
  const startedAt = clock.now()
  await updateRun(trx, org, experimentId, runId, { status: 'running', startedAt })
  await publishExperiment(trx, org, experimentId)
  return { ...run, status: 'running', startedAt }
}

/** Recounts retried conversations. Those that still have no result are missing again. */
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
  // This must happen before the run ends, because nothing is counted after that.
  await release(deps, trx, place, run.createdAt)
  const finishedAt = deps.clock.now()
  await updateRun(trx, org, experimentId, runId, { status: to, failure, total, finishedAt })
  await publishExperiment(trx, org, experimentId)
}

const goOn = ({ jobs }: EvaluationDeps, attempt: Attempt, place: RetryRunKey, pause?: Pause) =>
  attempt.finish(async (trx) => {
    const { org, experimentId, runId } = place
    if (pause) await updateRun(trx, org, experimentId, runId, { waits: pause.waits })
    const payload = { organizationId: org, experimentId, runId }
    await jobs.enqueue(trx, retryLacking, payload, { afterSeconds: pause?.afterSeconds ?? 0 })
  })

/**
 * Evaluates and counts the missing outcomes of the next page. Returns whether there may be more pages. If not, the job
 * has ended.
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
    const pause = pauseAfter(stop, run.waits)
    if ('failure' in pause) return finished((trx) => end(deps, trx, place, 'failed', pause.failure))
    await goOn(deps, attempt, place, pause)
    return false
  }
  const isCounted = await attempt.transaction(async (trx) => {
    const present = await lockRun(trx, org, experimentId, runId)
    if (present?.status !== 'running') return false
    const counts = await countAnswers(trx, org, asked)
    await advanceRun(trx, org, experimentId, runId, { ...counts, afterId: last.id })
    await publishExperiment(trx, org, experimentId)
    return true
  })
  return isCounted || finished()
}

/**
 * Retries an experiment's missing results page by page, in the order of IDs. A page is counted and completed in one
 * transaction. After a failure in between, the run repeats the same page, but only evaluates missing results.
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
      if (performance.now() >= endsAt) return goOn(deps, attempt, place)
    }
  },
  onFailed: (deps, { organizationId, experimentId, runId }, trx) =>
    end(deps, trx, { org: organizationId, experimentId, runId }, 'failed', 'The evaluation failed repeatedly.'),
})

/** How long a finished experiment waits for late results. */
const lateResultsMs = 7 * 24 * 60 * 60 * 1_000

/**
 * Ends the first run of a finished experiment if nothing is missing, or after a timeout. The caller has locked the
 * experiment.
 */
export const endLaunchRun = async (
  trx: Db,
  org: OrgId,
  { id, finishedAt }: Pick<StoredExperiment, 'id' | 'finishedAt'>,
  now: Date,
): Promise<void> => {
  if (finishedAt === null) return
  const run = (await listUnfinishedRuns(trx, org, id)).find(({ trigger }) => trigger === 'launch')
  if (!run || (await hasChanges(trx, org, id))) return
  const counts = countsOf(await listOutcomes(trx, org, id))
  const isLacking = counts.some(({ pending, missing }) => pending + missing > 0)
  if (isLacking && now.getTime() - finishedAt.getTime() < lateResultsMs) return
  await updateRun(trx, org, id, run.id, { status: 'completed', finishedAt: now })
}
