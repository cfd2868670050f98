import type { Db, OrgId } from '../db/database.ts'

/** An event with the parsed contents of its JSON columns. */
export type AuditEventRow = {
  id: string
  action: string
  actor: { kind: 'key' | 'user' | 'service'; keyId: string | null; userId: string | null }
  targets: { type: string; id: string }[]
  requestId: string
  /** The request ID that the caller sent. */
  callerRequestId: string | null
  /** The caller's reason, if the operation requires one. */
  reason: string | null
}

export const insertAuditEvent = (db: Db, org: OrgId, event: AuditEventRow) =>
  db
    .insertInto('audit_events')
    .values({
      organization_id: org,
      id: event.id,
      action: event.action,
      actor: event.actor,
      // pg would write an array as a PostgreSQL array, not as JSON.
      targets: JSON.stringify(event.targets),
      request_id: event.requestId,
      caller_request_id: event.callerRequestId,
      reason: event.reason,
    })
    .execute()
