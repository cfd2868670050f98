import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { deleteOldRowsAllOrgs } from '../../platform/db/old-rows.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

type Status = 'pending' | 'applied' | 'unchanged' | 'ignored' | 'unreadable' | 'rejected' | 'erased' | 'failed'

const columns = [
  'id',
  sql<Status>`status`.as('status'),
  'event',
  'reason',
  'conversation_id as conversationId',
  'bytes',
  'content_type as contentType',
  'received_at as receivedAt',
  sql<boolean>`payload IS NOT NULL AND status <> 'pending'`.as('replayable'),
] as const

type DeliveryFilter = { integrationId: string; status?: Status }

export const listDeliveries = (db: Db, org: OrgId, { integrationId, status }: DeliveryFilter, { limit, after }: Page) =>
  db
    .selectFrom('integration_deliveries')
    .select(columns)
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as string))
    .$if(after !== undefined, (query) => query.where('id', '<', after as string))
    .orderBy('id', 'desc')
    .limit(limit + 1)
    .execute()

/** The payload is sealed still. */
export const getDelivery = (db: Db, org: OrgId, integrationId: string, id: string) =>
  db
    .selectFrom('integration_deliveries')
    .select([...columns, 'payload'])
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

export const findDelivery = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('integration_deliveries')
    .select([...columns, 'integration_id as integrationId', 'payload'])
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirst()

export type NewDelivery = {
  id: string
  integrationId: string
  status: Status
  event: string | null
  reason: string | null
  conversationId: string | null
  bytes: number
  contentType: string | null
  /** Sealed. */
  payload: string | null
  receivedAt: Date
}

/** Holds the integration, so that nothing is received for one that is being deleted. */
export const insertDelivery = async (db: Db, org: OrgId, delivery: NewDelivery): Promise<void> => {
  const { rows } = await sql`
    INSERT INTO integration_deliveries (organization_id, id, integration_id, status, event, reason, conversation_id,
      bytes, content_type, payload, received_at)
    SELECT i.organization_id, ${delivery.id}::uuid, i.id, ${delivery.status}, ${delivery.event}, ${delivery.reason},
      ${delivery.conversationId}::uuid, ${delivery.bytes}::int, ${delivery.contentType}, ${delivery.payload},
      ${delivery.receivedAt}::timestamptz
    FROM integrations i WHERE i.organization_id = ${org} AND i.id = ${delivery.integrationId}
    FOR KEY SHARE
    RETURNING 1`.execute(db)
  if (rows.length === 0) throw notFound()
}

type DeliveryChange = {
  status: Status
  reason: string | null
  conversationId: string | null
  /** Sealed, in place of the present one. */
  payload?: string | null
  contentType?: string
}

/** With `from`, only a delivery that has that status still. */
export const updateDelivery = async (db: Db, org: OrgId, id: string, change: DeliveryChange, from?: Status) => {
  const { status, reason, conversationId, payload, contentType } = change
  await db
    .updateTable('integration_deliveries')
    .set({
      ...{ status, reason, conversation_id: conversationId },
      ...(payload !== undefined && { payload }),
      ...(contentType !== undefined && { content_type: contentType }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .$if(from !== undefined, (query) => query.where('status', '=', from as string))
    .execute()
}

/** Answers how many were there. */
export const deleteDeliveriesOf = async (db: Db, org: OrgId, integrationId: string, limit: number): Promise<number> => {
  const { numDeletedRows } = await db
    .deleteFrom('integration_deliveries')
    .where('organization_id', '=', org)
    .where('id', 'in', (inner) =>
      inner
        .selectFrom('integration_deliveries')
        .select('id')
        .where('organization_id', '=', org)
        .where('integration_id', '=', integrationId)
        .limit(limit),
    )
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** Forgets what was sent, once nobody will replay it any more. Answers how many it forgot. */
export const clearPayloadsAllOrgs = async (
  db: Db,
  { settledBefore, openBefore }: { settledBefore: Date; openBefore: Date },
  limit: number,
): Promise<number> => {
  const { rows } = await sql`
    WITH due AS (
      SELECT organization_id, id FROM integration_deliveries
      WHERE payload IS NOT NULL AND received_at < ${settledBefore}
        AND (received_at < ${openBefore} OR status IN ('applied', 'unchanged'))
      ORDER BY received_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    UPDATE integration_deliveries d SET payload = NULL FROM due
    WHERE d.organization_id = due.organization_id AND d.id = due.id RETURNING 1`.execute(db)
  return rows.length
}

export const deleteOldDeliveriesAllOrgs = (db: Db, before: Date, limit: number): Promise<number> =>
  deleteOldRowsAllOrgs(db, { table: 'integration_deliveries', since: 'received_at', before, limit })
