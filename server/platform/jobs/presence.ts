// A worker's presence in the database: one connection of its own, which holds a session advisory lock (free at
// once when the process dies), listens for new jobs, keeps the heartbeats of running ones, and looks each second
// for work that is due and for jobs whose worker is gone.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import { notifyChannelSql } from 'pg-boss/dist/plans.js'
import type { Log } from '../log.ts'
import type { Claim } from './queries.ts'

const lockClass = 0x4541_5253
const lookEveryMs = 1_000
const reconnectAfterMs = 200
/** A look that takes longer means a dead connection: the server is asked little. */
const queryTimeoutMs = 5_000

const lockSql = `SELECT pg_try_advisory_lock(${lockClass}, $1) AS held`

// A row locked by its own attempt's last transaction is owned, and not waited for.
const heartbeatSql = `
  WITH running AS (SELECT * FROM unnest($1::text[], $2::uuid[], $3::integer[]) AS r (name, id, attempt)),
  free AS (
    SELECT j.name, j.id FROM pgboss.job j JOIN running r ON j.name = r.name AND j.id = r.id
    WHERE j.state = 'active' AND j.retry_count = r.attempt FOR NO KEY UPDATE OF j SKIP LOCKED
  ),
  beaten AS (
    UPDATE pgboss.job j SET heartbeat_on = pgboss.job_now() FROM free WHERE j.name = free.name AND j.id = free.id
  )
  SELECT r.id, r.attempt FROM pgboss.job j JOIN running r ON j.name = r.name AND j.id = r.id
  WHERE j.state = 'active' AND j.retry_count = r.attempt`

// The due jobs of a queue are found by pg-boss's index for taking them (job_i11).
const lookSql = `
  SELECT
    ARRAY(
      SELECT name FROM unnest($1::text[]) AS queue (name) WHERE EXISTS (
        SELECT FROM pgboss.job j WHERE j.name = queue.name AND j.state < 'active' AND NOT j.blocked
          AND j.start_after <= pgboss.job_now())
    ) AS due,
    ARRAY(
      SELECT DISTINCT worker_key FROM job_holders WHERE worker_key <> $2 AND NOT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = ${lockClass} AND objsubid = 2
          AND objid = worker_key::bigint::oid
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    ) AS silent,
    EXISTS (SELECT FROM job_holders) AS held`

// An attempt in the middle of its own transaction is skipped: it may still commit, and is looked at again.
const takeOverSql = `
  WITH lost AS (
    SELECT j.name, j.id, j.retry_count FROM job_holders h
    JOIN pgboss.job j ON j.name = h.job_name AND j.id = h.job_id AND j.retry_count = h.attempt
    WHERE j.state = 'active' AND (
      h.worker_key = ANY($1::integer[])
      OR j.heartbeat_on + j.heartbeat_seconds * interval '1 second' < pgboss.job_now())
    FOR UPDATE OF j SKIP LOCKED
  ),
  returned AS (
    UPDATE pgboss.job j SET state = 'retry', heartbeat_on = NULL, start_after = pgboss.job_now(),
      output = jsonb_build_object('message', 'its worker died')
    FROM lost WHERE j.name = lost.name AND j.id = lost.id RETURNING j.name, j.id, j.retry_count
  ),
  freed AS (
    DELETE FROM job_holders h WHERE NOT EXISTS (
      SELECT FROM pgboss.job j WHERE j.name = h.job_name AND j.id = h.job_id AND j.retry_count = h.attempt
        AND j.state = 'active')
      OR (job_id, attempt) IN (SELECT id, retry_count FROM returned)
  )
  SELECT name, id, retry_count + 1 AS attempts FROM returned`

export type PresenceOptions = {
  connection: pg.PoolConfig
  applicationName: string
  log: Log
  queues: string[]
  /** Jobs of this queue are due. */
  onDue: (queue: string) => void
  running: () => Claim[]
  /** This worker no longer owns the attempt. */
  onLost: (claim: Claim) => void
}

export type Presence = { workerKey: number; isConnected: () => boolean; close: () => Promise<void> }

export const openPresence = async (options: PresenceOptions): Promise<Presence> => {
  const { log } = options
  const workerKey = randomInt(1, 2 ** 31)
  let client: pg.Client | undefined
  let holdsLock = false
  let silentBefore: number[] = []
  let lostAlready = false
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> = Promise.resolve()

  const noteLoss = (error: unknown) => {
    if (!lostAlready) log.warn({ err: error }, 'a worker lost the database and tries to reach it again')
    lostAlready = true
  }

  const drop = (lost: pg.Client) => {
    lost.removeAllListeners('end')
    lost.end().catch(() => {})
    if (client !== lost) return
    client = undefined
    holdsLock = false
    silentBefore = []
  }

  const connect = async () => {
    const next = new pg.Client({
      ...options.connection,
      application_name: options.applicationName,
      keepAlive: true,
      connectionTimeoutMillis: queryTimeoutMs,
      query_timeout: queryTimeoutMs,
    })
    // Without a listener, the loss of a connection would end the process.
    next.on('error', (error) => {
      if (client === next) noteLoss(error)
      drop(next)
      schedule(reconnectAfterMs)
    })
    next.on('end', () => {
      drop(next)
      schedule(reconnectAfterMs)
    })
    next.on('notification', ({ payload }) => payload && options.onDue(payload))
    try {
      await next.connect()
      const { rows } = await next.query<{ channel: string }>(`SELECT ${notifyChannelSql('pgboss')} AS channel`)
      await next.query(`LISTEN ${next.escapeIdentifier(rows[0]?.channel ?? '')}`)
    } catch (error) {
      drop(next)
      throw error
    }
    client = next
    return next
  }

  const beat = async (current: pg.Client) => {
    const running = options.running()
    if (running.length === 0) return
    const { rows } = await current.query<{ id: string; attempt: number }>(heartbeatSql, [
      running.map((claim) => claim.name),
      running.map((claim) => claim.id),
      running.map((claim) => claim.attempt),
    ])
    // By the attempt too: this worker may have taken over its own.
    const owned = new Set(rows.map(({ id, attempt }) => `${id} ${attempt}`))
    for (const claim of running) if (!owned.has(`${claim.id} ${claim.attempt}`)) options.onLost(claim)
  }

  const attach = async (): Promise<pg.Client> => {
    const current = client ?? (await connect())
    if (!holdsLock) {
      // Not held at once while the server has not yet noticed the loss of an earlier connection of ours.
      const { rows } = await current.query<{ held: boolean }>(lockSql, [workerKey])
      holdsLock = rows[0]?.held === true
    }
    return current
  }

  const look = async () => {
    const current = await attach()
    await beat(current)
    const { rows } = await current.query<{ due: string[]; silent: number[]; held: boolean }>(lookSql, [
      options.queues,
      workerKey,
    ])
    const { due = [], silent = [], held = false } = rows[0] ?? {}
    // Silent in two looks, so that a worker whose connection broke has the time to come back.
    const dead = silent.filter((key) => silentBefore.includes(key))
    silentBefore = silent
    for (const queue of due) options.onDue(queue)
    if (!held) return
    const lost = await current.query<{ name: string; id: string; attempts: number }>(takeOverSql, [dead])
    for (const { name, id, attempts } of lost.rows) {
      log.warn({ job: name, jobId: id, attempts }, 'took over the job of a worker that is gone')
      options.onDue(name)
    }
  }

  const lookAndSchedule = async () => {
    const startedAt = performance.now()
    try {
      await look()
      if (lostAlready) log.info('a worker reached the database again')
      lostAlready = false
    } catch (error) {
      noteLoss(error)
      if (client) drop(client)
    }
    schedule(client ? Math.max(0, lookEveryMs - (performance.now() - startedAt)) : reconnectAfterMs * 2)
  }

  const schedule = (afterMs: number) => {
    clearTimeout(timer)
    if (closed) return
    timer = setTimeout(() => {
      looking = looking.then(lookAndSchedule)
    }, afterMs)
  }

  await attach()
  schedule(0)
  return {
    workerKey,
    isConnected: () => client !== undefined,
    close: async () => {
      closed = true
      clearTimeout(timer)
      await looking
      clearTimeout(timer)
      if (client) drop(client)
    },
  }
}
