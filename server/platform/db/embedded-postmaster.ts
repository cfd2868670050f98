// Starts the server of a cluster. Uses a running server, waits for a server that is starting, recovering, or stopping,
// and otherwise starts one. Several processes can do this at once.

import { spawn } from 'node:child_process'
import { copyFile, open, readFile, realpath, truncate, writeFile } from 'node:fs/promises'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Log } from '../log.ts'
import { superuser, writeAccessFiles } from './embedded-cluster.ts'
import { giveTree, statOrUndefined } from './embedded-folders.ts'
import { type Launcher, programEnvironment } from './embedded-launcher.ts'
import { errorCode, isAlive, isPostmasterOf, pause, signal, waitForEnd } from './process-control.ts'

export type Cluster = {
  folder: string
  socketFolder: string
  launcher: Launcher
  settings: Record<string, string>
  applicationName: string
  log: Log
}

/** A connection to the maintenance database on a running server. */
export type RunningPostmaster = { client: pg.Client; pid: number; socketFolder: string; gone: Promise<void> }

const lockConflictTimeoutMs = 30_000
const unreachableTimeoutMs = 10_000
const fastStopMs = 10_000
const immediateStopMs = 10_000
const maxLogBytes = 10 * 1024 * 1024
/** No system has a process ID this high, so it never matches a running process. */
const deadPid = 99_999_999

const serverSettings = (socketFolder: string): Record<string, string> => {
  const memoryBytes = Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
  const quarterMb = Math.floor(memoryBytes / 4 / 1024 / 1024)
  return {
    listen_addresses: '',
    unix_socket_directories: socketFolder,
    unix_socket_permissions: '0700',
    shared_buffers: `${Math.min(Math.max(quarterMb, 32), 1024)}MB`,
    effective_cache_size: `${Math.max(quarterMb * 2, 64)}MB`,
    max_wal_size: '4GB',
    random_page_cost: '1.1',
    jit: 'off',
    // Until a table that has grown has statistics, joins use plans for empty tables. By default, that takes up to a
    // minute.
    autovacuum_naptime: '10s',
    // Statements and errors contain values, and transcripts must not be logged.
    log_min_messages: 'log',
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
  }
}

export const clientConfig = (socketFolder: string, database: string): pg.ClientConfig => ({
  host: socketFolder,
  port: 5432,
  user: superuser,
  database,
  ssl: false,
})

const pidFileOf = (folder: string): string => join(folder, 'postmaster.pid')

const readPidFile = async (path: string) => {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (errorCode(error) === 'ENOENT') return ''
    throw error
  })
  const lines = text.split('\n')
  const pid = Number(lines[0])
  return pid > 0 ? { pid, socketFolder: lines[4] ?? '', lines } : undefined
}

type ServerState = RunningPostmaster | 'busy' | 'silent'

/** Checks the state of the server. `busy` means that it responds but is starting, recovering, or stopping. */
const ask = async ({ folder, socketFolder, applicationName }: Cluster): Promise<ServerState> => {
  const file = await readPidFile(pidFileOf(folder))
  if (!file || !(await isAlive(file.pid))) return 'silent'
  const host = file.socketFolder || socketFolder
  const client = new pg.Client({
    ...clientConfig(host, 'postgres'),
    application_name: applicationName,
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => {})
  // The listener is added first, because the connection can end during setup.
  const gone = new Promise<void>((resolve) => client.once('end', resolve))
  try {
    await client.connect()
    const { rows } = await client.query<{ folder: string; pid: number }>(
      `SELECT current_setting('data_directory') AS folder, split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int AS pid`,
    )
    const server = rows[0]
    // A copied data directory contains the pid file of the original.
    if (server && (await realpath(server.folder).catch(() => '')) === folder) {
      return { client, pid: server.pid, socketFolder: host, gone }
    }
    await client.end()
    return 'silent'
  } catch (error) {
    await client.end().catch(() => {})
    return ['ENOENT', 'ECONNREFUSED'].includes(String(errorCode(error))) ? 'silent' : 'busy'
  }
}

type StartAttempt = { pid: number; ended: boolean; killed: boolean; report: () => Promise<string> }

const logFileOf = (folder: string): string => `${folder}.log`

/** Rotates the log and keeps one earlier file. The server always appends to the same file, so it can be truncated. */
export const rotateLog = async (folder: string, maxBytes = maxLogBytes): Promise<void> => {
  const path = logFileOf(folder)
  const found = await statOrUndefined(path)
  if (!found || found.size <= maxBytes) return
  await copyFile(path, `${path}.1`)
  await truncate(path)
}

const start = async ({ folder, socketFolder, launcher, settings }: Cluster): Promise<StartAttempt> => {
  await giveTree(folder, launcher.owner)
  const path = logFileOf(folder)
  await rotateLog(folder)
  const output = await open(path, 'a', 0o600)
  try {
    const from = (await output.stat()).size
    const access = await writeAccessFiles(folder, launcher)
    const flags = Object.entries({ ...serverSettings(socketFolder), ...access, ...settings })
    const args = ['-D', folder, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])]
    const command = launcher.command('postgres', args)
    const options = { ...command.identity, cwd: '/', env: programEnvironment }
    // The server has its own process group, so that Ctrl-C in a terminal only reaches this process, which then stops
    // the server properly.
    const child = spawn(command.file, command.args, {
      ...options,
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    })
    child.unref()
    const attempt: StartAttempt = {
      pid: child.pid ?? deadPid,
      ended: false,
      killed: false,
      report: async () => {
        const written = (await readFile(path)).subarray(from).toString()
        // The file can contain messages from other processes that try to start the server at the same time.
        const others = new RegExp(`^\\S+ \\S+ \\S+ \\[(?!${child.pid}\\])\\d+\\] .*\\n?`, 'gm')
        return written.replace(others, '').trim().slice(-2_000)
      },
    }
    child.on('exit', (_code, by) => {
      attempt.ended = true
      attempt.killed = by === 'SIGKILL'
    })
    child.on('error', (error) => {
      attempt.ended = true
      attempt.report = async () => error.message
    })
    return attempt
  } finally {
    await output.close()
  }
}

/**
 * Repairs pid files. After a kill, a pid file can be empty or contain another process's ID, and PostgreSQL would never
 * start again. The file gets the ID of a dead process instead of being removed, so that PostgreSQL still checks whether
 * other processes use the data.
 */
const disownPidFiles = async ({ folder, socketFolder }: Cluster): Promise<void> => {
  for (const path of [pidFileOf(folder), join(socketFolder, '.s.PGSQL.5432.lock')]) {
    const found = await statOrUndefined(path)
    // A newer file may still be written by a server that is starting.
    if (!found || Date.now() - found.mtimeMs < 1_000) continue
    const file = await readPidFile(path)
    if (file && (await isPostmasterOf(file.pid, folder))) continue
    await writeFile(path, [deadPid, ...(file?.lines.slice(1) ?? [''])].join('\n'))
  }
}

const isLockConflict = (report: string): boolean =>
  /lock file .* already exists|pre-existing shared memory block|could not create lock file|lock file .* is empty/.test(
    report,
  )

export const bringUp = async (cluster: Cluster, stop: AbortSignal): Promise<RunningPostmaster> => {
  const { folder, log } = cluster
  const conflictDeadline = Date.now() + lockConflictTimeoutMs
  let attempt: StartAttempt | undefined
  let silentSince = Date.now()
  let isReported = false

  /**
   * Handles a process that has ended. It may have encountered a server that was stopping, in which case another attempt
   * may succeed.
   */
  const forgetEnded = async ({ report: readReport, killed }: StartAttempt): Promise<undefined> => {
    const report = await readReport()
    const passing = killed || isLockConflict(report)
    if (!passing || Date.now() > conflictDeadline) {
      throw new Error(`PostgreSQL did not start:\n${report || 'no output'}`)
    }
    await disownPidFiles(cluster)
    await pause(50)
  }

  /** Starts a server unless one is already using the folder. Stops that server if it stays unreachable. */
  const startUnlessRunning = async (): Promise<StartAttempt | undefined> => {
    const holder = await readPidFile(pidFileOf(folder))
    if (!holder || !(await isPostmasterOf(holder.pid, folder))) return start(cluster)
    if (Date.now() - silentSince > unreachableTimeoutMs) {
      log.warn({ pid: holder.pid }, 'stopping an unreachable database')
      await stopPostmaster(holder.pid)
    }
    return undefined
  }

  try {
    for (;;) {
      stop.throwIfAborted()
      const answer = await ask(cluster)
      if (typeof answer === 'object') return answer
      if (answer === 'busy') silentSince = Date.now()
      if (attempt?.ended) attempt = await forgetEnded(attempt)
      else attempt ??= await startUnlessRunning()
      if (!isReported && Date.now() > conflictDeadline - lockConflictTimeoutMs + 2_000) {
        isReported = true
        log.info('waiting for the database: it may be recovering from a crash')
      }
      await pause(attempt ? 10 : 50)
    }
  } catch (error) {
    if (attempt && !attempt.ended && stop.aborted) await stopPostmaster(attempt.pid)
    throw error
  }
}

/**
 * Stops the server. First rolls back open transactions, so that all committed data is on disk. If that hangs, stops it
 * immediately.
 */
export const stopPostmaster = async (pid: number): Promise<void> => {
  signal(pid, 'SIGINT')
  if (await waitForEnd(pid, fastStopMs)) return
  signal(pid, 'SIGQUIT')
  if (await waitForEnd(pid, immediateStopMs)) return
  throw new Error(`The database (pid ${pid}) did not stop.`)
}
