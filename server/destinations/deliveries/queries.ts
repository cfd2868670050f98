import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { daysBefore, dueRows } from '../../platform/db/due-rows.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'
import type { Message, MessageKind } from '../message.ts'

export type DeliveryStatus = 'pending' | 'succeeded' | 'failed' | 'superseded'

const columns = [
  'id',
  sql<MessageKind>`kind`.as('kind'),
  'subject_id as subjectId',
  sql<string>`message ->> 'title'`.as('title'),
  sql<DeliveryStatus>`status`.as('status'),
  'reason',
  'attempts as attemptCount',
  'next_attempt_at as nextAttemptAt',
  'created_at as createdAt',
] as const

type DeliveryFilter = { destinationId: string; status?: DeliveryStatus }

export const listMessageDeliveries = (db: Db, org: OrgId, { destinationId, status }: DeliveryFilter, page: Page) =>
  db
    .selectFrom('destination_deliveries')
    .select(columns)
    .where('organization_id', '=', org)
    .where('destination_id', '=', destinationId)
    .$if(status !== undefined, (query) => query.where('status', '=', status as string))
    .$call(newestFirst('id', page))
    .execute()

const selectDelivery = (db: Db, org: OrgId, destinationId: string, id: string) =>
  db
    .selectFrom('destination_deliveries')
    .select([...columns, sql<Message>`message`.as('message')])
    .where('organization_id', '=', org)
    .where('destination_id', '=', destinationId)
    .where('id', '=', id)

export const getMessageDelivery = (db: Db, org: OrgId, destinationId: string, id: string) =>
  selectDelivery(db, org, destinationId, id).executeTakeFirstOrThrow(notFound)

/** Locks a delivery and returns it, including whether there is a newer message about the same subject. */
export const lockMessageDelivery = (trx: Db, org: OrgId, destinationId: string, id: string) =>
  selectDelivery(trx, org, destinationId, id)
    .select(
      sql<boolean>`EXISTS (
        SELECT FROM destination_deliveries n
        WHERE n.organization_id = ${org} AND n.destination_id = ${destinationId}
          AND n.subject_id = destination_deliveries.subject_id
          AND n.position > destination_deliveries.position)`.as('isSuperseded'),
    )
    .forUpdate()
    .executeTakeFirstOrThrow(notFound)

export const listMessageAttempts = (db: Db, org: OrgId, deliveryId: string, limit: number) =>
  db
    .selectFrom('destination_attempts')
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

/**
 * Returns the data that an attempt needs, including whether there is a newer message about the subject, and whether an
 * older one is being sent or is waiting for its next attempt.
 */
export const findMessageDelivery = (db: Db, org: OrgId, id: string, now: Date) =>
  db
    .selectFrom('destination_deliveries as d')
    .select([
      'd.id',
      'd.subject_id as subjectId',
      'd.position',
      sql<Message>`d.message`.as('message'),
      sql<DeliveryStatus>`d.status`.as('status'),
      'd.attempts as attemptCount',
      'd.earlier_attempts as earlierAttempts',
      'd.created_at as createdAt',
      sql<boolean>`EXISTS (
        SELECT FROM destination_deliveries n
        WHERE n.organization_id = ${org} AND n.destination_id = d.destination_id AND n.subject_id = d.subject_id
          AND n.position > d.position)`.as('isSuperseded'),
      sql<boolean>`EXISTS (
        SELECT FROM destination_deliveries e
        WHERE e.organization_id = ${org} AND e.destination_id = d.destination_id AND e.subject_id = d.subject_id
          AND e.position < d.position AND e.next_attempt_at <= ${now}::timestamptz)`.as('isOlderBeingSent'),
      sql<boolean>`EXISTS (
        SELECT FROM destination_deliveries w
        WHERE w.organization_id = ${org} AND w.destination_id = d.destination_id AND w.subject_id = d.subject_id
          AND w.position < d.position AND w.next_attempt_at > ${now}::timestamptz)`.as('isOlderWaiting'),
    ])
    .where('d.organization_id', '=', org)
    .where('d.id', '=', id)
    .executeTakeFirst()

type NewDelivery = { id: string; destinationId: string; subjectId: string; message: Message; now: Date }

/**
 * Inserts a delivery. Returns false if the destination does not exist. Locks the destination, so that it still exists
 * when the transaction ends.
 */
export const insertMessageDelivery = async (trx: Db, org: OrgId, delivery: NewDelivery): Promise<boolean> => {
  const { id, destinationId, subjectId, message, now } = delivery
  // Messages about a subject are inserted one at a time, so that each gets its own number.
  await sql`SELECT pg_advisory_xact_lock(hashtextextended('messages about ' || ${subjectId}::text, 0))`.execute(trx)
  const { rows } = await sql`
    INSERT INTO destination_deliveries (organization_id, id, destination_id, kind, subject_id, position, message,
      next_attempt_at, created_at)
    SELECT t.organization_id, ${id}::uuid, t.id, ${message.kind}, ${subjectId}::uuid,
      (SELECT coalesce(max(d.position), 0) + 1 FROM destination_deliveries d
        WHERE d.organization_id = ${org} AND d.destination_id = ${destinationId} AND d.subject_id = ${subjectId}),
      ${JSON.stringify(message)}::jsonb, ${now}::timestamptz, ${now}::timestamptz
    FROM destinations t WHERE t.organization_id = ${org} AND t.id = ${destinationId}
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

export const updateMessageDelivery = (trx: Db, org: OrgId, id: string, change: DeliveryChange) =>
  trx
    .updateTable('destination_deliveries')
    .set({
      status: change.status,
      reason: change.reason,
      next_attempt_at: change.nextAttemptAt,
      attempts: change.attemptCount,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

/** Ends a pending delivery without another attempt. */
export const endMessageDelivery = (
  trx: Db,
  org: OrgId,
  id: string,
  { status, reason }: { status: Exclude<DeliveryStatus, 'pending'>; reason: string | null },
) =>
  trx
    .updateTable('destination_deliveries')
    .set({ status, reason, next_attempt_at: null })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute()

/** Ends the subject's pending messages that are older than this one. */
export const supersedeOlder = (
  trx: Db,
  org: OrgId,
  {
    destinationId,
    subjectId,
    position,
    reason,
  }: { destinationId: string; subjectId: string; position: number; reason: string },
) =>
  trx
    .updateTable('destination_deliveries')
    .set({ status: 'superseded', reason, next_attempt_at: null })
    .where('organization_id', '=', org)
    .where('destination_id', '=', destinationId)
    .where('subject_id', '=', subjectId)
    .where('position', '<', position)
    .where('status', '=', 'pending')
    .execute()

/** Starts a delivery over. Its attempts continue to be numbered from the last one. */
export const restartMessageDelivery = (trx: Db, org: OrgId, id: string, now: Date) =>
  trx
    .updateTable('destination_deliveries')
    .set({ status: 'pending', reason: null, next_attempt_at: now, earlier_attempts: sql<number>`attempts` })
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

/**
 * Inserts an attempt. Returns false if the delivery was deleted. Locks the delivery, so that it still exists when the
 * transaction ends.
 */
export const insertMessageAttempt = async (trx: Db, org: OrgId, attempt: NewAttempt): Promise<boolean> => {
  const { deliveryId, number, at, durationMs, statusCode, error, answer } = attempt
  const { rows } = await sql`
    INSERT INTO destination_attempts (organization_id, delivery_id, number, attempted_at, duration_ms, status_code,
      error, answer)
    SELECT d.organization_id, d.id, ${number}::integer, ${at}::timestamptz, ${durationMs}::integer,
      ${statusCode}::smallint, ${error}, ${answer}
    FROM destination_deliveries d WHERE d.organization_id = ${org} AND d.id = ${deliveryId}
    FOR KEY SHARE
    RETURNING 1`.execute(trx)
  return rows.length > 0
}

/** Selects old deliveries with their attempts. */
export const oldMessageDeliveries = dueRows({
  table: 'destination_deliveries',
  isDue: (now) => sql`created_at < ${daysBefore(now, 30)} AND status <> 'pending'`,
})

/** Removes the examples from stored messages about these subjects. */
export const removeExamples = (trx: Db, org: OrgId, subjectIds: string[]) =>
  trx
    .updateTable('destination_deliveries')
    .set({ message: sql`jsonb_set(jsonb_set(message, '{examples}', '[]'), '{event,data,conversationIds}', '[]')` })
    .where('organization_id', '=', org)
    .where('subject_id', '=', sql<string>`ANY(${subjectIds}::uuid[])`)
    .execute()
