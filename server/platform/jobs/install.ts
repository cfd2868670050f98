import { createHash } from 'node:crypto'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { MigrationStep, RequiredStep } from '../db/migrate.ts'
import { heartbeatSeconds, queueConnection } from './connection.ts'
import type { Job } from './define-job.ts'
import { retentionSeconds, uncountedFrom } from './queries.ts'

const packageVersion = '12.35.0'
const longestExpirySeconds = 24 * 3600
const waitingRetentionSeconds = 10 * 365 * 24 * 3600
/** pg-boss's own queue, through which it sends what is scheduled. */
const scheduleQueue = '__pgboss__send-it'

const queueOptions = (job: Job) => ({
  retryLimit: uncountedFrom,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 600,
  // A backstop behind the worker's own clock.
  expireInSeconds: Math.min(job.timeoutSeconds + 60, longestExpirySeconds),
  heartbeatSeconds,
  retentionSeconds: waitingRetentionSeconds,
  deleteAfterSeconds: retentionSeconds.completed,
  notify: true,
})

const fingerprint = (jobs: Job[]): string => {
  const settings = jobs.map((job) => [job.name, job.schedule ?? null, queueOptions(job)])
  return createHash('sha256')
    .update(JSON.stringify([packageVersion, settings]))
    .digest('hex')
}

/** Of what is installed, which is written last. */
const readFingerprint = async (client: pg.ClientBase): Promise<string | null> => {
  const { rows } = await client.query<{ installed: string | null }>(
    "SELECT obj_description(to_regnamespace('pgboss')::oid, 'pg_namespace') AS installed",
  )
  return rows[0]?.installed ?? null
}

const isInstalled = async (client: pg.ClientBase, jobs: Job[]): Promise<boolean> =>
  (await readFingerprint(client)) === fingerprint(jobs)

const install = async (connection: pg.PoolConfig, jobs: Job[]): Promise<void> => {
  const boss = new PgBoss({ ...queueConnection(connection), max: 1, supervise: false, schedule: false, migrate: true })
  boss.on('error', () => {}) // Of idle connections; whatever matters here rejects.
  try {
    await boss.start()
    // One that was interrupted while it sent what is scheduled is tried again soon.
    await boss.createQueue(scheduleQueue)
    await boss.updateQueue(scheduleQueue, { expireInSeconds: 15 })
    for (const job of jobs) {
      // `short`: at most one waiting job per singleton key. The policy of a queue cannot be changed later, so
      // all have it, and a job without a key is given one of its own.
      await boss.createQueue(job.name, { ...queueOptions(job), policy: 'short' })
      await boss.updateQueue(job.name, queueOptions(job))
      if (job.schedule) await boss.schedule(job.name, job.schedule, {}, { tz: 'UTC', missed: 'once' })
    }
    const scheduled = new Set(jobs.filter((job) => job.schedule).map((job) => job.name))
    for (const { name } of await boss.getSchedules()) {
      if (!scheduled.has(name)) await boss.unschedule(name)
    }
  } finally {
    await boss.stop({ graceful: false })
  }
}

/**
 * Makes or updates the queue's own tables, one queue per job, and the schedules, so that processes without a
 * worker can enqueue. Several processes may race; nothing is done where it was done already.
 */
export const installSchema = async (connection: pg.PoolConfig, jobs: Job[]): Promise<void> => {
  const client = new pg.Client(connection)
  client.on('error', () => {}) // Its queries reject too.
  await client.connect()
  try {
    await client.query("SELECT pg_advisory_lock(hashtextextended('earshot.jobs.install', 0))")
    if (await isInstalled(client, jobs)) return
    await install(connection, jobs)
    await client.query(`COMMENT ON SCHEMA pgboss IS '${fingerprint(jobs)}'`)
  } finally {
    await client.end()
  }
}

export const queueSchemaStep = (connection: pg.PoolConfig, jobs: Job[]): MigrationStep => ({
  name: 'job queue',
  isPending: async (client) => !(await isInstalled(client, jobs)),
  run: () => installSchema(connection, jobs),
})

/** For who gives no jobs away but to the workers of a service, whose settings hold, of whichever version it is. */
export const queuePresence: RequiredStep = {
  name: 'job queue',
  isPending: async (client) => (await readFingerprint(client)) === null,
}
