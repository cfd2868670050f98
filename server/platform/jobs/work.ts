// Runs the loops of a worker. When jobs are due, it runs as many attempts of each job at once as allowed.
import type { Db, OrgId } from '../db/database.ts'
import type { Log } from '../log.ts'
import { beginSpan, endSpan, within } from '../telemetry/span.ts'
import { AttemptEnded, type AttemptOutcome, runAttempt, type TakenJob } from './attempt.ts'
import type { Job } from './define-job.ts'
import type { Claim } from './queries.ts'
import type { Room, TakenJobs } from './take-jobs.ts'

export type SettledAttempt = AttemptOutcome & { durationSeconds: number }

export type WorkOptions<D> = {
  db: Db
  log: Log
  jobs: Job<D>[]
  deps: D
  take: (name: string, room: Room) => Promise<TakenJobs>
  onSettled: (settled: SettledAttempt) => void
}

type Run = { claim: TakenJob; end: AbortController; done: Promise<void> }

export type RunningJobs = {
  wake: (name: string) => void
  running: () => Claim[]
  lose: (claim: Claim) => void
  stop: (timeoutMs: number) => Promise<void>
}

const countByOrganization = (runs: Iterable<Run>): Map<OrgId, number> => {
  const counts = new Map<OrgId, number>()
  for (const { claim } of runs) counts.set(claim.org, (counts.get(claim.org) ?? 0) + 1)
  return counts
}

export const logOutcome = (log: Log, { name, jobId, number, result, error }: AttemptOutcome) => {
  const fields = { job: name, jobId, number, result, ...(error === undefined ? {} : { err: error }) }
  if (result === 'dead') log.error(fields, 'a job is dead')
  else if (error !== undefined || result === 'stale') log.warn(fields, 'an attempt of a job failed')
  else log.debug(fields, 'an attempt of a job ended')
}

export const openWork = <D>({ db, log, jobs, deps, take, onSettled }: WorkOptions<D>): RunningJobs => {
  const newQueue = (job: Job<D>) => {
    // `isEmpty` means that all waiting jobs are taken and no notification about others has arrived.
    return { job, runs: new Set<Run>(), filling: false, again: false, isEmpty: false }
  }
  const queues = new Map(jobs.map((job) => [job.name, newQueue(job)]))
  type Queue = NonNullable<ReturnType<typeof queues.get>>
  let stopping = false
  const fillings = new Set<Promise<void>>()

  const execute = async (job: Job<D>, claim: TakenJob, end: AbortController) => {
    const startedAt = performance.now()
    const fields = { job: claim.name, jobId: claim.id, number: claim.number }
    const span = beginSpan(`job ${claim.name}`, {
      kind: 'job',
      attributes: { 'earshot.job.id': claim.id, 'earshot.job.attempt': claim.number },
    })
    try {
      const attempt = () => runAttempt(db, job, deps, claim, end)
      const outcome = await (span ? within(span, attempt) : attempt())
      span?.setAttribute('earshot.job.result', outcome.result)
      endSpan(span, outcome.error)
      logOutcome(log, outcome)
      onSettled({ ...outcome, durationSeconds: (performance.now() - startedAt) / 1000 })
    } catch (error) {
      endSpan(span, error)
      // The end of the attempt could not be stored. The lease is not renewed, so this worker or another one takes over
      // the job.
      log.error({ ...fields, err: error }, 'storing the end of an attempt failed')
    }
  }

  const start = (queue: Queue, claim: TakenJob) => {
    const end = new AbortController()
    const run: Run = { claim, end, done: Promise.resolve() }
    queue.runs.add(run)
    run.done = execute(queue.job, claim, end).finally(() => {
      queue.runs.delete(run)
      if (queue.filling || !queue.isEmpty) wake(claim.name)
    })
  }

  const fill = async (queue: Queue) => {
    queue.filling = true
    try {
      do {
        queue.again = false
        queue.isEmpty = false
        const free = queue.job.concurrency - queue.runs.size
        if (free <= 0 || stopping) break
        const taken = await take(queue.job.name, { free, running: countByOrganization(queue.runs) })
        for (const claim of taken.jobs) start(queue, claim)
        queue.isEmpty = taken.areAll
      } while (queue.again)
    } catch (error) {
      log.warn({ job: queue.job.name, err: error }, 'fetching jobs failed, retrying within a second')
    } finally {
      queue.filling = false
    }
  }

  const wake = (name: string) => {
    const queue = queues.get(name)
    if (!queue || stopping) return
    if (queue.filling) {
      queue.again = true
      return
    }
    const filling = fill(queue).finally(() => fillings.delete(filling))
    fillings.add(filling)
  }

  const allRuns = () => [...queues.values()].flatMap((queue) => [...queue.runs])

  return {
    wake,
    running: () => allRuns().map((run) => run.claim),
    lose: (claim) => {
      for (const run of allRuns()) {
        if (run.claim.id === claim.id && run.claim.attempt === claim.attempt) {
          run.end.abort(new AttemptEnded('taken over'))
        }
      }
    },
    stop: async (timeoutMs) => {
      stopping = true
      await Promise.all(fillings)
      const timeout = Promise.withResolvers<void>()
      const timer = setTimeout(timeout.resolve, timeoutMs)
      await Promise.race([Promise.all(allRuns().map((run) => run.done)), timeout.promise])
      clearTimeout(timer)
      const left = allRuns()
      for (const run of left) run.end.abort(new AttemptEnded('stopping'))
      await Promise.all(left.map((run) => run.done))
    },
  }
}
