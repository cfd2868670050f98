import { sql } from 'kysely'
import type { AuditEventRow } from '../platform/audit/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { hourMs } from '../platform/durations.ts'
import type { Page } from '../platform/http/paging.ts'
import { lowestIdAt } from '../platform/ids.ts'

export type AuditFilter = {
  action: string | undefined
  userId: string | undefined
  since: Date | undefined
  until: Date | undefined
}

/** IDs are based on the clocks of processes, but events have the database's time. */
const maxClockDifferenceMs = hourMs

const idNear = (instant: Date | undefined, differenceMs: number): string =>
  lowestIdAt(new Date((instant?.getTime() ?? 0) + differenceMs))

export const listAuditEvents = (db: Db, org: OrgId, { action, userId, since, until }: AuditFilter, page: Page) =>
  db
    .selectFrom('audit_events')
    .select([
      'id',
      'action',
      'actor',
      'targets',
      'request_id as requestId',
      'caller_request_id as callerRequestId',
      'reason',
      'created_at as createdAt',
    ])
    .where('organization_id', '=', org)
    .$if(action !== undefined, (query) =>
      query.where(sql<boolean>`split_part(action, '.', 1) = ${action?.split('.')[0]}`),
    )
    .$if(action?.includes('.') === true, (query) => query.where('action', '=', action as string))
    .$if(userId !== undefined, (query) => query.where(sql<boolean>`actor ->> 'userId' = ${userId?.toLowerCase()}`))
    .$if(since !== undefined, (query) =>
      query
        .where(sql<boolean>`created_at >= ${since}::timestamptz`)
        .where('id', '>=', idNear(since, -maxClockDifferenceMs)),
    )
    .$if(until !== undefined, (query) =>
      query
        .where(sql<boolean>`created_at < ${until}::timestamptz`)
        .where('id', '<', idNear(until, maxClockDifferenceMs)),
    )
    .$call(newestFirst('id', page))
    .$castTo<AuditEventRow & { createdAt: Date }>()
    .execute()
