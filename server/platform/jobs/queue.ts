// The queue is a database table, so that jobs can be enqueued in the transactions that need them.
import type { Database, Db, OrgId } from '../db/database.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { type AttemptOutcome, runAttempt } from './attempt.ts'
import type { Job } from './define-job.ts'
import { openPresence } from './presence.ts'
import {
  countJobs,
  type DeadJob,
  insertJob,
  insertJobs,
  type JobState,
  listDead,
  listWaitingNames,
  lockWaitingShared,
  releaseDelayed,
  retryDead,
  returnAllActive,
  systemOrganization,
} from './queries.ts'
import { openSchedules } from './schedules.ts'
import { openTaker } from './take-jobs.ts'
import { logOutcome, openWork, type SettledAttempt } from './work.ts'

/**
 * The owner of the job. Workers take turns between organizations. The default is the payload's `organizationId`. If
 * there is none, the job belongs to the service.
 */
type Owner = { org?: OrgId }

export type EnqueueOptions = Owner & {
  /** While a job with this key waits for its first run, its organization can't enqueue a second one. */
  singletonKey?: string
  /** The delay, measured by the database's clock, which determines when jobs are due. */
  afterSeconds?: number
  priority?: number
}

export type WorkerOptions = {
  workerId: string
  /**
   * No other process uses this database. All active jobs were left by a dead process, so they are returned immediately.
   */
  assumeSoleWorker?: boolean
  onSettled?: (settled: SettledAttempt) => void
}

export type DrainOptions = {
  /** Whether to also run delayed jobs, such as retries and jobs for the next day. */
  delayed?: boolean
  /** Unless this is set, `drain` throws if an attempt does not complete. */
  allowFailures?: boolean
}

export type Jobs = {
  /**
   * Enqueues a job and returns its ID. If a job with the same singleton key is already waiting, returns the ID of that
   * job.
   */
  enqueue: <P extends object>(
    trx: Db,
    job: Job<never, P>,
    payload: NoInfer<P>,
    options?: EnqueueOptions,
  ) => Promise<string>
  enqueueMany: <P extends object>(
    trx: Db,
    job: Job<never, P>,
    payloads: NoInfer<P>[],
    options?: Owner & Pick<EnqueueOptions, 'singletonKey'>,
  ) => Promise<string[]>
  start: <D>(jobs: Job<D>[], deps: D, options: WorkerOptions) => Promise<void>
  /** Waits for running jobs, and then returns the others to the queue. */
  stop: (options: { timeoutMs: number }) => Promise<void>
  /** Returns whether this process is a worker and its connection for taking jobs works. */
  isWorking: () => boolean
  /** Runs this process's due jobs one after the other, until none are left. Used by tests and commands. */
  drain: <D>(jobs: Job<D>[], deps: D, options?: DrainOptions) => Promise<AttemptOutcome[]>
  listDead: (options: { limit: number; after?: { diedAt: Date; id: string } }) => Promise<DeadJob[]>
  retryDead: (ids: string[] | 'all') => Promise<string[]>
  counts: () => Promise<{ name: string; state: JobState; count: number }[]>
  close: () => Promise<void>
}

const drainLimit = 10_000

const ownerOf = (payload: object, { org }: Owner): OrgId =>
  org ?? ('organizationId' in payload ? (payload.organizationId as OrgId | undefined) : undefined) ?? systemOrganization

export const openJobs = ({ database, log }: { database: Database; log: Log }): Jobs => {
  const { db } = database
  const taker = openTaker(database)

  const enqueue: Jobs['enqueue'] = async (trx, job, payload, options = {}) => {
    const { name, priority } = job
    const org = ownerOf(payload, options)
    const { singletonKey } = options
    for (;;) {
      const made = await insertJob(trx, { org, id: newId(), payload }, { name, priority, ...options })
      const waiting = made ?? (singletonKey && (await lockWaitingShared(trx, org, name, singletonKey)))
      if (waiting) return waiting
    }
  }

  let stopWorker: ((timeoutMs: number) => Promise<void>) | undefined
  let isConnected = () => false

  const start: Jobs['start'] = async (jobs, deps, { workerId, assumeSoleWorker, onSettled = () => {} }) => {
    if (stopWorker) throw new Error('This process is already running jobs')
    if (assumeSoleWorker) {
      const returned = await returnAllActive(db)
      if (returned > 0) log.warn({ jobs: returned }, 'queued the jobs of a process that died again')
    }
    const work = openWork({
      db,
      log,
      jobs,
      deps,
      onSettled,
      take: async (name, room) =>
        presence.isConnected() ? taker.take(name, room, presence.workerKey) : { jobs: [], areAll: false },
    })
    const names = jobs.map((job) => job.name)
    const presence = await openPresence({
      connection: database.connection,
      applicationName: `earshot worker ${workerId}`.slice(0, 63),
      log,
      names,
      onWaiting: work.wake,
      running: work.running,
      onLost: work.lose,
    })
    const schedules = openSchedules({
      db,
      log,
      jobs,
      enqueue: (trx, job) => enqueue(trx, job as Job<never, object>, {}, { singletonKey: 'schedule' }),
    })
    stopWorker = async (timeoutMs) => {
      await schedules.close()
      await work.stop(timeoutMs)
      await presence.close()
    }
    isConnected = presence.isConnected
    for (const name of names) work.wake(name)
  }

  const stop: Jobs['stop'] = async ({ timeoutMs }) => {
    const stopping = stopWorker
    stopWorker = undefined
    isConnected = () => false
    await stopping?.(timeoutMs)
  }

  const drain: Jobs['drain'] = async (jobs, deps, { delayed = false, allowFailures = false } = {}) => {
    const outcomes: AttemptOutcome[] = []
    const names = jobs.map(({ name }) => name)
    const listWaiting = async () => {
      await releaseDelayed(db)
      if (delayed) await releaseDelayed(db, names)
      return listWaitingNames(db)
    }
    const run = async (job: (typeof jobs)[number], taken: Parameters<typeof runAttempt>[3]) => {
      const outcome = await runAttempt(db, job, deps, taken, new AbortController())
      logOutcome(log, outcome)
      outcomes.push(outcome)
      if (outcome.result !== 'completed' && !allowFailures) {
        throw new Error(`drain: ${outcome.name} was ${outcome.result}`, { cause: outcome.error })
      }
      if (outcomes.length > drainLimit) throw new Error(`drain: no end after ${drainLimit} attempts`)
    }
    for (let ranBefore = -1; outcomes.length > ranBefore; ) {
      ranBefore = outcomes.length
      let waiting = await listWaiting()
      for (const job of jobs) {
        if (!waiting.has(job.name)) continue
        const { jobs: takenJobs } = await taker.take(job.name, { free: 1, running: new Map() }, null)
        for (const taken of takenJobs) await run(job, taken)
        waiting = await listWaiting()
      }
    }
    return outcomes
  }

  return {
    enqueue,
    enqueueMany: async (trx, job, payloads, options = {}) => {
      if (payloads.length === 0) return []
      const rows = payloads.map((payload) => ({ org: ownerOf(payload, options), id: newId(), payload }))
      return insertJobs(trx, rows, { ...job, ...options })
    },
    start,
    stop,
    isWorking: () => isConnected(),
    drain,
    listDead: ({ limit, after }) => listDead(db, limit, after),
    retryDead: (ids) => retryDead(db, ids === 'all' ? undefined : ids),
    counts: () => countJobs(db),
    close: async () => {
      await stop({ timeoutMs: 10_000 })
      await taker.close()
    },
  }
}
