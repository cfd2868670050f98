import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Dispatcher, request as send } from 'undici'
import { afterAll, inject, onTestFinished, TestRunner } from 'vitest'
import { buildApp } from '../server/app.ts'
import { openDeps, type ServiceDeps } from '../server/deps.ts'
import { countAll } from '../server/experiments/observations/counter-loop.ts'
import { loadConfig } from '../server/platform/config.ts'
import type { App } from '../server/platform/http/http.ts'
import { type Log, openLog } from '../server/platform/log.ts'
import { jobList } from '../server/worker.ts'
import './cheap-passwords.ts'
import { testDatabase } from './database.ts'

/** The service key of every test server. */
export const serviceKey = 'service-key-of-the-tests-0123456789'

export type TestAnswer<T = unknown> = { status: number; headers: Headers; text: string; body: T }

export type TestCall = {
  key?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  /** The exact body to send, in place of `body` as JSON. */
  raw?: string | Uint8Array<ArrayBuffer>
}

/** Returns a clock that only advances when a test advances it. */
export const fakeClock = () => {
  let time = Date.now()
  return {
    now: () => new Date(time),
    advance: (ms: number) => {
      time += ms
    },
  }
}

export type TestServer = {
  app: App
  deps: ServiceDeps
  clock: ReturnType<typeof fakeClock>
  origin: string
  /** Every line that was logged. */
  logged: string[]
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the type of the body.
  call: <T = any>(method: string, path: string, call?: TestCall) => Promise<TestAnswer<T>>
  /** Runs all due jobs and counts experiments in this process. */
  drain: () => Promise<unknown>
}

const readBeginning = async (body: Dispatcher.ResponseData['body']): Promise<string> => {
  for await (const chunk of body) return String(chunk)
  return ''
}

const request = async (origin: string, method: string, path: string, { key, body, headers, raw }: TestCall) => {
  const sent = raw ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await send(new URL(path, origin), {
    method: method as Dispatcher.HttpMethod,
    headers: {
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent !== undefined && { body: sent }),
  })
  const answered = new Headers()
  for (const [name, values = []] of Object.entries(response.headers)) {
    for (const value of [values].flat()) answered.append(name, value)
  }
  // An event stream never ends, so only its beginning is read.
  const isStream = answered.get('content-type')?.startsWith('text/event-stream')
  const text = isStream ? await readBeginning(response.body) : await response.body.text()
  const isJson = text !== '' && answered.get('content-type')?.startsWith('application/json')
  return { status: response.statusCode, headers: answered, text, body: isJson ? JSON.parse(text) : undefined }
}

/** Registers cleanup for the end of the test, or for the end of the file if it is called outside of a test. */
export const afterwards = (end: () => Promise<void>) =>
  TestRunner.getCurrentTest() === undefined ? afterAll(end) : onTestFinished(end)

/**
 * Starts the whole service with a separate database and data directory, for the tests of one file. `npm run scale`
 * starts several processes behind one address instead. This process then only runs jobs on demand.
 */
export const testServer = async (env: Record<string, string> = {}): Promise<TestServer> => {
  const logged: string[] = []
  const log: Log = openLog({ write: (line) => logged.push(line) })
  const dataDir = await mkdtemp(join(tmpdir(), 'earshot-server-'))
  afterwards(() => rm(dataDir, { recursive: true, force: true }))
  const { connection, drop } = await testDatabase()
  const processes = inject('processes')
  const spread = processes
    ? await (await import('./scale/cluster.ts')).openSpread(connection, env, processes)
    : undefined
  const config = loadConfig({
    PORT: '0',
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_SERVICE_KEY: serviceKey,
    // Only the tests of embeddings start the process that computes them.
    EARSHOT_EMBEDDINGS: 'off',
    ...env,
    ...spread?.switches,
  })
  const clock = fakeClock()
  const deps = await openDeps({ config, log, connection, applicationName: 'test', clock })
  // Requests must not be rejected because the machine is busy with other tests.
  const app = await buildApp(deps, { overload: { check: () => {}, close: () => {} } })
  const own = await app.listen({ port: 0, host: '127.0.0.1' })
  const origin = spread?.origin ?? own
  deps.listening.port = Number(new URL(origin).port)
  afterwards(async () => {
    const closed = app.close()
    // This doesn't wait for callers who disconnected.
    app.server.closeAllConnections()
    await closed
    await deps.close()
    await drop()
  })
  return {
    app,
    deps,
    clock,
    origin,
    logged,
    call: async (method, path, call = {}) => {
      const answer = await request(origin, method, path, call)
      await spread?.settle(path, answer)
      return answer
    },
    drain: async () => {
      const outcomes = await deps.jobs.drain(jobList, deps)
      await countAll(deps)
      return [...outcomes, ...(await deps.jobs.drain(jobList, deps))]
    },
  }
}
