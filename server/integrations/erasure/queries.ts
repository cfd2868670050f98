import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { nextRows } from '../../platform/db/pages.ts'

/** Deletes the deliveries of conversations that are being erased. */
export const deleteDeliveriesOfConversations = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await trx
    .deleteFrom('integration_deliveries')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}

/**
 * Deletes the spans with the conversation ID, and spans without any ID in the same traces. There are two statements,
 * because one statement with OR would read all spans in the organization instead of using the indexes.
 */
export const deleteSpansOf = async (trx: Db, org: OrgId, externalIds: string[]): Promise<void> => {
  const { rows } = await sql<{ traceId: string }>`
    WITH deleted AS (
      DELETE FROM otel_spans WHERE organization_id = ${org} AND conversation_key = ANY(${externalIds}::text[])
      RETURNING trace_id)
    SELECT DISTINCT trace_id AS "traceId" FROM deleted`.execute(trx)
  const traceIds = [...externalIds, ...rows.map(({ traceId }) => traceId)]
  await sql`
    DELETE FROM otel_spans
    WHERE organization_id = ${org} AND trace_id = ANY(${traceIds}::text[]) AND conversation_key IS NULL`.execute(trx)
}

/** Lists deliveries without a stored conversation, with their encrypted payloads. */
export const listUnassignedDeliveries = (db: Db, org: OrgId, limit: number, after: string | undefined) =>
  db
    .selectFrom('integration_deliveries')
    .select(['id', sql<string>`payload`.as('payload')])
    .where('organization_id', '=', org)
    .where('conversation_id', 'is', null)
    .where('payload', 'is not', null)
    .$call(nextRows('id', { limit, after }))
    .execute()

export const deleteDeliveriesById = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await trx
    .deleteFrom('integration_deliveries')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}
