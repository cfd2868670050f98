import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import Type from 'typebox'
import type { Config } from '../config.ts'
import { ApiError } from '../errors.ts'
import { hashKey } from '../identity/keys.ts'
import type { Sweeps } from '../sweeps.ts'
import type { App } from './http.ts'
import type { Metrics } from './metrics.ts'
import { answers, Closed, NoQuery } from './schemas.ts'

/** The checks that must pass before this process receives traffic. A check that fails throws. */
export type ReadinessChecks = Record<'database' | 'migrations' | 'storage', () => Promise<void>> & {
  jobs?: () => Promise<void>
}

type Options = {
  config: Config
  metrics: Metrics
  checks: ReadinessChecks
  sweeps: Sweeps
  listening: { draining: boolean }
}

const tags = ['Operations']

const loopback = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/

/** If another host name points to this address, requests from its pages contain that name instead. */
const loopbackHost = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?$/i

const relayHeaders = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']

/** A check that takes longer has failed. For example, a frozen database does not respond. */
const checkTimeoutMs = 4_000

/**
 * Makes a check fail after a deadline. If a check hangs, later requests wait for it instead of starting another one,
 * because each check occupies a connection.
 */
const withDeadline = (check: () => Promise<void>) => {
  let running: Promise<void> | undefined
  return async (): Promise<void> => {
    running ??= check().finally(() => {
      running = undefined
    })
    const late = new AbortController()
    const deadline = pause(checkTimeoutMs, undefined, { signal: late.signal, ref: false }).then(() => {
      throw new ApiError('unavailable', `No response within ${checkTimeoutMs / 1_000} seconds.`)
    })
    try {
      await Promise.race([running, deadline])
    } finally {
      late.abort()
      deadline.catch(() => undefined)
    }
  }
}

/** The time for which a result is reused. Anyone can request it, and each check writes to the storage. */
const answerMs = 1_000

export const addHealth = (app: App, { config, metrics, checks, sweeps, listening }: Options): void => {
  // Hashes are compared, so that the timing reveals nothing about the token.
  const metricsHash = config.metricsToken && hashKey(`Bearer ${config.metricsToken}`)
  const bounded = Object.entries(checks).map(([name, check]) => ({ name, check: withDeadline(check) }))
  let cached: { failed: Promise<string[]>; until: number } | undefined

  const findFailures = async (log: FastifyBaseLogger): Promise<string[]> => {
    const failed = await Promise.all(
      bounded.map(async ({ name, check }) => {
        try {
          await check()
          return []
        } catch (error) {
          log.warn({ err: error, check: name }, 'not ready')
          return [name]
        }
      }),
    )
    return failed.flat()
  }

  app.get(
    '/healthz',
    {
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'getHealth',
        summary: 'Liveness check',
        description: 'Does not check the database; for that, use `/readyz`.',
        querystring: NoQuery,
        response: answers({ 200: Closed({ status: Type.Literal('ok') }) }),
      },
    },
    async () => ({ status: 'ok' as const }),
  )

  app.get(
    '/readyz',
    {
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'getReadiness',
        summary: 'Readiness check',
        description: 'Checks the database, migrations, and storage. Returns 503 with the failed checks in `details`.',
        querystring: NoQuery,
        response: answers({ 200: Closed({ status: Type.Literal('ready'), warnings: Type.Array(Type.String()) }) }, 503),
      },
    },
    async (request) => {
      if (listening.draining) throw new ApiError('unavailable', 'Not ready: the process is shutting down.')
      if (!cached || performance.now() > cached.until) {
        cached = { failed: findFailures(request.log), until: Number.POSITIVE_INFINITY }
      }
      const answer = cached
      const failed = await answer.failed
      answer.until = Math.min(answer.until, performance.now() + answerMs)
      if (failed.length > 0) {
        throw new ApiError('unavailable', `Not ready: ${failed.join(', ')}.`, { failed, retryAfterSeconds: 1 })
      }
      const warning = sweeps.warning()
      return { status: 'ready' as const, warnings: warning === undefined ? [] : [warning] }
    },
  )

  app.get('/metrics', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    // Requests through a proxy on this machine also come from loopback, but have its headers.
    const relayed = config.trustProxy === 0 && relayHeaders.some((name) => request.headers[name] !== undefined)
    const near = loopback.test(request.ip) && loopbackHost.test(request.headers.host ?? '') && !relayed
    const known = metricsHash !== undefined && hashKey(request.headers.authorization ?? '') === metricsHash
    if (!near && !known) {
      throw new ApiError('unauthorized', 'Read metrics from loopback, or send EARSHOT_METRICS_TOKEN as a bearer token.')
    }
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}
