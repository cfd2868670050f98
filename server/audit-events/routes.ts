import type { Deps } from '../platform/deps.ts'
import { invalid } from '../platform/errors.ts'
import type { App } from '../platform/http/http.ts'
import { answers, Page } from '../platform/http/schemas.ts'
import { listAuditEvents } from './queries.ts'
import { AuditEvent, AuditEventQuery } from './schema.ts'

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
        querystring: AuditEventQuery,
        response: answers({ 200: Page(AuditEvent) }, 400, 401, 403),
      },
    },
    ({ actor, query: { limit, cursor, action, userId, since, until } }) => {
      const filter = {
        action,
        userId,
        since: since === undefined ? undefined : new Date(since),
        until: until === undefined ? undefined : new Date(until),
      }
      if (filter.since && filter.until && filter.until <= filter.since) {
        throw invalid('until', 'must be later than since')
      }
      return app.paging.page(
        { limit, cursor },
        ['audit-events', actor.org, filter],
        (page) => listAuditEvents(db, actor.org, filter, page),
        ({ id }) => id,
      )
    },
  )
}
