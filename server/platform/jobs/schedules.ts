// Does the recurring work of the queue: enqueues scheduled jobs, and deletes old ones. Every worker process does this,
// but each run is enqueued once.
import { Cron } from 'croner'
import { sql } from 'kysely'
import type { Db } from '../db/database.ts'
import type { Log } from '../log.ts'
import type { Job } from './define-job.ts'
import { deleteEnded } from './queries.ts'

const lookEveryMs = 5_000
const deleteEveryMs = 60_000
const deletedAtOnce = 5_000

type Schedule = { name: string; nextAt: Date | null; now: Date }

const listSchedules = async (db: Db, names: string[]): Promise<Schedule[]> => {
  const { rows } = await sql<Schedule>`
    SELECT kind.name, next_at AS "nextAt", date_trunc('milliseconds', now()) AS now
    FROM unnest(${names}::text[]) AS kind (name) LEFT JOIN job_schedules USING (name)`.execute(db)
  return rows
}

/** Stores the next time of a schedule. Returns false if another process has already done this. */
const moveSchedule = async (trx: Db, { name, nextAt }: Schedule, next: Date): Promise<boolean> => {
  const { rows } = await (nextAt === null
    ? sql`INSERT INTO job_schedules (name, next_at) VALUES (${name}, ${next}) ON CONFLICT DO NOTHING RETURNING 1`
    : sql`UPDATE job_schedules SET next_at = ${next} WHERE name = ${name} AND next_at = ${nextAt} RETURNING 1`
  ).execute(trx)
  return rows.length === 1
}

export type SchedulesOptions<D> = {
  db: Db
  log: Log
  jobs: Job<D>[]
  enqueue: (trx: Db, job: Job<D>) => Promise<unknown>
}

/**
 * Enqueues scheduled jobs that are due according to the database's clock, and stores their next time. One run replaces
 * all runs that were missed while no process was running. Throws if a schedule is invalid.
 */
export const openSchedules = <D>({ db, log, jobs, enqueue }: SchedulesOptions<D>) => {
  const scheduled = new Map(
    jobs.flatMap((job) =>
      job.schedule ? [[job.name, { job, cron: new Cron(job.schedule, { timezone: 'UTC' }) }]] : [],
    ),
  )
  let timer: NodeJS.Timeout | undefined
  let working = Promise.resolve()
  let closed = false
  let deletedAt = Number.NEGATIVE_INFINITY

  const enqueueDue = async () => {
    for (const schedule of await listSchedules(db, [...scheduled.keys()])) {
      const { job, cron } = scheduled.get(schedule.name) ?? {}
      const next = cron?.nextRun(schedule.now)
      if (!job || !next) continue
      const { nextAt, now } = schedule
      const isDue = nextAt !== null && nextAt <= now
      // If the stored time is later than the calculated one, the clock was set back or the schedule was changed.
      if (nextAt !== null && !isDue && nextAt <= next) continue
      await db.transaction().execute(async (trx) => {
        if ((await moveSchedule(trx, schedule, next)) && isDue) await enqueue(trx, job)
      })
    }
  }

  const check = async () => {
    try {
      await enqueueDue()
      if (performance.now() - deletedAt < deleteEveryMs) return
      while (!closed && (await deleteEnded(db, deletedAtOnce)) === deletedAtOnce);
      deletedAt = performance.now()
    } catch (error) {
      if (!closed) log.warn({ err: error }, 'checking the schedules failed, retrying in seconds')
    }
  }

  const goOn = () => {
    working = check().then(() => {
      if (!closed) timer = setTimeout(goOn, lookEveryMs)
    })
  }
  goOn()

  return {
    close: async () => {
      closed = true
      clearTimeout(timer)
      await working
    },
  }
}
