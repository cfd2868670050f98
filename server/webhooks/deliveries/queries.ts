import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { daysBefore, dueRows } from '../../platform/db/due-rows.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

type DeliveryStatus = 'pending' | 'succeeded' | 'failed'

const columns = [
  'id',
  'event_type as eventType',
  sql<DeliveryStatus>`status`.as('status'),
  'reason',
  'attempts as attemptCount',
  'next_attempt_at as nextAttemptAt',
  'created_at as createdAt',
] as const

type DeliveryFilter = { endpointId: string; status?: DeliveryStatus }

export const listDeliveries = (db: Db, org: OrgId, { endpointId, status }: DeliveryFilter, page: Page) =>
  db
    .selectFrom('webhook_deliveries')
    .select(columns)
    .where('organization_id', '=', org)
    .where('endpoint_id', '=', endpointId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as string))
    .$call(newestFirst('id', page))
    .execute()

export const getDelivery = (db: Db, org: OrgId, endpointId: string, id: string) =>
  db
    .selectFrom('webhook_deliveries')
    .select([...columns, 'body'])
    .where('organization_id', '=', org)
    .where('endpoint_id', '=', endpointId)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

export const listAttempts = (db: Db, org: OrgId, deliveryId: string, limit: number) =>
  db
    .selectFrom('webhook_attempts')
    .select([
      'number',
      'attempted_at as attemptedAt',
      'duration_ms as durationMs',
      'status_code as statusCode',
      'error',
      'answer',
    ])
    .where('organization_id', '=', org)
    .where('delivery_id', '=', deliveryId)
    .orderBy('number', 'desc')
    .limit(limit)
    .execute()

/** Returns the data that an attempt needs. */
export const findDelivery = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('webhook_deliveries as d')
    .select([
      'd.id',
      'd.endpoint_id as endpointId',
      'd.event_type as eventType',
      'd.body',
      sql<DeliveryStatus>`d.status`.as('status'),
      'd.attempts as attemptCount',
      'd.earlier_attempts as earlierAttempts',
      sql<boolean>`d.only_while_member IS NULL OR EXISTS (
        SELECT FROM members m
        WHERE m.organization_id = ${org} AND m.user_id = d.only_while_member)`.as('isWanted'),
    ])
    .where('d.organization_id', '=', org)
    .where('d.id', '=', id)
    .executeTakeFirst()

export const lockDelivery = (trx: Db, org: OrgId, endpointId: string, id: string) =>
  trx
    .selectFrom('webhook_deliveries')
    .select(columns)
    .where('organization_id', '=', org)
    .where('endpoint_id', '=', endpointId)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

type NewDelivery = {
  id: string
  endpointId: string
  eventType: string
  body: string
  onlyWhileMember: string | undefined
  now: Date
}

/** Inserts a delivery. Returns whether the endpoint exists, and locks the endpoint until the transaction ends. */
export const insertDelivery = async (trx: Db, org: OrgId, delivery: NewDelivery): Promise<boolean> => {
  const { id, endpointId, eventType, body, onlyWhileMember = null, now } = delivery
  const { rows } = await sql`
    INSERT INTO webhook_deliveries (organization_id, id, endpoint_id, event_type, body, only_while_member,
      next_attempt_at, created_at)
    SELECT e.organization_id, ${id}::uuid, e.id, ${eventType}, ${body}, ${onlyWhileMember}::uuid,
      ${now}::timestamptz, ${now}::timestamptz
    FROM webhook_endpoints e WHERE e.organization_id = ${org} AND e.id = ${endpointId}
    FOR KEY SHARE
    RETURNING 1`.execute(trx)
  return rows.length > 0
}

type DeliveryChange = {
  status: DeliveryStatus
  reason: string | null
  nextAttemptAt: Date | null
  attemptCount: number
}

export const updateDelivery = (trx: Db, org: OrgId, id: string, change: DeliveryChange) =>
  trx
    .updateTable('webhook_deliveries')
    .set({
      status: change.status,
      reason: change.reason,
      next_attempt_at: change.nextAttemptAt,
      attempts: change.attemptCount,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

/** Ends a delivery, regardless of the remaining attempts. */
export const failDelivery = (trx: Db, org: OrgId, id: string, reason: string) =>
  trx
    .updateTable('webhook_deliveries')
    .set({ status: 'failed', reason, next_attempt_at: null })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute()

/** Starts a delivery over. Its attempts continue to be numbered from the last one. */
export const restartDelivery = (trx: Db, org: OrgId, id: string, now: Date) =>
  trx
    .updateTable('webhook_deliveries')
    .set({
      status: 'pending',
      reason: null,
      next_attempt_at: now,
      earlier_attempts: sql<number>`attempts`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)

type NewAttempt = {
  deliveryId: string
  number: number
  at: Date
  durationMs: number
  statusCode: number | null
  error: string | null
  answer: string | null
}

/** Inserts an attempt. Returns whether the delivery still exists, and locks the delivery until the transaction ends. */
export const insertAttempt = async (trx: Db, org: OrgId, attempt: NewAttempt): Promise<boolean> => {
  const { deliveryId, number, at, durationMs, statusCode, error, answer } = attempt
  const { rows } = await sql`
    INSERT INTO webhook_attempts (organization_id, delivery_id, number, attempted_at, duration_ms, status_code, error,
      answer)
    SELECT d.organization_id, d.id, ${number}::integer, ${at}::timestamptz, ${durationMs}::integer,
      ${statusCode}::smallint, ${error}, ${answer}
    FROM webhook_deliveries d WHERE d.organization_id = ${org} AND d.id = ${deliveryId}
    FOR KEY SHARE
    RETURNING 1`.execute(trx)
  return rows.length > 0
}

/**
 * Deletes the deliveries for reviews of these conversations, including their attempts. No other deliveries contain data
 * about a conversation.
 */
export const deleteDeliveriesOfReviews = async (trx: Db, org: OrgId, conversationIds: string[]): Promise<void> => {
  await trx
    .deleteFrom('webhook_deliveries')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .execute()
}

/** Selects old deliveries with their attempts. */
export const oldDeliveries = dueRows({
  table: 'webhook_deliveries',
  isDue: (now) => sql`created_at < ${daysBefore(now, 30)} AND status <> 'pending'`,
})
