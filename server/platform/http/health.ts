import Type from 'typebox'
import type { Config } from '../../config.ts'
import { ApiError } from '../errors.ts'
import type { App } from './http.ts'
import type { Metrics } from './metrics.ts'
import { answers, Closed, NoQuery } from './schemas.ts'

/** What must work before this process takes traffic; each throws where it does not. */
export type ReadinessChecks = Record<'database' | 'migrations' | 'storage', () => Promise<void>>

type Options = { config: Config; metrics: Metrics; checks: ReadinessChecks }

const tags = ['Operations']

const loopback = /^(::1|127\.\d+\.\d+\.\d+|::ffff:127\.\d+\.\d+\.\d+)$/

export const addHealth = (app: App, { config, metrics, checks }: Options): void => {
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
      const failed: string[] = []
      for (const [name, check] of Object.entries(checks)) {
        await check().catch((error: unknown) => {
          request.log.warn({ err: error, check: name }, 'not ready')
          failed.push(name)
        })
      }
      if (failed.length > 0) {
        throw new ApiError('unavailable', `Not ready: ${failed.join(', ')}.`, { failed, retryAfterSeconds: 1 })
      }
      return { status: 'ready' as const }
    },
  )

  app.get('/metrics', { config: { access: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const { authorization, forwarded } = request.headers
    // A proxy on this machine also comes from loopback, but says for whom.
    const relayed = config.trustProxy === 0 && (request.headers['x-forwarded-for'] ?? forwarded) !== undefined
    const near = loopback.test(request.ip) && !relayed
    const known = config.metricsToken !== undefined && authorization === `Bearer ${config.metricsToken}`
    if (!near && !known) {
      throw new ApiError('unauthorized', 'Metrics are for loopback, or for the bearer of EARSHOT_METRICS_TOKEN.')
    }
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics())
  })
}
