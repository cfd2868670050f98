import { setTimeout as pause } from 'node:timers/promises'
import { buildApp, buildHealthApp } from '../app.ts'
import type { ServiceDeps } from '../deps.ts'
import { baseUrlOf, type Config } from '../platform/config.ts'
import type { EmbeddedState } from '../platform/db/embedded.ts'
import type { App } from '../platform/http/http.ts'
import { openLog } from '../platform/log.ts'
import { startWorker, type Worker } from '../worker.ts'
import type { RunCommand } from './call.ts'
import { firstStart } from './first-start.ts'
import { type Accepted, openAndMigrate } from './open.ts'

/** The time in which requests and jobs have to finish after a signal. Unfinished jobs return to the queue. */
const drainTimeoutMs = 25_000

const repeatMs = 1_000

/** Waits for a signal or a fatal error. Either of them ends the process. */
const untilEnd = () => {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals | Error>()
  let askedAt: number | undefined
  const exit = () => process.exit(1)
  let whenAskedAgain: () => void = exit
  const onSignal = (signal: NodeJS.Signals) => {
    // One Ctrl-C can arrive twice: from the terminal, and through npm. A second signal after that means that the
    // operator does not want to wait.
    if (askedAt !== undefined && performance.now() - askedAt < repeatMs) return
    if (askedAt !== undefined) whenAskedAgain()
    askedAt = performance.now()
    resolve(signal)
  }
  process.on('SIGINT', onSignal)
  process.on('SIGTERM', onSignal)
  /** Pauses until the time is over or the next signal arrives. In that case, the signal does not end the process. */
  const pauseUntilAskedAgain = async (ms: number): Promise<void> => {
    const nextSignal = new AbortController()
    whenAskedAgain = () => nextSignal.abort()
    await pause(ms, undefined, { signal: nextSignal.signal }).catch(() => {})
    whenAskedAgain = exit
  }
  return { ended: promise, fail: resolve, pauseUntilAskedAgain }
}

type Running = { deps: ServiceDeps; app: App | undefined; worker: Worker | undefined; close: () => Promise<void> }

/** Starts listening and returns the port, which may have been chosen by the system. */
const listen = async (app: App, port: number, host: string): Promise<number> => {
  await app.listen({ port, host, backlog: 1_024 })
  const address = app.server.address()
  return typeof address === 'object' && address ? address.port : port
}

const worksText = ({ host }: Config, port: number | undefined): string =>
  port === undefined
    ? 'Earshot is running jobs.\n'
    : `Earshot is running jobs. Health check: ${baseUrlOf({ host, baseUrl: undefined }, port)}/readyz\n`

const begin = async (running: Running, alone: boolean, printCredentials: boolean): Promise<void> => {
  const { deps } = running
  const { config, listening, baseUrl } = deps
  const answersRequests = config.roles.includes('http')
  let port: number | undefined
  if (config.port !== undefined) {
    running.app = await (answersRequests ? buildApp : buildHealthApp)(deps)
    port = await listen(running.app, config.port, config.host)
    if (answersRequests) listening.port = port
  }
  if (config.roles.includes('worker')) running.worker = await startWorker(deps, { alone })
  // A process that only runs jobs does not show how to sign in.
  const welcome = alone && answersRequests ? await firstStart(deps, printCredentials) : ''
  process.stdout.write(answersRequests ? `Earshot is ready at ${baseUrl()}\n${welcome}` : worksText(config, port))
}

/**
 * Keeps serving requests until a load balancer has seen on /readyz that it should stop sending them. Each connection
 * closes after its next response, so that no connection is closed while a request arrives.
 */
const turnAway = async ({ deps, app }: Running, pauseMs: (ms: number) => Promise<void>): Promise<void> => {
  const { drainSeconds } = deps.config
  deps.listening.draining = true
  // The clients of streams reconnect to another process while this one still responds to requests.
  deps.streams.drain()
  if (!app || drainSeconds === 0 || !deps.config.roles.includes('http')) return
  app.server.prependListener('request', (_request, response) => response.setHeader('connection', 'close'))
  await pauseMs(drainSeconds * 1_000)
}

const end = async ({ app, worker, close }: Running): Promise<void> => {
  const cut = setTimeout(() => app?.server.closeAllConnections(), drainTimeoutMs)
  const forced = setTimeout(() => process.exit(1), drainTimeoutMs + 10_000)
  // Idle connections are closed, even if the caller would keep them open.
  if (app) app.server.keepAliveTimeout = 1
  await Promise.all([app?.close(), worker?.stop({ timeoutMs: drainTimeoutMs })])
  await close()
  clearTimeout(cut)
  clearTimeout(forced)
}

type ServeOptions = {
  command: string
  /** Prints the link and the key of a first start, even without a terminal. */
  printCredentials: boolean
  accepted?: Accepted
  /** Runs while the service is ready. */
  meanwhile?: (deps: ServiceDeps, signal: AbortSignal) => Promise<void>
}

export const serve = async ({ command, printCredentials, accepted, meanwhile }: ServeOptions): Promise<number> => {
  const log = openLog()
  const { ended, fail, pauseUntilAskedAgain } = untilEnd()
  const onState = (state: EmbeddedState, error?: Error) => {
    if (state === 'failed') fail(error ?? new Error('lost the database'))
  }
  const { deps, alone, close } = await openAndMigrate({ command, log, exclusive: 'required', onState }, accepted)
  const running: Running = { deps, app: undefined, worker: undefined, close }
  try {
    await begin(running, alone, printCredentials)
  } catch (error) {
    // A failed start leaves nothing behind: no database, no job, and no open port.
    await end(running)
    throw error
  }
  // This frees the memory that the start used, which would otherwise stay until requests arrive. Node's types lack
  // these options.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' } as NodeJS.GCOptions)
  const ending = new AbortController()
  const work = meanwhile?.(deps, ending.signal).catch((error: unknown) => {
    if (!ending.signal.aborted) fail(error instanceof Error ? error : new Error(String(error)))
  })
  const reason = await ended
  if (reason instanceof Error) log.fatal({ err: reason }, 'a fatal error stopped the process')
  else log.info({ signal: reason }, 'draining')
  ending.abort()
  await work
  if (!(reason instanceof Error)) await turnAway(running, pauseUntilAskedAgain)
  await end(running)
  return reason instanceof Error ? 1 : 0
}

export const run: RunCommand = ({ flag }) =>
  serve({
    command: 'serve',
    printCredentials: flag('print-credentials'),
    accepted: { newSecretKey: flag('new-secret-key'), newStorage: flag('new-storage') },
  })
