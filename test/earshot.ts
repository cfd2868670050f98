// Runs the command as people do: in real processes, each with its own data directory.
import { type ChildProcess, execFile, fork, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { openDatabase } from '../server/platform/db/database.ts'
import { openEmbedded } from '../server/platform/db/embedded.ts'
import { signal } from '../server/platform/db/process-control.ts'
import { openJobs } from '../server/platform/jobs/queue.ts'
import { openLog } from '../server/platform/log.ts'
import type { CommandInput, CommandOutput } from './commands-process.ts'
import { databaseUrl, testDatabase } from './database.ts'
import { inheritedEnvironment } from './inherited.ts'
import { afterwards, serviceKey } from './server.ts'

const root = join(import.meta.dirname, '..')
const command = join(root, 'bin/earshot')

const environment = (switches: Record<string, string>): NodeJS.ProcessEnv => ({
  ...inheritedEnvironment(),
  PORT: '0',
  EARSHOT_SERVICE_KEY: serviceKey,
  ...switches,
})

/** Returns the process ID of a data directory's database. */
export const findPostmaster = async (dataDir: string): Promise<number> => {
  const pid = Number.parseInt(await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8'), 10)
  if (!(pid > 0)) throw new Error(`no database runs on ${dataDir}`)
  return pid
}

/**
 * Lists lines of `ps` about processes that use this folder, and about children of this process that are dead but not
 * reaped.
 */
export const listProcesses = async (folder: string): Promise<string[]> => {
  const { stdout } = await promisify(execFile)('ps', ['-eo', 'pid=,ppid=,stat=,args='], { maxBuffer: 10_000_000 })
  const lines = stdout.split('\n').map((line) => line.trim())
  const isZombieOfOurs = (line: string) => new RegExp(`^\\d+ +${process.pid} +Z`).test(line)
  return lines.filter((line) => line.includes(folder) || isZombieOfOurs(line))
}

/**
 * Creates a data directory. After the test, or after the file if it is called outside of a test, the processes that use
 * it are ended and it is deleted.
 */
export const makeDataDir = async (): Promise<string> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'earshot-process-'))
  // If this process runs as root, the database runs as another user, who must be able to enter the parent folders.
  await chmod(dataDir, 0o711)
  afterwards(async () => {
    for (const line of await listProcesses(dataDir)) {
      // Only processes with this folder in their arguments need to be killed. Their children end with them.
      if (line.includes(dataDir)) signal(Number.parseInt(line, 10), 'SIGKILL')
    }
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  })
  return dataDir
}

/** Returns the variables of a service with an existing database, which starts in half the time. */
export const switchesOnTestDatabase = async () => {
  const dataDir = await makeDataDir()
  const { connection, drop } = await testDatabase()
  afterwards(drop)
  return {
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-this-test-0123456789',
    DATABASE_URL: databaseUrl(connection),
  }
}

/** Returns a free port below the system's ephemeral ports, so that no other process takes it first. */
export const takeFreePort = async (): Promise<number> => {
  const port = randomInt(20_000, 32_000)
  const server = createServer()
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return takeFreePort()
  await new Promise((resolve) => server.close(resolve))
  return port
}

export type Ended = { code: number | null; signal: NodeJS.Signals | null }

export type RunningEarshot = {
  child: ChildProcess
  /** The URL of the process, empty if it only runs jobs. */
  origin: string
  /**
   * The health URL of a process that only runs jobs. It is empty for other processes, and for those without an open
   * port.
   */
  healthOrigin: string
  stdout: () => string
  stderr: () => string
  ended: Promise<Ended>
}

/** Vitest's timeout doesn't apply outside of tests. */
const limitMs = 60_000

const late = async (told: () => string): Promise<never> => {
  await pause(limitMs, undefined, { ref: false })
  throw new Error(`${told()} within ${limitMs} ms`)
}

const readyLine = /^Earshot (?:is ready at (\S+)|is running jobs\.(?: Health check: (\S+)\/readyz)?)/m

type Start = { file?: string; args?: string[]; cwd?: string; detached?: boolean }

/** Starts a process and waits until it is ready. The process is killed after the test if it still runs. */
export const startEarshot = async (switches: Record<string, string>, start: Start = {}): Promise<RunningEarshot> => {
  const { file = command, args = ['serve'], cwd = tmpdir(), detached = false } = start
  const child = spawn(file, args, { cwd, detached, stdio: ['ignore', 'pipe', 'pipe'], env: environment(switches) })
  let stdout = ''
  let stderr = ''
  const ended = new Promise<Ended>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })))
  afterwards(async () => {
    if (detached) killGroup(child, 'SIGKILL')
    child.kill('SIGKILL')
    await ended
  })
  const ready = new Promise<Pick<RunningEarshot, 'origin' | 'healthOrigin'>>((resolve) => {
    child.stdout.on('data', (text) => {
      stdout += text
      const says = readyLine.exec(stdout)
      if (says) resolve({ origin: says[1] ?? '', healthOrigin: says[2] ?? '' })
    })
  })
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const failed = ended.then(({ code, signal }) => {
    throw new Error(`earshot ended with ${code ?? signal} before it was ready:\n${stdout}${stderr}`)
  })
  const origins = await Promise.race([ready, failed, late(() => `${stdout}${stderr}\nearshot was not ready`)])
  return { child, ...origins, ended, stdout: () => stdout, stderr: () => stderr }
}

/** Sends a signal to the process and its children, like Ctrl-C in a terminal. */
export const killGroup = (child: ChildProcess, name: NodeJS.Signals): void => {
  if (child.pid !== undefined) signal(-child.pid, name)
}

/** Runs a command to its end. */
export const runEarshot = (args: string[], switches: Record<string, string>, timeout = limitMs) =>
  new Promise<CommandOutput>((resolve) => {
    const options = { cwd: tmpdir(), env: environment(switches), timeout, killSignal: 'SIGKILL' } as const
    const child = execFile(command, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    )
  })

let commands: { child: ChildProcess; ended: Promise<never> } | undefined

/** Starts a process that runs commands. It ends with this process, but doesn't keep it alive. */
const startCommands = () => {
  const env = { ...inheritedEnvironment(), NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/earshot') }
  const file = join(import.meta.dirname, 'commands-process.ts')
  const child = fork(file, { cwd: tmpdir(), env, execArgv: ['--expose-gc'] })
  child.unref()
  child.channel?.unref()
  const ended = once(child, 'close').then(([code, signal]) => {
    commands = undefined
    throw new Error(`the process of the commands ended with ${code ?? signal}`)
  })
  ended.catch(() => {})
  return { child, ended }
}

/**
 * Runs commands like `runEarshot`, but all in one process, which loads the code only once. This takes a tenth of the
 * time, and suits further cases of a command that another test runs in a real process.
 */
export const runInOne: typeof runEarshot = async (args, switches) => {
  commands ??= startCommands()
  const { child, ended } = commands
  const told = once(child, 'message').then(([answer]) => answer as CommandOutput)
  child.send({ args, env: environment(switches) } satisfies CommandInput)
  return Promise.race([told, ended, late(() => `earshot ${args.join(' ')} did not end`)])
}

/** Sends a request and returns the JSON response, whatever its status is. */
export const ask = async (origin: string, method: string, path: string, key: string, body?: unknown) => {
  const response = await fetch(new URL(path, origin), {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
    signal: AbortSignal.timeout(20_000),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

/** Creates an organization with the service key, and returns its owner's key. */
export const provision = async (origin: string) => {
  const slug = `o-${crypto.randomUUID()}`
  const owner = { email: `${slug}@example.com`, name: 'Olga Owner' }
  const { status, body } = await ask(origin, 'POST', '/v1/organizations', serviceKey, { name: 'Acme', slug, owner })
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`)
  return { id: body.organization.id as string, slug, key: body.apiKey.key as string, keyId: body.apiKey.id as string }
}

/** Opens the queue of a data directory that another process serves. */
export const openQueue = async (dataDir: string) => {
  const log = openLog({ write: () => {} })
  const embedded = await openEmbedded({ dataDir, log, applicationName: 'test' })
  const database = openDatabase({ connection: embedded.connection, applicationName: 'test' })
  const jobs = openJobs({ database, log })
  onTestFinished(async () => {
    await jobs.close()
    await database.close()
    await embedded.close()
  })
  return { jobs, db: database.db }
}
