import type { Deps } from '../deps.ts'
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
        summary: 'List who did what, newest first',
        querystring: PageQuery,
        response: answers({ 200: Page(AuditEvent) }, 401, 403),
      },
    },
    async ({ actor, query }) => {
      const scope = ['audit-events', actor.org]
      const page = app.paging.read(query, scope)
      const rows = await listAuditEvents(db, actor.org, page)
      return app.paging.answer(rows, page, scope, (event) => event.id)
    },
  )
}
