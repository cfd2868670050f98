// Represents a worker in the database. One connection has a session advisory lock, which is released as soon as the
// process dies. The connection also listens for new jobs, renews the leases of running jobs, and checks every second
// for due jobs and for jobs of lost workers.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import { planning, setSession } from '../db/session.ts'
import type { Log } from '../log.ts'
import { type Claim, leaseSeconds, noticeChannel } from './queries.ts'
import { takeOver } from './take-over.ts'

const lockClass = 0x4541_5253
const lookEveryMs = 1_000
const reconnectAfterMs = 200
/** If a check takes longer, the connection is dead, because the check is quick. */
const queryTimeoutMs = 5_000

const lockSql = `SELECT pg_try_advisory_lock(${lockClass}, $1) AS held`

/**
 * Leases are renewed well before they expire, but not at every check, because most jobs finish before the first
 * renewal.
 */
const renewBelowSeconds = leaseSeconds - 3

// If the last transaction of an attempt has locked its row, the attempt owns the job, so this does not wait for the
// lock. Elements are accessed by position instead of unnest, because Citus 14 stores unnest's rows in one format and
// reads them in another.
const renewSql = `
  WITH free AS (
    SELECT organization_id, id FROM jobs
    WHERE organization_id = ANY($1::uuid[]) AND id = ANY($2::uuid[]) AND state = 'active'
      AND attempt = ($3::integer[])[array_position($2::uuid[], id)]
      AND lease_until < now() + interval '${renewBelowSeconds} seconds'
    FOR NO KEY UPDATE SKIP LOCKED
  ),
  renewed AS (
    UPDATE jobs j SET lease_until = now() + interval '${leaseSeconds} seconds'
    FROM free WHERE j.organization_id = free.organization_id AND j.id = free.id
  )
  SELECT id, attempt FROM jobs
  WHERE organization_id = ANY($1::uuid[]) AND id = ANY($2::uuid[]) AND state = 'active'`

// Rows that an enqueuing transaction has locked can be skipped for now.
const releaseSql = `
  WITH due AS (
    SELECT organization_id, id FROM jobs WHERE state = 'delayed' AND due_at <= now()
    ORDER BY due_at LIMIT 5000 FOR NO KEY UPDATE SKIP LOCKED
  )
  UPDATE jobs SET state = 'waiting'
  FROM due WHERE jobs.organization_id = due.organization_id AND jobs.id = due.id`

const lookSql = `
  SELECT
    ARRAY(
      SELECT name FROM unnest($1::text[]) AS kind (name)
      WHERE EXISTS (SELECT FROM jobs j WHERE j.name = kind.name AND j.state = 'waiting')
    ) AS waiting,
    ARRAY(
      SELECT DISTINCT worker_key FROM jobs WHERE state = 'active' AND worker_key <> $2 AND NOT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = ${lockClass} AND objsubid = 2
          AND objid = worker_key::bigint::oid
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))
    ) AS silent`

export type PresenceOptions = {
  connection: pg.PoolConfig
  applicationName: string
  log: Log
  names: string[]
  /** Called when jobs with this name are waiting. */
  onWaiting: (name: string) => void
  running: () => Claim[]
  /** Called when this worker no longer owns the attempt. */
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
    if (!lostAlready) log.warn({ err: error }, 'a worker lost the database and is reconnecting')
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
    // Without a listener, losing the connection would end the process.
    next.on('error', (error) => {
      if (client === next) noteLoss(error)
      drop(next)
      schedule(reconnectAfterMs)
    })
    next.on('end', () => {
      drop(next)
      schedule(reconnectAfterMs)
    })
    next.on('notification', ({ payload }) => payload && options.onWaiting(payload))
    try {
      await next.connect()
      await setSession(next, planning)
      await next.query(`LISTEN ${next.escapeIdentifier(noticeChannel)}`)
    } catch (error) {
      drop(next)
      throw error
    }
    client = next
    return next
  }

  const renew = async (current: pg.Client) => {
    const running = options.running()
    if (running.length === 0) return
    const { rows } = await current.query<{ id: string; attempt: number }>(renewSql, [
      running.map((claim) => claim.org),
      running.map((claim) => claim.id),
      running.map((claim) => claim.attempt),
    ])
    // The attempt is compared too, because this worker may have taken over its own job.
    const owned = new Set(rows.map(({ id, attempt }) => `${id} ${attempt}`))
    for (const claim of running) if (!owned.has(`${claim.id} ${claim.attempt}`)) options.onLost(claim)
  }

  const attach = async (): Promise<pg.Client> => {
    const current = client ?? (await connect())
    if (!holdsLock) {
      // The lock may not be available immediately if the server has not yet noticed the loss of this worker's earlier
      // connection.
      const { rows } = await current.query<{ held: boolean }>(lockSql, [workerKey])
      holdsLock = rows[0]?.held === true
    }
    return current
  }

  const refresh = async () => {
    const current = await attach()
    await renew(current)
    await current.query(releaseSql)
    const { rows } = await current.query<{ waiting: string[]; silent: number[] }>(lookSql, [options.names, workerKey])
    const { waiting = [], silent = [] } = rows[0] ?? {}
    // A worker only counts as dead if it is silent in two checks, so that a worker with a broken connection can
    // reconnect.
    const dead = silent.filter((key) => silentBefore.includes(key))
    silentBefore = silent
    for (const name of waiting) options.onWaiting(name)
    for (const { name, id, attempt } of await takeOver(current, dead)) {
      log.warn({ job: name, jobId: id, attempt }, 'took over a job from a lost worker')
      options.onWaiting(name)
    }
  }

  const lookAndSchedule = async () => {
    const startedAt = performance.now()
    try {
      await refresh()
      if (lostAlready) log.info('a worker reconnected to the database')
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
