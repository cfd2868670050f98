// Creates, runs, finishes, cancels, and resumes runs.

import Type from 'typebox'
import { findMonitorsAtVersions, type StoredMonitor } from '../../monitors/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import type { EvaluationDeps } from '../deps.ts'
import { planBatches } from './batches/plan.ts'
import { evaluatePage, type Pause, pauseAfter } from './evaluate-page.ts'
import type { Stop } from './judge-in-lanes.ts'
import { findNextPage } from './next-page.ts'
import {
  advanceRun,
  countOutcomes,
  findRun,
  getRun,
  insertRun,
  lockRun,
  type Population,
  type Run,
  updateRun,
} from './queries.ts'
import { canMove, monitorIsGone, type RunStatus } from './run-status.ts'

/** After this time, the job yields to other runs and is queued again. */
const turnMs = 10_000
/**
 * The number of conversations that a rule or a scorecard evaluates together. After each group, the run stores its
 * position.
 */
const rulePageSize = 500
/** The number of conversations on a page per concurrent judge request. */
const pagesOfJudges = 4

const publishRun = (trx: Db, org: OrgId, id: string) =>
  publishChanges(trx, org, { resource: 'evaluation-runs', kind: 'updated', ids: [id] })

type Creation = {
  monitor: StoredMonitor
  population: Population
  total: number
  createdAt: Date
  /** Whether requests are sent to the provider as batches. */
  inBatches: boolean
}

export const createRun = (
  { db, jobs }: EvaluationDeps,
  actor: Actor,
  { monitor, population, total, createdAt, inBatches }: Creation,
): Promise<Run> =>
  db.transaction().execute(async (trx) => {
    const id = newId()
    const inserted = await insertRun(trx, actor.org, {
      id,
      kind: 'backfill',
      monitorId: monitor.id,
      monitorVersion: monitor.number,
      population,
      total,
      batchPhase: inBatches ? 'sending' : null,
      createdByUserId: actor.userId,
      createdAt,
    })
    await jobs.enqueue(trx, evaluateRun, { organizationId: actor.org, runId: id, resumes: 0 })
    await recordAudit(trx, actor, 'monitor.evaluate', { type: 'monitor', id: monitor.id }, { type: 'run', id })
    return inserted
  })

type RunKey = { monitorId: string; runId: string }

/** Cancels a run. Its results stay. The jobs of its batches cancel the batches at the provider. */
export const cancelRun = async (
  { clock }: EvaluationDeps,
  trx: Db,
  actor: Actor,
  { monitorId, runId }: RunKey,
): Promise<Run> => {
  const { id } = await getRun(trx, actor.org, monitorId, runId)
  const run = await lockRun(trx, actor.org, id)
  if (!run || !canMove(run.status, 'cancelled')) {
    throw new ApiError('conflict', `The run is ${run?.status ?? 'gone'}. Only a run in progress can be cancelled.`)
  }
  await recordAudit(trx, actor, 'monitor.cancel-evaluation', { type: 'run', id })
  return updateRun(trx, actor.org, id, { status: 'cancelled', finishedAt: clock.now() })
}

/** Resumes a cancelled or failed run where it stopped. */
export const resumeRun = async (
  { jobs }: EvaluationDeps,
  trx: Db,
  actor: Actor,
  { monitorId, runId }: RunKey,
): Promise<Run> => {
  const { id } = await getRun(trx, actor.org, monitorId, runId)
  const stopped = await lockRun(trx, actor.org, id)
  if (!stopped || !canMove(stopped.status, 'queued')) {
    throw new ApiError(
      'conflict',
      `The run is ${stopped?.status ?? 'gone'}. Only a failed or cancelled run can be resumed.`,
    )
  }
  const resumes = stopped.resumes + 1
  const change = { status: 'queued', finishedAt: null, failure: null, waits: 0, resumes } as const
  const again = stopped.batchPhase === null ? {} : ({ batchPhase: 'sending', sent: null } as const)
  const queued = await updateRun(trx, actor.org, id, { ...change, ...again })
  await jobs.enqueue(trx, evaluateRun, { organizationId: actor.org, runId: id, resumes })
  await recordAudit(trx, actor, 'monitor.resume-evaluation', { type: 'run', id })
  return queued
}

/**
 * Identifies a run and how often it was resumed. When a run is resumed, a new job replaces the old one, which must no
 * longer change the run.
 */
type OwnRun = { id: string; resumes: number }

/** Locks the run. Returns undefined if it was deleted or another job replaced this one. */
const lockOwnRun = async (trx: Db, org: OrgId, { id, resumes }: OwnRun): Promise<Run | undefined> => {
  const run = await lockRun(trx, org, id)
  return run?.resumes === resumes ? run : undefined
}

type RunChange = Parameters<typeof updateRun>[3]

/** Changes the status of a run if the transition is allowed. Does nothing if the run has ended in the meantime. */
const moveRun = async (trx: Db, org: OrgId, own: OwnRun, to: RunStatus, change: RunChange): Promise<void> => {
  const run = await lockOwnRun(trx, org, own)
  if (!run || !canMove(run.status, to)) return
  await updateRun(trx, org, run.id, { ...change, status: to })
  await publishRun(trx, org, run.id)
}

const begin = async ({ clock }: EvaluationDeps, trx: Db, org: OrgId, own: OwnRun): Promise<Run | undefined> => {
  const run = await lockOwnRun(trx, org, own)
  if (run?.status === 'running') return run
  if (run?.status !== 'queued') return undefined
  await publishRun(trx, org, run.id)
  return updateRun(trx, org, run.id, { status: 'running', startedAt: run.startedAt ?? clock.now() })
}

/**
 * Ends a run. The run is complete unless there is a failure. Conversations that were erased before their page was
 * evaluated are not counted.
 */
const end = (deps: EvaluationDeps, attempt: Attempt, org: OrgId, run: Run, failure?: string) =>
  attempt.finish((trx) => {
    const finishedAt = deps.clock.now()
    if (failure !== undefined) return moveRun(trx, org, run, 'failed', { failure, finishedAt })
    return moveRun(trx, org, run, 'completed', { total: run.scored + run.unscored + run.failed, finishedAt })
  })

/** Enqueues the next job and completes this one in the same transaction. */
const goOn = (deps: EvaluationDeps, attempt: Attempt, org: OrgId, run: Run, pause?: Pause) =>
  attempt.finish(async (trx) => {
    if ((await lockOwnRun(trx, org, run))?.status !== 'running') return
    if (pause) await updateRun(trx, org, run.id, { waits: pause.waits })
    await deps.jobs.enqueue(
      trx,
      evaluateRun,
      { organizationId: org, runId: run.id, resumes: run.resumes },
      { afterSeconds: pause?.afterSeconds ?? 0 },
    )
  })

const whenStopped = (deps: EvaluationDeps, attempt: Attempt, org: OrgId, run: Run, stop: Stop) => {
  const pause = pauseAfter(stop, run.waits)
  return 'failure' in pause ? end(deps, attempt, org, run, pause.failure) : goOn(deps, attempt, org, run, pause)
}

/** Returns the conversations of the next page. */
const readPage = async (deps: EvaluationDeps, org: OrgId, run: Run, { kind, definition }: StoredMonitor) => {
  const { judge } = deps
  const size = kind === 'judge' ? pagesOfJudges * (await judge.concurrencyOf(org, definition)) : rulePageSize
  const { afterStartedAt: startedAt, afterId: id } = run
  const after = startedAt && id !== null ? { startedAt, id } : undefined
  return findNextPage(deps, org, run.population, { size, after })
}

/**
 * Evaluates and counts the next page. Returns whether there may be more pages. If it returns false, the job has ended.
 */
const advance = async (deps: EvaluationDeps, attempt: Attempt, org: OrgId, run: Run): Promise<boolean> => {
  const finished = async (ending: Promise<unknown>) => {
    await ending
    return false
  }
  const pinned = [{ id: run.monitorId, number: run.monitorVersion }]
  const [monitor] = await findMonitorsAtVersions(deps.db, org, pinned)
  if (!monitor) return finished(end(deps, attempt, org, run, monitorIsGone))
  if (run.batchPhase !== null && run.batchPhase !== 'ended') {
    const pause = await planBatches(deps, org, { run, monitor, attempt })
    return pause ? finished(whenStopped(deps, attempt, org, run, pause)) : true
  }
  const page = await readPage(deps, org, run, monitor)
  const last = page.at(-1)
  if (!last) return finished(end(deps, attempt, org, run))
  const ids = page.map((conversation) => conversation.id)
  const isEnded = async () => {
    const present = await findRun(deps.db, org, run.id)
    return present?.status !== 'running' || present.resumes !== run.resumes
  }
  const task = { monitor, since: run.startedAt ?? run.createdAt, isEnded, ids, attempt }
  const stop = await evaluatePage(deps, org, task)
  if (stop) return finished(whenStopped(deps, attempt, org, run, stop))
  const isCounted = await attempt.transaction(async (trx) => {
    const present = await lockOwnRun(trx, org, run)
    if (present?.status !== 'running') return false
    await advanceRun(trx, org, run.id, { ...(await countOutcomes(trx, org, run, ids)), after: last })
    await publishRun(trx, org, run.id)
    return true
  })
  return isCounted || finished(attempt.finish(async () => {}))
}

/**
 * Processes a run page by page. A page is evaluated first, and then counted and completed in one transaction. After a
 * failure in between, the run repeats the same page, but only calls judges for missing results.
 */
export const evaluateRun = defineJob({
  name: 'evaluation.run',
  payload: Type.Object({ organizationId: OrganizationId, runId: Type.String(), resumes: Type.Integer() }),
  // The jobs mostly wait: judges for their endpoints, and rules for a thread.
  concurrency: 8,
  retryLimit: 20,
  retryDelaySeconds: 2,
  // A judge may wait a long time for its endpoint.
  timeoutSeconds: 60 * 60,
  run: async (deps: EvaluationDeps, { organizationId, runId, resumes }, attempt) => {
    const org = organizationId
    const endsAt = performance.now() + turnMs
    for (;;) {
      attempt.signal.throwIfAborted()
      const run = await attempt.transaction((trx) => begin(deps, trx, org, { id: runId, resumes }))
      if (!run) return attempt.finish(async () => {})
      if (!(await advance(deps, attempt, org, run))) return
      if (performance.now() >= endsAt) return goOn(deps, attempt, org, run)
    }
  },
  onFailed: async ({ clock }, { organizationId, runId, resumes }, trx) => {
    await moveRun(trx, organizationId, { id: runId, resumes }, 'failed', {
      failure: 'The evaluation failed repeatedly. See the log of the service.',
      finishedAt: clock.now(),
    })
  },
})
