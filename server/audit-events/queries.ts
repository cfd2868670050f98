import type { AuditEventRow } from '../platform/audit/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst } from '../platform/db/pages.ts'
import type { Page } from '../platform/http/paging.ts'

export const listAuditEvents = (db: Db, org: OrgId, page: Page) =>
  db
    .selectFrom('audit_events')
    .select([
      'id',
      'action',
      'actor',
      'targets',
      'request_id as requestId',
      'caller_request_id as callerRequestId',
      'created_at as createdAt',
    ])
    .where('organization_id', '=', org)
    .$call(newestFirst('id', page))
    .$castTo<AuditEventRow & { createdAt: Date }>()
    .execute()
