// Every statement on the tables of the queue. The columns are those of the pinned pg-boss 12.35.
//
// An attempt is named by (id, retry_count): each time that a job is taken, retry_count rises. A statement that
// ends an attempt locks the row FOR UPDATE first, a transaction of the attempt holds it FOR KEY SHARE: so
// an attempt cannot be taken away in the middle of its own transaction, and heartbeats pass both.
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../db/database.ts'

/**
 * pg-boss must never give up on a job by itself, since only a worker can tell the product of it. So it is
 * given this limit, and a worker counts. What stands above it in a row are the runs that do not count.
 */
export const uncountedFrom = 1_000_000

export const retentionSeconds = { completed: 15 * 60, dead: 90 * 24 * 3600 }

export type Claim = { name: string; id: string; attempt: number }

const isOwned = (claim: Claim) =>
  sql`name = ${claim.name} AND id = ${claim.id} AND state = 'active' AND retry_count = ${claim.attempt}`

/** Whether the attempt still owns its job, which then stays so until the transaction ends. */
export const holdAttempt = async (trx: Db, claim: Claim): Promise<boolean> => {
  const { rows } = await sql`SELECT 1 FROM pgboss.job WHERE ${isOwned(claim)} FOR KEY SHARE`.execute(trx)
  return rows.length === 1
}

/** Ends an attempt; false when it had lost its job. The job is locked before its holder, here as in a takeover. */
const endAttempt = async (db: Db, claim: Claim, change: RawBuilder<unknown>): Promise<boolean> => {
  const { rows } = await sql`
    WITH owned AS (SELECT name, id FROM pgboss.job WHERE ${isOwned(claim)} FOR UPDATE),
    freed AS (DELETE FROM job_holders h USING owned WHERE h.job_id = owned.id AND h.attempt = ${claim.attempt})
    UPDATE pgboss.job j SET ${change} FROM owned WHERE j.name = owned.name AND j.id = owned.id RETURNING 1
  `.execute(db)
  return rows.length === 1
}

export const completeAttempt = (db: Db, claim: Claim) =>
  endAttempt(db, claim, sql`state = 'completed', completed_on = pgboss.job_now(), output = NULL`)

/** Whether it was this attempt that completed the job: each later one would have another number. */
export const isCompleted = async (db: Db, { name, id, attempt }: Claim): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM pgboss.job WHERE name = ${name} AND id = ${id} AND state = 'completed' AND retry_count = ${attempt}
  `.execute(db)
  return rows.length === 1
}

const outputOf = (message: string) => sql`jsonb_build_object('message', ${message}::text)`

export const retryAttempt = (db: Db, claim: Claim, delaySeconds: number, message: string) =>
  endAttempt(
    db,
    claim,
    sql`state = 'retry', heartbeat_on = NULL, output = ${outputOf(message)},
      start_after = pgboss.job_now() + ${delaySeconds}::float8 * interval '1 second'`,
  )

export const returnAttempt = (db: Db, claim: Claim) =>
  endAttempt(
    db,
    claim,
    sql`state = 'retry', heartbeat_on = NULL, start_after = pgboss.job_now(), retry_limit = retry_limit + 1`,
  )

export const buryAttempt = (trx: Db, claim: Claim, message: string) =>
  endAttempt(
    trx,
    claim,
    sql`state = 'failed', completed_on = pgboss.job_now(), output = ${outputOf(message)},
      deletion_seconds = ${retentionSeconds.dead}`,
  )

export const insertHolders = async (trx: Db, claims: Claim[], workerKey: number | null): Promise<void> => {
  const rows = claims.map((claim) => sql`(${claim.id}, ${claim.attempt}, ${claim.name}, ${workerKey}::integer)`)
  await sql`INSERT INTO job_holders (job_id, attempt, job_name, worker_key) VALUES ${sql.join(rows)}`.execute(trx)
}

/**
 * Holds a waiting job until the transaction ends: workers pass it over, so it will see what this transaction
 * writes. Undefined when it was taken meanwhile.
 */
export const holdWaiting = async (trx: Db, name: string, singletonKey: string): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM pgboss.job WHERE name = ${name} AND singleton_key = ${singletonKey} AND state = 'created'
    FOR KEY SHARE
  `.execute(trx)
  return rows[0]?.id
}

/** For a process that knows to be the only worker: whatever is active was left behind. */
export const returnAllActive = async (db: Db): Promise<number> => {
  const { rows } = await sql`
    WITH freed AS (DELETE FROM job_holders)
    UPDATE pgboss.job SET state = 'retry', heartbeat_on = NULL, start_after = pgboss.job_now(),
      output = ${outputOf('its worker died')}
    WHERE state = 'active' RETURNING 1
  `.execute(db)
  return rows.length
}

/** The names of jobs that can be taken, or that can with their time ignored. */
export const listDueNames = async (db: Db, ignoreStartAfter: boolean): Promise<Set<string>> => {
  const { rows } = await sql<{ name: string }>`
    SELECT DISTINCT name FROM pgboss.job WHERE state < 'active'
      ${ignoreStartAfter ? sql`` : sql`AND start_after <= pgboss.job_now()`}`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

export type DeadJob = { id: string; name: string; payload: unknown; attempts: number; error: string; diedAt: Date }

/** The newest first. A cursor is the last row's place. */
export const listDead = async (
  db: Db,
  limit: number,
  after: { diedAt: Date; id: string } | undefined,
): Promise<DeadJob[]> => {
  const { rows } = await sql<DeadJob>`
    SELECT id, name, data AS payload, retry_count + 1 - (retry_limit - ${uncountedFrom}) AS attempts,
      COALESCE(output->>'message', '') AS error, date_trunc('milliseconds', completed_on) AS "diedAt"
    FROM pgboss.job
    WHERE state = 'failed'
      ${after ? sql`AND (date_trunc('milliseconds', completed_on), id) < (${after.diedAt}, ${after.id}::uuid)` : sql``}
    ORDER BY date_trunc('milliseconds', completed_on) DESC, id DESC LIMIT ${limit}
  `.execute(db)
  return rows
}

/** Gives dead jobs all their attempts again. */
export const retryDead = async (db: Db, ids: string[] | undefined): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    UPDATE pgboss.job SET state = 'retry', completed_on = NULL, start_after = pgboss.job_now(),
      retry_limit = ${uncountedFrom} + retry_count + 1, deletion_seconds = ${retentionSeconds.completed}
    WHERE state = 'failed' ${ids ? sql`AND id = ANY(${ids}::uuid[])` : sql``}
    RETURNING id
  `.execute(db)
  return rows.map((row) => row.id)
}

export type JobState = 'waiting' | 'delayed' | 'active' | 'dead'

export const countJobs = async (db: Db): Promise<{ name: string; state: JobState; count: number }[]> => {
  const { rows } = await sql<{ name: string; state: JobState; count: number }>`
    SELECT name, CASE WHEN state = 'failed' THEN 'dead' WHEN state = 'active' THEN 'active'
      WHEN start_after > pgboss.job_now() THEN 'delayed' ELSE 'waiting' END AS state, count(*) AS count
    FROM pgboss.job WHERE state IN ('created', 'retry', 'active', 'failed') AND name NOT LIKE '\_\_pgboss\_\_%'
    GROUP BY 1, 2 ORDER BY 1, 2
  `.execute(db)
  return rows
}
