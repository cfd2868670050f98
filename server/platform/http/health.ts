import type { FastifyBaseLogger } from 'fastify'
import Type from 'typebox'
import type { Config } from '../../config.ts'
import { ApiError } from '../errors.ts'
import { hashKey } from '../identity/keys.ts'
import type { App } from './http.ts'
import type { Metrics } from './metrics.ts'
import { answers, Closed, NoQuery } from './schemas.ts'

/** What must work before this process takes traffic; each throws where it does not. */
export type ReadinessChecks = Record<'database' | 'migrations' | 'storage', () => Promise<void>> & {
  jobs?: () => Promise<void>
}

type Options = { config: Config; metrics: Metrics; checks: ReadinessChecks; listening: { draining: boolean } }

const tags = ['Operations']

const loopback = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/

const relayHeaders = ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']

/** Readiness is asked by anyone and costs a write to storage, so one answer serves all that ask within a second. */
const answerMs = 1_000

export const addHealth = (app: App, { config, metrics, checks, listening }: Options): void => {
  // Compared by hashes, whose time tells nothing of the token.
  const metricsHash = config.metricsToken && hashKey(`Bearer ${config.metricsToken}`)
  let asked: { failed: Promise<string[]>; until: number } | undefined

  const findFailures = async (log: FastifyBaseLogger): Promise<string[]> => {
    const failed: string[] = []
    for (const [name, check] of Object.entries(checks)) {
      await check().catch((error: unknown) => {
        log.warn({ err: error, check: name }, 'not ready')
        failed.push(name)
      })
    }
    return failed
  }

  app.get(
    '/healthz',
    {
      config: { access: 'public' },
      schema: {
        tags,
        operationId: 'getHealth',
        summary: 'Tell that the process runs',
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
        summary: 'Tell whether the process serves: database, migrations and storage',
        querystring: NoQuery,
        response: answers({ 200: Closed({ status: Type.Literal('ready') }) }, 503),
      },
    },
    async (request) => {
      if (listening.draining) throw new ApiError('unavailable', 'Not ready: the process is about to end.')
      if (!asked || performance.now() > asked.until) {
        asked = { failed: findFailures(request.log), until: Number.POSITIVE_INFINITY }
      }
      const answer = asked
      const failed = await answer.failed
      answer.until = Math.min(answer.until, performance.now() + answerMs)
      if (failed.length > 0) {
        throw new ApiError('unavailable', `Not ready: ${failed.join(', ')}.`, { failed, retryAfterSeconds: 1 })
      }
      return { status: 'ready' as const }
    },
  )

  app.get('/metrics', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    // A proxy on this machine also comes from loopback, but says that it is one.
    const relayed = config.trustProxy === 0 && relayHeaders.some((name) => request.headers[name] !== undefined)
    const near = loopback.test(request.ip) && !relayed
    const known = metricsHash !== undefined && hashKey(request.headers.authorization ?? '') === metricsHash
    if (!near && !known) {
      throw new ApiError('unauthorized', 'Metrics are for loopback, or for the bearer of EARSHOT_METRICS_TOKEN.')
    }
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}
