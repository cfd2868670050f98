// Runs the embedded PostgreSQL of a data directory: starts or takes over a server, lets one process own it, and
// restarts it if it dies.

import { rmdir, statfs } from 'node:fs/promises'
import pg from 'pg'
import type { Log } from '../log.ts'
import { prepareCluster, prepareDataDir, prepareSocketFolder } from './embedded-cluster.ts'
import { chooseLauncher, findBinaries, type WayName } from './embedded-launcher.ts'
import {
  bringUp,
  type Cluster,
  clientConfig,
  type RunningPostmaster,
  rotateLog,
  stopPostmaster,
} from './embedded-postmaster.ts'
import { isAlive, pause } from './process-control.ts'

export type EmbeddedState = 'lost' | 'restored' | 'failed'

export type EmbeddedOptions = {
  dataDir: string
  log: Log
  /** The owner's name, as shown to other processes. */
  applicationName: string
  /**
   * Called when the state changes. `failed` is final: the database will not be restarted, and this process should end.
   */
  onState?: (state: EmbeddedState, error?: Error) => void
  /** PostgreSQL settings that override the built-in ones. */
  settings?: Record<string, string>
  /** The folder of the programs. By default, the installed package's folder. */
  native?: string
  /** Specifies how the programs run, instead of using the first method that works. */
  way?: WayName
}

export type Embedded = {
  connection: pg.PoolConfig
  /** Whether this process owns the data directory. Other processes can use it, but never stop it. */
  exclusive: boolean
  /** Returns the reason why the database can't be reached, if it is known. */
  fault?: () => string | undefined
  /** The owner if it is another process, such as `earshot serve (pid 4711)`. */
  holder?: string
  close: () => Promise<void>
}

const databaseName = 'earshot'
/** The server releases a session's advisory locks as soon as its process ends, so this lock is never stale. */
const holdLock = '4702111234474983745'
const orphanedLockTimeoutMs = 10_000
const maxOpenTries = 20
/** The delays double. After about three seconds, the process gives up. */
const maxFailures = 5
const minLifeMs = 500
const rotateEveryMs = 5 * 60_000

/** PostgreSQL needs more space than this to start, because it writes a 16 MiB log segment. */
const leastFreeBytes = 32 * 1024 * 1024
const fullPauseMs = 1_000

const isFull = async (folder: string): Promise<boolean> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize < leastFreeBytes
}

/** Locks the data directory. Returns undefined on success, or the name of the process that owns it. */
const lockDataDirectory = async (client: pg.Client): Promise<string | undefined> => {
  const deadline = Date.now() + orphanedLockTimeoutMs
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [holdLock])
    if (rows[0]?.taken) return undefined
    const holders = await client.query<{ name: string }>(
      `SELECT application_name AS name FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND granted AND ((classid::bigint << 32) | objid::bigint) = $1`,
      [holdLock],
    )
    const holder = holders.rows[0]?.name
    const pid = Number(/\(pid (\d+)\)$/.exec(holder ?? '')?.[1])
    // The server may need a moment to notice that a killed process has ended.
    if (holder && ((await isAlive(pid)) || Date.now() > deadline)) return holder
    await pause(50)
  }
}

const ensureDatabase = async (client: pg.Client): Promise<void> => {
  const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [databaseName])
  if (rowCount) return
  await client.query(`CREATE DATABASE ${databaseName} TEMPLATE template0`).catch((error) => {
    const anotherWasFaster = error instanceof pg.DatabaseError && ['42P04', '23505'].includes(error.code ?? '')
    if (!anotherWasFaster) throw error
  })
}

export const openEmbedded = async (options: EmbeddedOptions): Promise<Embedded> => {
  const { log } = options
  const dataDir = await prepareDataDir(options.dataDir)
  const native = options.native ?? findBinaries()
  const launcher = await chooseLauncher({ native, dataDir, ...(options.way && { only: options.way }) })
  const folder = await prepareCluster(dataDir, launcher, log)
  const cluster: Cluster = {
    folder,
    launcher,
    socketFolder: await prepareSocketFolder(folder, launcher),
    settings: options.settings ?? {},
    applicationName: `${options.applicationName} (pid ${process.pid})`,
    log,
  }

  const closing = new AbortController()
  const open = async (): Promise<{ running: RunningPostmaster; holder: string | undefined }> => {
    for (let tries = 1; ; tries++) {
      const running = await bringUp(cluster, closing.signal)
      try {
        const holder = await lockDataDirectory(running.client)
        await ensureDatabase(running.client)
        return { running, holder }
      } catch (error) {
        await running.client.end().catch(() => {})
        // The server may have been stopping because its previous owner ended.
        const passing = !(error instanceof pg.DatabaseError) || /^(57P|08)/.test(error.code ?? '')
        if (!passing || tries >= maxOpenTries) throw error
        log.debug({ err: error }, 'the database stopped while connecting')
        await pause(50)
      }
    }
  }

  const first = await open()
  let { running } = first
  const { holder } = first
  const connection: pg.PoolConfig = clientConfig(running.socketFolder, databaseName)
  const { socketFolder } = running
  log.debug({ pid: running.pid, way: launcher.way, exclusive: !holder }, 'the database is up')

  if (holder) {
    const { client } = running
    return { connection, exclusive: false, holder, close: () => client.end().catch(() => {}) }
  }

  let ownsData = true
  let recovery: Promise<void> | undefined
  let restoredAt = Date.now()
  let fault: string | undefined

  const restore = async (): Promise<void> => {
    const again = await open()
    running = again.running
    if (!again.holder && running.socketFolder === socketFolder) return
    ownsData = false
    await running.client.end().catch(() => {})
    throw new Error(
      again.holder
        ? `While the database was down, ${again.holder} started to use the data directory ${dataDir}.`
        : `The database in ${dataDir} restarted at another address.`,
    )
  }

  const recover = async (): Promise<void> => {
    log.error('lost the database; restarting it')
    options.onState?.('lost')
    // A server that dies right after it started is not restarted immediately.
    await pause(Math.max(0, restoredAt + minLifeMs - Date.now()))
    for (let failures = 0; !closing.signal.aborted; ) {
      const error = await tryRestore()
      if (!error || closing.signal.aborted) return
      if (ownsData && (await isFull(dataDir))) {
        await waitForSpace(error)
        continue
      }
      failures++
      if (!ownsData || failures === maxFailures) {
        log.fatal({ err: error }, 'restarting the database failed')
        options.onState?.('failed', error)
        return
      }
      log.error({ err: error, failures }, 'the database did not start')
      await pause(100 * 2 ** failures)
    }
  }

  /** Tries to restart the server. Returns the error if that fails. */
  const tryRestore = async (): Promise<Error | undefined> => {
    try {
      await restore()
    } catch (caught) {
      return caught instanceof Error ? caught : new Error(String(caught))
    }
    restoredAt = Date.now()
    fault = undefined
    watch()
    log.info({ pid: running.pid }, 'the database is available again')
    options.onState?.('restored')
    return undefined
  }

  const waitForSpace = async (error: Error): Promise<void> => {
    if (!fault) log.error({ err: error }, 'the disk of the database is full; waiting for space')
    fault = 'The disk of the database is full. The operator has to free some space.'
    await pause(fullPauseMs)
  }

  const watch = (): void => {
    void running.gone.then(() => {
      if (!closing.signal.aborted) recovery = recover()
    })
  }
  watch()
  const rotating = setInterval(() => void rotateLog(folder).catch(() => undefined), rotateEveryMs).unref()

  const stop = async (): Promise<void> => {
    closing.abort()
    clearInterval(rotating)
    await recovery
    if (ownsData) await stopPostmaster(running.pid)
    await running.client.end().catch(() => {})
    // Only a socket folder outside the data directory is empty now and can be removed.
    if (ownsData && socketFolder !== folder) await rmdir(socketFolder).catch(() => {})
  }
  let stopped: Promise<void> | undefined
  const close = (): Promise<void> => {
    stopped ??= stop()
    return stopped
  }
  return { connection, exclusive: true, fault: () => fault, close }
}
