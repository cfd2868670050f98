import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { daysBefore, dueRows } from '../../platform/db/due-rows.ts'
import { newestFirst } from '../../platform/db/pages.ts'
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

export const listDeliveries = (db: Db, org: OrgId, { integrationId, status }: DeliveryFilter, page: Page) =>
  db
    .selectFrom('integration_deliveries')
    .select(columns)
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as string))
    .$call(newestFirst('id', page))
    .execute()

/** Returns a delivery with its encrypted payload. */
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
  /** The encrypted payload. */
  payload: string | null
  receivedAt: Date
}

/** Inserts a delivery. The caller has locked the integration. */
export const insertDelivery = (trx: Db, org: OrgId, delivery: NewDelivery) =>
  trx
    .insertInto('integration_deliveries')
    .values({
      organization_id: org,
      id: delivery.id,
      integration_id: delivery.integrationId,
      status: delivery.status,
      event: delivery.event,
      reason: delivery.reason,
      conversation_id: delivery.conversationId,
      bytes: delivery.bytes,
      content_type: delivery.contentType,
      payload: delivery.payload,
      received_at: delivery.receivedAt,
    })
    .execute()

type DeliveryChange = {
  status: Status
  reason: string | null
  conversationId: string | null
  /** The encrypted payload that replaces the current one. */
  payload?: string | null
  contentType?: string
}

/** Updates a delivery. With `from`, only does so if the delivery still has that status. */
export const updateDelivery = async (db: Db, org: OrgId, id: string, change: DeliveryChange, from?: Status) => {
  const { status, reason, conversationId, payload, contentType } = change
  await db
    .updateTable('integration_deliveries')
    .set({
      status,
      reason,
      conversation_id: conversationId,
      ...(payload !== undefined && { payload }),
      ...(contentType !== undefined && { content_type: contentType }),
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .$if(from !== undefined, (query) => query.where('status', '=', from as string))
    .execute()
}

/** Deletes deliveries of an integration, and returns the number of deleted deliveries. */
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

/** Selects payloads that are too old to be replayed, so that they can be deleted. */
export const oldPayloads = dueRows({
  table: 'integration_deliveries',
  isDue: (now) => sql`payload IS NOT NULL AND received_at < ${daysBefore(now, 7)}
    AND (received_at < ${daysBefore(now, 30)} OR status IN ('applied', 'unchanged'))`,
  change: sql`payload = NULL`,
})

export const oldDeliveries = dueRows({
  table: 'integration_deliveries',
  isDue: (now) => sql`received_at < ${daysBefore(now, 90)}`,
})
