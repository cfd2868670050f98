// Runs reads that may be a few seconds old on a read replica with a known lag.

import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Log } from '../log.ts'
import { withClient } from './citus/connection.ts'
import { isDistributed } from './citus/placed-tables.ts'
import { type Database, type Db, openDatabase } from './database.ts'
import { isFaultOfStandby } from './errors.ts'

export type Replica = {
  /**
   * Runs a read on the replica if its lag is within the limit, otherwise on the primary. Also uses the primary if the
   * replica is lost or cancels the read because of recovery, or if `isCurrent` rejects the replica's result.
   */
  read: <T>(run: (db: Db) => Promise<T>, isCurrent?: (answer: T) => Promise<boolean>) => Promise<T>
  close: () => Promise<void>
}

type Options = {
  /** Undefined if there is no replica. In that case, the primary is used. */
  url: string | undefined
  /** The maximum age of a result. 0 disables the replica. */
  maxLagMs: number
  primary: Database
  applicationName: string
  traced: boolean
  log: Log
}

const askEveryMs = 1_000
/**
 * If a replica doesn't respond within this time, it is skipped for a while, so that a dead replica delays only a few
 * requests.
 */
const askTimeoutMs = 1_000
const pauseAfterFailureMs = 10_000

/** Returns a log position in bytes, which is far below 2^53. */
const readPosition = async (db: Db, position: 'pg_current_wal_lsn' | 'pg_last_wal_replay_lsn') => {
  const { rows } = await sql<{ position: number; isStandby: boolean }>`
    SELECT pg_wal_lsn_diff(${sql.raw(position)}(), '0/0')::bigint AS position, pg_is_in_recovery() AS "isStandby"`.execute(
    db,
  )
  return rows[0]
}

const within = async <T>(promise: Promise<T>, timeoutMs: number): Promise<T> => {
  const answered = new AbortController()
  const late = pause(timeoutMs, undefined, { signal: answered.signal, ref: false }).then(() => {
    throw new Error(`no response within ${timeoutMs} ms`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    answered.abort()
  }
}

/**
 * Returns the latest time at which a replica had everything that was committed on the primary, measured by this
 * process's clock. The primary reports the length of its log, and after the replica has replayed that much, it has
 * everything that was committed before. Comparing the clocks of two servers would be unreliable, and the last
 * transaction on an idle primary would look like lag. If the primary is too busy to respond, its earlier response is
 * still valid.
 */
const openProgress = (primary: Db, replica: Db, maxLagMs: number) => {
  /** Everything committed before `at` is in the log before `position`. The oldest mark comes first. */
  let marks: { position: number; at: number }[] = []
  return async (): Promise<number> => {
    const at = performance.now()
    const [written, replayed] = await Promise.all([
      within(readPosition(primary, 'pg_current_wal_lsn'), askTimeoutMs).catch(() => undefined),
      within(readPosition(replica, 'pg_last_wal_replay_lsn'), askTimeoutMs),
    ])
    // A server that has recovered from a crash or was promoted also has a replay position.
    if (!replayed?.isStandby) return Number.NEGATIVE_INFINITY
    marks = marks.filter((mark) => mark.at >= at - maxLagMs)
    if (written) marks.push({ position: written.position, at })
    return marks.findLast((mark) => mark.position <= replayed.position)?.at ?? Number.NEGATIVE_INFINITY
  }
}

export const openReplica = async (options: Options): Promise<Replica> => {
  const { url, maxLagMs, primary, applicationName, traced, log } = options
  const withoutReplica: Replica = { read: (run) => run(primary.db), close: async () => {} }
  if (url === undefined || maxLagMs === 0) return withoutReplica
  // The coordinator's log does not show the lag of standbys for other nodes.
  if (await withClient(primary.connection, applicationName, isDistributed)) {
    log.warn('the database is distributed, so the lag of the replica is unknown: analytics read the primary')
    return withoutReplica
  }
  const connection = { connectionString: url }
  const { db, close } = openDatabase({
    connection,
    applicationName: `${applicationName} replica`.slice(0, 63),
    traced,
  })
  // The connection is separate, so that the replica does not appear to be lost when slow reads occupy all others.
  const watched = openDatabase({
    connection,
    applicationName: `${applicationName} replica lag`.slice(0, 63),
    poolSize: 1,
    statementTimeoutMs: askTimeoutMs,
  })
  const readProgress = openProgress(primary.db, watched.db, maxLagMs)
  let holdsAllUntil = Number.NEGATIVE_INFINITY
  let askAfter = Number.NEGATIVE_INFINITY
  let asking: Promise<void> | undefined
  let fault: unknown
  let isUsed: boolean | undefined

  const choose = (): boolean => {
    const isWithinLimit = performance.now() - holdsAllUntil <= maxLagMs
    if (isWithinLimit === isUsed) return isWithinLimit
    if (isWithinLimit) log.info('analytics read the replica')
    else log.warn({ err: fault }, 'the replica is too far behind or not responding: analytics read the primary')
    isUsed = isWithinLimit
    return isWithinLimit
  }

  const ask = async () => {
    askAfter = performance.now() + askEveryMs
    try {
      holdsAllUntil = await readProgress()
      fault = undefined
    } catch (error) {
      fault = error
      holdsAllUntil = Number.NEGATIVE_INFINITY
      askAfter = performance.now() + pauseAfterFailureMs
    }
  }

  const isUsable = async (): Promise<boolean> => {
    if (performance.now() >= askAfter) {
      asking ??= ask().finally(() => {
        asking = undefined
      })
    }
    await asking
    return choose()
  }

  const runOnReplica = async <T>(run: (db: Db) => Promise<T>): Promise<{ answer: T } | undefined> => {
    try {
      return { answer: await run(db) }
    } catch (error) {
      if (!isFaultOfStandby(error)) throw error
      log.debug({ err: error }, 'a read failed on the replica, retrying on the primary')
      return undefined
    }
  }

  return {
    read: async (run, isCurrent = async () => true) => {
      const onReplica = (await isUsable()) ? await runOnReplica(run) : undefined
      return onReplica && (await isCurrent(onReplica.answer)) ? onReplica.answer : run(primary.db)
    },
    close: async () => {
      await Promise.all([close(), watched.close()])
    },
  }
}
