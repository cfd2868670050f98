// Runs the service as several processes behind one address, with one database and one file store.
import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { expect, vi } from 'vitest'
import { databaseUrl } from '../database.ts'
import { type RunningEarshot, startEarshot } from '../earshot.ts'
import { startS3Server } from '../s3-server.ts'
import { afterwards, type TestAnswer } from '../server.ts'
import { openBalancer } from './balancer.ts'

export type Process = RunningEarshot & { url: string }

/** Starts a file store in memory, and returns the variables that configure it. */
export const openStore = async () => {
  const s3 = await startS3Server({ pageSize: 1_000 })
  afterwards(s3.close)
  const switches = {
    EARSHOT_STORAGE: `s3://${s3.bucket}/files`,
    EARSHOT_S3_ENDPOINT: s3.endpoint,
    ...s3.environment,
  }
  return { s3, switches }
}

/** Returns the URL of a process, on the port that the system chose. The URL it prints as its own is the balancer's. */
const addressOf = ({ stderr }: RunningEarshot): string => {
  const [, url] = /listening at (http:[^"]+)"/.exec(stderr()) ?? []
  if (!url) throw new Error(`it does not say where it listens:\n${stderr()}`)
  return url
}

/** Starts a balancer without processes. Returns functions that start and stop them. */
export const openCluster = async (connection: pg.PoolConfig, env: Record<string, string> = {}) => {
  const balancer = await openBalancer(afterwards)
  const { s3, switches: store } = await openStore()
  const switches: Record<string, string> = {
    ...store,
    DATABASE_URL: databaseUrl(connection),
    EARSHOT_SECRET_KEY: `secret-key-${randomUUID()}`,
    EARSHOT_BASE_URL: balancer.origin,
    ...env,
    // The balancer counts as another proxy, besides those that the test simulates.
    EARSHOT_TRUST_PROXY: String(1 + Number(env.EARSHOT_TRUST_PROXY ?? 0)),
  }
  const http = new Set<Process>()
  return {
    balancer,
    s3,
    switches,
    origin: balancer.origin,
    http: () => [...http],
    startHttp: async (): Promise<Process> => {
      const running = await startEarshot({ ...switches, EARSHOT_ROLES: 'http' })
      const started: Process = { ...running, url: await vi.waitFor(() => addressOf(running), { timeout: 30_000 }) }
      http.add(started)
      await balancer.add(started.url)
      return started
    },
    startWorker: () => startEarshot({ ...switches, EARSHOT_ROLES: 'worker' }),
    /** Stops a process like an operator would, and resolves when it has ended. */
    stop: async (process: Process) => {
      process.child.kill('SIGTERM')
      const ended = await process.ended
      http.delete(process)
      balancer.remove(process.url)
      return ended
    },
  }
}

/**
 * Returns the setup of `testServer()` for several processes: they answer requests, and the test's own process runs
 * jobs.
 */
export const openSpread = async (connection: pg.PoolConfig, env: Record<string, string>, processes: number) => {
  const cluster = await openCluster(connection, env)
  const { switches } = cluster
  // The store's client reads the environment itself.
  for (const [name, value] of Object.entries(switches)) if (name.startsWith('AWS_')) vi.stubEnv(name, value)
  vi.stubEnv('AWS_SESSION_TOKEN', undefined)
  await Promise.all(Array.from({ length: processes }, cluster.startHttp))
  const keys = new Map<string, string>()
  const { EARSHOT_STORAGE = '', EARSHOT_S3_ENDPOINT = '', EARSHOT_SECRET_KEY = '', EARSHOT_BASE_URL = '' } = switches
  return {
    origin: cluster.origin,
    switches: { EARSHOT_STORAGE, EARSHOT_S3_ENDPOINT, EARSHOT_SECRET_KEY, EARSHOT_BASE_URL },
    /**
     * Waits until a suspension applies in all processes, because the next request can reach any of them. This takes up
     * to a second.
     */
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the type of the body.
    settle: async (path: string, { status, body }: TestAnswer<any>): Promise<void> => {
      if (status === 201 && path === '/v1/organizations') keys.set(body.organization.id, body.apiKey.key)
      const [, suspended = ''] = /^\/v1\/organizations\/([^/]+)\/suspend$/.exec(path) ?? []
      const key = keys.get(suspended)
      if (status !== 200 || !key) return
      const headers = { authorization: `Bearer ${key}` }
      for (const { url } of cluster.http()) {
        await expect.poll(() => fetch(`${url}/v1/me`, { headers }).then((answer) => answer.status)).toBe(403)
      }
    },
  }
}
