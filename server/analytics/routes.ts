import type { Deps } from '../platform/deps.ts'
import { requireEntitlement } from '../platform/http/access.ts'
import type { App } from '../platform/http/http.ts'
import { answers, NoQuery } from '../platform/http/schemas.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { answerQuery } from './answer.ts'
import { AnalyticsQuery } from './query-schema.ts'
import { Analytics } from './schema.ts'

const ofMonitors = new Set(['rate', 'score', 'cost', 'agreement'])

const requireMeasure = (actor: Pick<Actor, 'entitlements'>, { measure }: AnalyticsQuery): void => {
  if (ofMonitors.has(measure.kind)) requireEntitlement(actor, 'monitors')
  if (measure.kind === 'metric') requireEntitlement(actor, 'metrics')
}

export const analytics = (app: App, deps: Deps): void => {
  app.post(
    '/v1/analytics/query',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only reads.' },
      schema: {
        tags: ['Analytics'],
        operationId: 'queryAnalytics',
        summary: 'Measure conversations',
        description:
          'Returns a count, rate, mean, sum, or percentile, by group, over time, and compared with an earlier period. ' +
          'Every figure comes with the number of values behind it and, if it is an estimate, its 95% interval. Read-only ' +
          'and safe to repeat.',
        querystring: NoQuery,
        body: AnalyticsQuery,
        response: answers({ 200: Analytics }, 400, 401, 403),
      },
    },
    ({ actor, body }) => {
      requireMeasure(actor, body)
      return answerQuery(deps, actor.org, body)
    },
  )
}
