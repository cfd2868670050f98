// All statements on the queue's tables. An attempt is (organization, id, attempt), and `attempt` increases each time a
// job is taken. A statement that ends an attempt first locks the row FOR UPDATE, and a transaction of the attempt locks
// it FOR KEY SHARE. So an attempt can't be taken over during its own transaction. Renewing a lease is compatible with
// both locks.
import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../db/database.ts'
import { notify } from '../db/notify.ts'
import { orgIdOf } from '../ids.ts'

/** The owner of jobs without an organization. This is the highest UUID, which no organization has. */
export const systemOrganization = orgIdOf('ffffffff-ffff-ffff-ffff-ffffffffffff')

/** The channel for notifications about waiting jobs. The payload is the jobs' name. */
export const noticeChannel = 'earshot_jobs'

/** A worker that has not renewed its leases for this long loses its jobs. */
export const leaseSeconds = 10

const retention = { completed: '15 minutes', dead: '90 days' }

export type Claim = { org: OrgId; name: string; id: string; attempt: number }

type NewJob = {
  org: OrgId
  id: string
  payload: object
}

type Enqueuing = { name: string; priority: number; singletonKey?: string | undefined; afterSeconds?: number }

const announce = (trx: Db, name: string) => notify(trx, noticeChannel, name)

const unlessWaiting = sql`
  ON CONFLICT (organization_id, name, singleton_key) WHERE attempt = 0 AND singleton_key IS NOT NULL DO NOTHING
  RETURNING id`

/** Inserts a job. Returns undefined if a job with the same singleton key is already waiting. */
export const insertJob = async (
  trx: Db,
  { org, id, payload }: NewJob,
  { name, priority, singletonKey, afterSeconds = 0 }: Enqueuing,
): Promise<string | undefined> => {
  const state = afterSeconds > 0 ? 'delayed' : 'waiting'
  const { rows } = await sql<{ id: string }>`
    INSERT INTO jobs (organization_id, id, name, payload, state, priority, singleton_key, due_at)
    VALUES (${org}, ${id}, ${name}, ${JSON.stringify(payload)}, ${state}, ${priority}, ${singletonKey ?? null},
      now() + ${afterSeconds}::float8 * interval '1 second') ${unlessWaiting}
  `.execute(trx)
  if (rows.length > 0 && state === 'waiting') await announce(trx, name)
  return rows[0]?.id
}

/**
 * Inserts jobs and returns the IDs of the new ones. If a job with the same singleton key is already waiting, that job
 * does not change.
 */
export const insertJobs = async (trx: Db, jobs: NewJob[], enqueuing: Enqueuing): Promise<string[]> => {
  const [first, ...others] = jobs
  if (first && others.length === 0) {
    const id = await insertJob(trx, first, enqueuing)
    return id === undefined ? [] : [id]
  }
  const { name, priority, singletonKey } = enqueuing
  const [orgs, ids, payloads] = [
    jobs.map(({ org }) => org),
    jobs.map(({ id }) => id),
    jobs.map(({ payload }) => JSON.stringify(payload)),
  ]
  const { rows } = await sql<{ id: string }>`
    INSERT INTO jobs (organization_id, id, name, payload, state, priority, singleton_key, due_at)
    SELECT organization_id, id, ${name}, payload::jsonb, 'waiting', ${priority}, ${singletonKey ?? null}, now()
    FROM unnest(${orgs}::uuid[], ${ids}::uuid[], ${payloads}::text[]) AS job (organization_id, id, payload)
    ${unlessWaiting}
  `.execute(trx)
  if (rows.length > 0) await announce(trx, name)
  return rows.map(({ id }) => id)
}

/**
 * Locks a job that waits for its first attempt until the transaction ends. Workers skip the job until then, so it will
 * see the data that the transaction writes. Returns undefined if the job was taken in the meantime.
 */
export const lockWaitingShared = async (
  trx: Db,
  org: OrgId,
  name: string,
  singletonKey: string,
): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM jobs WHERE organization_id = ${org} AND name = ${name} AND singleton_key = ${singletonKey}
      AND attempt = 0 FOR KEY SHARE
  `.execute(trx)
  return rows[0]?.id
}

/** Lists all organizations, for work that can't list due organizations. */
export const listOrganizationsAllOrgs = (db: Db) =>
  db.selectFrom('organizations').select(sql<OrgId>`id`.as('id')).execute()

/** An organization with waiting jobs of one kind. `waiting` is only counted up to a limit. */
export type Backlog = { org: OrgId; waiting: number }

type OrganizationTurn = { after: string; organizations: number; jobsEach: number }

/**
 * Returns organizations with waiting jobs of this name, starting after `after`. No matter how many jobs are waiting,
 * this only reads a limited number of organizations, and a limited number of jobs for each.
 */
export const listBacklogs = async (
  db: Db,
  name: string,
  { after, organizations, jobsEach }: OrganizationTurn,
): Promise<Backlog[]> => {
  const next = (last: RawBuilder<unknown>) => sql`
    SELECT j.organization_id FROM jobs j WHERE j.name = ${name} AND j.state = 'waiting' AND j.organization_id > ${last}
    ORDER BY j.organization_id LIMIT 1`
  const { rows } = await sql<Backlog>`
    WITH RECURSIVE turn AS (
      SELECT (${next(sql`${after}::uuid`)}) AS organization_id, 1 AS number
      UNION ALL
      SELECT (${next(sql`turn.organization_id`)}), number + 1 FROM turn
      WHERE organization_id IS NOT NULL AND number < ${organizations}
    )
    SELECT organization_id AS org, (
      SELECT count(*) FROM (
        -- The order makes the planner use an index. Statistics never show how few jobs an organization may have.
        SELECT FROM jobs j WHERE j.name = ${name} AND j.state = 'waiting' AND j.organization_id = turn.organization_id
        ORDER BY j.priority DESC, j.due_at, j.id LIMIT ${jobsEach}) first_ones
    ) AS waiting
    FROM turn WHERE organization_id IS NOT NULL
  `.execute(db)
  return rows
}

export type TakenRow = Claim & { payload: unknown; uncounted: number; priority: number; dueAt: Date }

/** Takes a number of jobs from each organization: the jobs with the highest priority first, then the oldest. */
export const takeJobs = async (
  db: Db,
  name: string,
  shares: ReadonlyMap<OrgId, number>,
  workerKey: number | null,
): Promise<TakenRow[]> => {
  const { rows } = await sql<TakenRow>`
    WITH chosen AS (
      SELECT j.organization_id, j.id
      FROM unnest(${[...shares.keys()]}::uuid[], ${[...shares.values()]}::integer[]) AS share (organization_id, count)
      CROSS JOIN LATERAL (
        SELECT w.organization_id, w.id FROM jobs w
        WHERE w.name = ${name} AND w.state = 'waiting' AND w.organization_id = share.organization_id
        ORDER BY w.priority DESC, w.due_at, w.id LIMIT share.count FOR UPDATE SKIP LOCKED
      ) j
    )
    UPDATE jobs SET state = 'active', attempt = attempt + 1, worker_key = ${workerKey}::integer,
      lease_until = now() + ${leaseSeconds}::integer * interval '1 second'
    FROM chosen WHERE jobs.organization_id = chosen.organization_id AND jobs.id = chosen.id
    RETURNING jobs.organization_id AS org, name, jobs.id, attempt, payload, uncounted, priority, due_at AS "dueAt"
  `.execute(db)
  // UPDATE returns rows in any order, so they are sorted again.
  return rows.sort(
    (a, b) => b.priority - a.priority || Number(a.dueAt) - Number(b.dueAt) || (a.id < b.id ? -1 : Number(a.id > b.id)),
  )
}

const isOwned = ({ org, id, attempt }: Claim) =>
  sql`organization_id = ${org} AND id = ${id} AND state = 'active' AND attempt = ${attempt}`

/** Returns whether the attempt still owns its job. Locks the job until the transaction ends. */
export const lockAttempt = async (trx: Db, claim: Claim): Promise<boolean> => {
  const { rows } = await sql`SELECT 1 FROM jobs WHERE ${isOwned(claim)} FOR KEY SHARE`.execute(trx)
  return rows.length === 1
}

/** Ends an attempt. Returns false if the attempt has lost its job. */
const endAttempt = async (db: Db, claim: Claim, change: RawBuilder<unknown>): Promise<boolean> => {
  const { rows } = await sql`
    WITH owned AS (SELECT organization_id, id FROM jobs WHERE ${isOwned(claim)} FOR UPDATE)
    UPDATE jobs SET ${change}, worker_key = NULL, lease_until = NULL
    FROM owned WHERE jobs.organization_id = owned.organization_id AND jobs.id = owned.id RETURNING 1
  `.execute(db)
  return rows.length === 1
}

export const completeAttempt = (db: Db, claim: Claim) =>
  endAttempt(db, claim, sql`state = 'completed', ended_at = now(), error = NULL`)

/** Returns whether this attempt completed the job. A later attempt would have a different number. */
export const isCompleted = async (db: Db, { org, id, attempt }: Claim): Promise<boolean> => {
  const { rows } = await sql`
    SELECT 1 FROM jobs
    WHERE organization_id = ${org} AND id = ${id} AND state = 'completed' AND attempt = ${attempt}`.execute(db)
  return rows.length === 1
}

export const retryAttempt = (db: Db, claim: Claim, delaySeconds: number, message: string) =>
  endAttempt(
    db,
    claim,
    sql`state = 'delayed', error = ${message}, due_at = now() + ${delaySeconds}::float8 * interval '1 second'`,
  )

/** Returns the job to the queue. The run does not count. */
export const returnAttempt = (db: Db, claim: Claim) =>
  endAttempt(db, claim, sql`state = 'waiting', due_at = now(), uncounted = uncounted + 1`)

export const buryAttempt = (trx: Db, claim: Claim, message: string) =>
  endAttempt(trx, claim, sql`state = 'dead', ended_at = now(), error = ${message}`)

/**
 * Returns all active jobs to the queue. Only a sole worker may call this, because it assumes that a dead process left
 * these jobs behind.
 */
export const returnAllActive = async (db: Db): Promise<number> => {
  const { rows } = await sql`
    UPDATE jobs SET state = 'waiting', due_at = now(), worker_key = NULL, lease_until = NULL, error = 'its worker died'
    WHERE state = 'active' RETURNING 1
  `.execute(db)
  return rows.length
}

/** Makes delayed jobs due if their time has come. With `all`, makes every delayed job with one of these names due. */
export const releaseDelayed = async (db: Db, all?: string[]): Promise<void> => {
  await sql`
    UPDATE jobs SET state = 'waiting'
    WHERE state = 'delayed' AND ${all ? sql`name = ANY(${all}::text[])` : sql`due_at <= now()`}`.execute(db)
}

export const listWaitingNames = async (db: Db): Promise<Set<string>> => {
  const { rows } = await sql<{ name: string }>`SELECT DISTINCT name FROM jobs WHERE state = 'waiting'`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

export type DeadJob = { id: string; name: string; payload: unknown; attempts: number; error: string; diedAt: Date }

/** Lists dead jobs, newest first. A cursor is the position of the last row. */
export const listDead = async (
  db: Db,
  limit: number,
  after: { diedAt: Date; id: string } | undefined,
): Promise<DeadJob[]> => {
  const { rows } = await sql<DeadJob>`
    SELECT id, name, payload, attempt - uncounted AS attempts, coalesce(error, '') AS error, ended_at AS "diedAt"
    FROM jobs
    WHERE state = 'dead' ${after ? sql`AND (ended_at, id) < (${after.diedAt}, ${after.id}::uuid)` : sql``}
    ORDER BY ended_at DESC, id DESC LIMIT ${limit}
  `.execute(db)
  return rows
}

/** Restarts dead jobs with their full number of attempts. */
export const retryDead = async (db: Db, ids: string[] | undefined): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    UPDATE jobs SET state = 'waiting', ended_at = NULL, due_at = now(), uncounted = attempt
    WHERE state = 'dead' ${ids ? sql`AND id = ANY(${ids}::uuid[])` : sql``}
    RETURNING id
  `.execute(db)
  return rows.map((row) => row.id)
}

/** Deletes old jobs that have ended, up to a maximum number for each state. */
export const deleteEnded = async (db: Db, limit: number): Promise<number> => {
  let deleted = 0
  for (const [state, kept] of Object.entries(retention)) {
    const { rows } = await sql<{ count: number }>`
      WITH old AS (
        SELECT organization_id, id FROM jobs WHERE state = ${state} AND ended_at < now() - ${kept}::interval
        ORDER BY ended_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
      ),
      gone AS (
        DELETE FROM jobs USING old WHERE jobs.organization_id = old.organization_id AND jobs.id = old.id RETURNING 1
      )
      SELECT count(*) AS count FROM gone`.execute(db)
    deleted = Math.max(deleted, rows[0]?.count ?? 0)
  }
  return deleted
}

export type JobState = 'waiting' | 'delayed' | 'active' | 'dead'

export const countJobs = async (db: Db): Promise<{ name: string; state: JobState; count: number }[]> => {
  const { rows } = await sql<{ name: string; state: JobState; count: number }>`
    SELECT name, CASE WHEN state = 'delayed' AND due_at <= now() THEN 'waiting' ELSE state END AS state,
      count(*) AS count
    FROM jobs WHERE state <> 'completed' GROUP BY 1, 2 ORDER BY 1, 2
  `.execute(db)
  return rows
}
