// The queue is pg-boss on the same database, so that a job is enqueued in the transaction that asks for it.
import { fromKysely, PgBoss } from 'pg-boss'
import type { Database, Db } from '../db/database.ts'
import { newId } from '../ids.ts'
import type { Log } from '../log.ts'
import { type Outcome, runAttempt, type TakenJob } from './attempt.ts'
import { queueConnection } from './connection.ts'
import type { Job } from './define-job.ts'
import { openPresence } from './presence.ts'
import {
  countJobs,
  type DeadJob,
  holdWaiting,
  insertHolders,
  type JobState,
  listDead,
  listDueNames,
  retryDead,
  returnAllActive,
  uncountedFrom,
} from './queries.ts'
import { logOutcome, openWork, type Settled } from './work.ts'

export type EnqueueOptions = {
  /** While a job of this key waits for its first run, no second one is made. */
  singletonKey?: string
  /** By the clock of the database, which alone says what is due: this process's may be another. */
  afterSeconds?: number
  priority?: number
}

export type WorkerOptions = {
  workerId: string
  /** No other process works on this database: what is active was left by a dead one, and is returned at once. */
  assumeSoleWorker?: boolean
  onSettled?: (settled: Settled) => void
}

export type DrainOptions = {
  /** Also what is due later: retries that wait for their delay, jobs for tomorrow. */
  delayed?: boolean
  /** Otherwise an attempt that does not complete makes drain throw. */
  allowFailures?: boolean
}

export type Jobs = {
  /** The job's id. With a singleton key, that of the job which waits already, if one does. */
  enqueue: <P extends object>(
    trx: Db,
    job: Job<never, P>,
    payload: NoInfer<P>,
    options?: EnqueueOptions,
  ) => Promise<string>
  enqueueMany: <P extends object>(trx: Db, job: Job<never, P>, payloads: NoInfer<P>[]) => Promise<string[]>
  start: <D>(jobs: Job<D>[], deps: D, options: WorkerOptions) => Promise<void>
  /** Waits for running jobs, then returns the rest to the queue. */
  stop: (options: { timeoutMs: number }) => Promise<void>
  /** Whether this process has started to work, and has the connection that it takes jobs by. */
  isWorking: () => boolean
  /** Runs what is due, in this process and one after the other, until nothing is left. For tests and commands. */
  drain: <D>(jobs: Job<D>[], deps: D, options?: DrainOptions) => Promise<Outcome[]>
  listDead: (options: { limit: number; after?: { diedAt: Date; id: string } }) => Promise<DeadJob[]>
  retryDead: (ids: string[] | 'all') => Promise<string[]>
  counts: () => Promise<{ name: string; state: JobState; count: number }[]>
  close: () => Promise<void>
}

const drainLimit = 10_000

export const openJobs = async ({ database, log }: { database: Database; log: Log }): Promise<Jobs> => {
  const { db } = database
  // Its pool, too, says that it has ended before its last connections are gone, which the server may cut then.
  let closing = false
  const report = (boss: PgBoss) => {
    boss.on('error', (error) => !closing && log.warn({ err: error }, 'the queue met an error and goes on'))
    boss.on('warning', ({ message }) => log.warn({ warning: message }, 'the queue warns'))
    return boss
  }
  const boss = report(
    new PgBoss({
      ...queueConnection(database.connection),
      max: 2,
      supervise: false,
      schedule: false,
      migrate: false,
      queueCacheIntervalSeconds: 60,
    }),
  )
  await boss.start()

  const take = async (
    name: string,
    limit: number,
    workerKey: number | null,
    ignoreStartAfter = false,
  ): Promise<TakenJob[]> =>
    db.transaction().execute(async (trx) => {
      const rows = await boss.fetch(name, {
        batchSize: limit,
        includeMetadata: true,
        ignoreStartAfter,
        db: fromKysely(trx),
      })
      // pg-boss chooses by priority and age, and gives what it chose in any order.
      rows.sort((a, b) => b.priority - a.priority || Number(a.createdOn) - Number(b.createdOn))
      const taken = rows.map((row) => ({
        name,
        id: row.id,
        attempt: row.retryCount,
        number: row.retryCount + 1 - (row.retryLimit - uncountedFrom),
        payload: row.data,
      }))
      if (taken.length > 0) await insertHolders(trx, taken, workerKey)
      return taken
    })

  const enqueue: Jobs['enqueue'] = async (trx, job, payload, { singletonKey, afterSeconds = 0, priority } = {}) => {
    const id = newId()
    for (;;) {
      const made = await boss.send(job.name, payload, {
        id,
        singletonKey: singletonKey ?? id,
        priority: priority ?? job.priority,
        startAfter: afterSeconds,
        db: fromKysely(trx),
      })
      const waiting = made ?? (await holdWaiting(trx, job.name, singletonKey ?? id))
      if (waiting) return waiting
    }
  }

  let stopWorker: ((timeoutMs: number) => Promise<void>) | undefined
  let isConnected = () => false

  const start: Jobs['start'] = async (jobs, deps, { workerId, assumeSoleWorker, onSettled = () => {} }) => {
    if (stopWorker) throw new Error('This process works already')
    if (assumeSoleWorker) {
      const returned = await returnAllActive(db)
      if (returned > 0) log.warn({ jobs: returned }, 'returned the jobs of a process that died')
    }
    // Keeps what needs no worker of ours: schedules, the deletion of old jobs, and expiry as a last resort.
    const keeper = report(
      new PgBoss({
        db: boss.getDb(),
        schema: 'pgboss',
        supervise: true,
        superviseIntervalSeconds: 30,
        monitorIntervalSeconds: 30,
        maintenanceIntervalSeconds: 60,
        schedule: true,
        cronMonitorIntervalSeconds: 15,
        cronWorkerIntervalSeconds: 5,
        flowIntervalSeconds: 3600,
        migrate: true,
      }),
    )
    const work = openWork({
      db,
      log,
      jobs,
      deps,
      onSettled,
      take: async (name, limit) => (presence.isConnected() ? await take(name, limit, presence.workerKey) : []),
    })
    const names = jobs.map((job) => job.name)
    const presence = await openPresence({
      connection: database.connection,
      applicationName: `earshot worker ${workerId}`.slice(0, 63),
      log,
      queues: names,
      onDue: (name) => work.wake(name),
      running: work.running,
      onLost: work.lose,
    })
    stopWorker = async (timeoutMs) => {
      await keeper.stop({ graceful: false, close: false })
      await work.stop(timeoutMs)
      await presence.close()
    }
    await keeper.start()
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
    const outcomes: Outcome[] = []
    for (let again = true; again; ) {
      again = false
      let due = await listDueNames(db, delayed)
      for (const job of jobs) {
        if (!due.has(job.name)) continue
        for (const taken of await take(job.name, 1, null, delayed)) {
          again = true
          const outcome = await runAttempt(db, job, deps, taken, new AbortController())
          logOutcome(log, outcome)
          outcomes.push(outcome)
          if (outcome.result !== 'completed' && !allowFailures) {
            throw new Error(`drain: ${outcome.name} was ${outcome.result}`, { cause: outcome.error })
          }
          if (outcomes.length > drainLimit) throw new Error(`drain: no end after ${drainLimit} attempts`)
        }
        due = await listDueNames(db, delayed)
      }
    }
    return outcomes
  }

  return {
    enqueue,
    enqueueMany: async (trx, job, payloads) => {
      if (payloads.length === 0) return []
      const rows = payloads.map((payload) => {
        const id = newId()
        return { id, singletonKey: id, data: payload, priority: job.priority }
      })
      await boss.insert(job.name, rows, { db: fromKysely(trx) })
      return rows.map((row) => row.id)
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
      closing = true
      await boss.stop({ graceful: false })
    },
  }
}
