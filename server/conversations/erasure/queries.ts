import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type Erased = { id: string; externalId: string | null; startedAt: Date; agentId: string }

/** In the order of the ingest, which then finds the tombstones where it found the conversations. */
export const lockErased = (trx: Db, org: OrgId, ids: string[]): Promise<Erased[]> =>
  trx
    .selectFrom('conversations')
    .select(['id', 'external_id as externalId', 'started_at as startedAt', 'agent_id as agentId'])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .orderBy('external_id')
    .orderBy('id')
    .forUpdate()
    .execute()

export const insertTombstones = async (trx: Db, org: OrgId, hashes: string[]): Promise<void> => {
  await sql`
    INSERT INTO conversation_tombstones (organization_id, hash) SELECT ${org}::uuid, unnest(${hashes}::text[])
    ON CONFLICT DO NOTHING`.execute(trx)
}

export const listErasedFiles = async (trx: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await trx
    .selectFrom('recordings')
    .select('blob_key as key')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('blob_key', 'is not', null)
    .execute()
  return rows.flatMap(({ key }) => key ?? [])
}

export const deleteDeliveriesOf = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await trx
    .deleteFrom('integration_deliveries')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}

/**
 * Results are found by their monitors and the start of the call, which is how their primary key begins; also those
 * of deleted monitors, which a job has yet to come to.
 */
export const deleteResultsOf = async (trx: Db, org: OrgId, erased: Erased[]): Promise<void> => {
  await sql`
    DELETE FROM monitor_results r
    USING unnest(${erased.map(({ id }) => id)}::uuid[], ${erased.map(({ startedAt }) => startedAt)}::timestamptz[])
      AS e(id, started_at)
    WHERE r.organization_id = ${org}
      AND r.monitor_id = ANY(ARRAY(SELECT m.id FROM monitors m WHERE m.organization_id = ${org}))
      AND r.call_started_at = e.started_at AND r.conversation_id = e.id`.execute(trx)
}

/** Transcript, recording, metrics, reviews and places in findings go with it, by their foreign keys. */
export const deleteConversations = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await trx
    .deleteFrom('conversations')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}

/**
 * Spans that name the conversation, and those of its traces that name none. Two statements, each by an index of its
 * own: joined by OR, all spans of the organization would be read.
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

export const listRetainingOrganizationsAllOrgs = (db: Db) =>
  db.selectFrom('organizations').select(sql<OrgId>`id`.as('id')).where('retention_days', 'is not', null).execute()

/** Null where everything is kept. */
export const findRetentionDays = async (db: Db, org: OrgId): Promise<number | null> => {
  const found = await db
    .selectFrom('organizations')
    .select('retention_days as days')
    .where('id', '=', org)
    .executeTakeFirst()
  return found?.days ?? null
}

type Place = { startedAt: Date; id: string }

/** The oldest first. `after` leaves behind what was erased just before: its index entries are still there. */
export const listOutdatedConversations = (db: Db, org: OrgId, before: Date, limit: number, after: Place | undefined) =>
  db
    .selectFrom('conversations')
    .select(['id', 'started_at as startedAt'])
    .where('organization_id', '=', org)
    .where('started_at', '<', before)
    .$if(after !== undefined, (query) =>
      query.where(sql<boolean>`(started_at, id) > (${after?.startedAt}, ${after?.id}::uuid)`),
    )
    .orderBy('started_at')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Deliveries that tell of no conversation that was stored, and hold what they brought. Sealed. */
export const listUnassignedDeliveries = (db: Db, org: OrgId, limit: number, after: string | undefined) =>
  db
    .selectFrom('integration_deliveries')
    .select(['id', sql<string>`payload`.as('payload')])
    .where('organization_id', '=', org)
    .where('conversation_id', 'is', null)
    .where('payload', 'is not', null)
    .$if(after !== undefined, (query) => query.where('id', '>', after as string))
    .orderBy('id')
    .limit(limit)
    .execute()

export const deleteDeliveries = async (trx: Db, org: OrgId, ids: string[]): Promise<void> => {
  await trx
    .deleteFrom('integration_deliveries')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
}
