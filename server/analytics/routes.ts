import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, NoQuery } from '../platform/http/schemas.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { requireEntitlement } from '../platform/identity/entitlements.ts'
import { answerQuery } from './answer.ts'
import { Analytics, Change, GroupComparison } from './answer-schema.ts'
import { compareSides } from './compare.ts'
import { explainChange } from './explain.ts'
import { AnalyticsQuery, ChangeQuery, entitlementOf, GroupComparisonQuery } from './query-schema.ts'

type Measured = Pick<AnalyticsQuery, 'measure' | 'groupBy'>

const requireMeasure = (actor: Pick<Actor, 'entitlements'>, { measure, groupBy }: Measured): void => {
  const entitlement = entitlementOf(measure, groupBy)
  if (entitlement) requireEntitlement(actor, entitlement)
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
  app.post(
    '/v1/analytics/explain',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only reads.' },
      schema: {
        tags: ['Analytics'],
        operationId: 'explainChange',
        summary: 'Explain a change',
        description:
          'Returns the agents, versions, companies, channels, directions, end reasons, and metadata values that ' +
          'explain why a measure differs from its value in an earlier period. Read-only and safe to repeat.',
        querystring: NoQuery,
        body: ChangeQuery,
        response: answers({ 200: Change }, 400, 401, 403),
      },
    },
    ({ actor, body }) => {
      requireMeasure(actor, body)
      return explainChange(deps, actor.org, body)
    },
  )
  app.post(
    '/v1/analytics/compare',
    {
      config: { access: { role: 'viewer' }, unaudited: 'It only reads.' },
      schema: {
        tags: ['Analytics'],
        operationId: 'compareConversations',
        summary: 'Compare two groups of conversations',
        description:
          'Compares two groups, such as versions, agents, companies, or periods, measure by measure. Returns each ' +
          'difference with its 95% interval, and whether it is unlikely to be due to chance, even though several ' +
          'measures were compared. Read-only and safe to repeat.',
        querystring: NoQuery,
        body: GroupComparisonQuery,
        response: answers({ 200: GroupComparison }, 400, 401, 403),
      },
    },
    ({ actor, body }) => {
      for (const measure of body.measures ?? []) requireMeasure(actor, { measure })
      return compareSides(deps, actor, body)
    },
  )
}
