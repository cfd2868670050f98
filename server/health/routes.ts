import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, NoQuery } from '../platform/http/schemas.ts'
import { checkHealth } from './checks.ts'
import { Health } from './schema.ts'

export const health = (app: App, deps: Deps): void => {
  app.get(
    '/v1/health',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Alerts'],
        operationId: 'checkHealth',
        summary: 'Get your organization’s health',
        description:
          'Checks ingestion, evaluations, judges, the judge budget, alerts, deliveries, syncs, schedules, jobs, storage, ' +
          'processes, and the clocks.',
        querystring: NoQuery,
        response: answers({ 200: Health }, 401, 403),
      },
    },
    ({ actor }) => checkHealth(deps, actor.org),
  )
}
