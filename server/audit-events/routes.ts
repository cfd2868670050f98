import type { Deps } from '../platform/deps.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Page, PageQuery } from '../platform/http/schemas.ts'
import { listAuditEvents } from './queries.ts'
import { AuditEvent } from './schema.ts'

export const auditEvents = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/audit-events',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags: ['Audit Events'],
        operationId: 'listAuditEvents',
        summary: 'List audit events',
        description: 'Newest first. Each event has the actor, action, targets, and request ID.',
        querystring: PageQuery,
        response: answers({ 200: Page(AuditEvent) }, 401, 403),
      },
    },
    ({ actor, query }) =>
      app.paging.page(
        query,
        ['audit-events', actor.org],
        (page) => listAuditEvents(db, actor.org, page),
        ({ id }) => id,
      ),
  )
}
