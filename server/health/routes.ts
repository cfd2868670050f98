import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, NoQuery } from '../platform/http/schemas.ts'
import { checkHealth, checkResults } from './checks.ts'
import { Health } from './schema.ts'

export const health = (app: App, deps: Deps): void => {
  app.get(
    '/v1/health',
    {
      config: { access: { role: 'viewer' } },
      schema: {
        tags: ['Alerts'],
        operationId: 'checkHealth',
        summary: 'Get your organization’s health',
        description:
          'Checks ingestion, evaluations, judges, the judge budget, alerts, deliveries, syncs, schedules, jobs, storage, ' +
          'processes, and the clocks. Viewers get the checks that explain missing results: ingestion, evaluations, and judges.',
        querystring: NoQuery,
        response: answers({ 200: Health }, 401),
      },
    },
    ({ actor: { org, role } }) => (role === 'viewer' ? checkResults(deps, org) : checkHealth(deps, org)),
  )
}
