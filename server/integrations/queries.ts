import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { DueRows } from '../platform/db/due-rows.ts'
import { newestFirst } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'
import type { Provider } from '../transcripts/provider-calls/read-call.ts'

type IntegrationSettings = { agentId?: string } & Record<string, unknown>

const countLimit = 10_000

/**
 * Returns the columns of an integration. `sinceId` is the lowest ID at the time from which deliveries are counted. Each
 * count is one short index scan.
 */
const columnsOf = (org: OrgId, sinceId: string) =>
  [
    'integrations.id',
    sql<Provider>`provider`.as('provider'),
    'name',
    sql<IntegrationSettings>`settings`.as('settings'),
    'previous_secret_until as previousSecretUntil',
    sql<Date | null>`(
      SELECT d.received_at FROM integration_deliveries d
      WHERE d.organization_id = ${org} AND d.integration_id = integrations.id
      ORDER BY d.id DESC LIMIT 1)`.as('lastDeliveryAt'),
    sql<Record<string, number>>`(
      SELECT jsonb_object_agg(known.status, (
        SELECT count(*) FROM (
          SELECT FROM integration_deliveries d
          WHERE d.organization_id = ${org} AND d.integration_id = integrations.id
            AND d.status = known.status AND d.id >= ${sinceId}
          LIMIT ${countLimit}) AS counted))
      FROM unnest(ARRAY['pending', 'applied', 'unchanged', 'ignored', 'unreadable', 'rejected', 'erased', 'failed'])
        AS known(status))`.as('recentDeliveries'),
    'created_at as createdAt',
    'updated_at as updatedAt',
  ] as const

export const listIntegrations = (db: Db, org: OrgId, page: Page, sinceId: string) =>
  db
    .selectFrom('integrations')
    .select(columnsOf(org, sinceId))
    .where('organization_id', '=', org)
    .$call(newestFirst('id', page))
    .execute()

export const getIntegration = (db: Db, org: OrgId, id: string, sinceId: string) =>
  db
    .selectFrom('integrations')
    .select(columnsOf(org, sinceId))
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

const sealedColumns = [
  sql<OrgId>`integrations.organization_id`.as('org'),
  'integrations.id',
  sql<Provider>`integrations.provider`.as('provider'),
  'integrations.name',
  'integrations.secret',
  'integrations.previous_secret as previousSecret',
  'integrations.previous_secret_until as previousSecretUntil',
  sql<IntegrationSettings>`integrations.settings`.as('settings'),
] as const

const selectSealed = (db: Db, org: OrgId, id: string) =>
  db.selectFrom('integrations').select(sealedColumns).where('organization_id', '=', org).where('id', '=', id)

/** Returns an integration with its encrypted secrets, which never leave the service. */
export const findSealedIntegration = (db: Db, org: OrgId, id: string) => selectSealed(db, org, id).executeTakeFirst()

export const getSealedIntegration = (db: Db, org: OrgId, id: string) =>
  selectSealed(db, org, id).executeTakeFirstOrThrow(notFound)

const lockOf = (id: string) => sql`hashtextextended('integration ' || ${id}::text, 0)`

/**
 * Locks an integration against changes and deliveries until the transaction ends. Does not lock its row: every node of
 * a Citus cluster has a copy, and locking all copies would make each webhook wait for the others.
 */
export const lockIntegration = async (trx: Db, org: OrgId, id: string) => {
  await sql`SELECT pg_advisory_xact_lock(${lockOf(id)})`.execute(trx)
  return getSealedIntegration(trx, org, id)
}

/** Prevents changes and deletion of an integration until the transaction ends. */
export const lockIntegrationShared = async (trx: Db, org: OrgId, id: string) => {
  await sql`SELECT pg_advisory_xact_lock_shared(${lockOf(id)})`.execute(trx)
  return getSealedIntegration(trx, org, id)
}

/** Finds an integration by its ID only, because a provider's webhook contains nothing else. */
export const findCalledIntegrationAllOrgs = (db: Db, id: string) =>
  db
    .selectFrom('integrations')
    .innerJoin('organizations', 'organizations.id', 'integrations.organization_id')
    .select([...sealedColumns, 'organizations.suspended_at as suspendedAt'])
    .where('integrations.id', '=', id)
    .executeTakeFirst()

type NewIntegration = { id: string; provider: Provider; name: string; secret: string; settings: IntegrationSettings }

export const insertIntegration = (db: Db, org: OrgId, { settings, ...integration }: NewIntegration) =>
  db
    .insertInto('integrations')
    .values({ organization_id: org, ...integration, settings: JSON.stringify(settings) })
    .execute()

type IntegrationChange = {
  name?: string
  settings?: IntegrationSettings
  secret?: string
  previousSecret?: string | null
  previousSecretUntil?: Date | null
}

export const updateIntegration = (db: Db, org: OrgId, id: string, change: IntegrationChange) =>
  db
    .updateTable('integrations')
    .set({
      ...(change.name !== undefined && { name: change.name }),
      ...(change.settings !== undefined && { settings: JSON.stringify(change.settings) }),
      ...(change.secret !== undefined && { secret: change.secret }),
      ...(change.previousSecret !== undefined && { previous_secret: change.previousSecret }),
      ...(change.previousSecretUntil !== undefined && { previous_secret_until: change.previousSecretUntil }),
      updated_at: sql`now()`,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

export const deleteIntegration = (db: Db, org: OrgId, id: string) =>
  db
    .deleteFrom('integrations')
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirstOrThrow(notFound)

/** Deletes expired secrets. There are few, and every node of a cluster has the table, so no rows are locked first. */
export const replacedSecrets: DueRows = {
  listOrganizationsAllOrgs: (db, now) =>
    db
      .selectFrom('integrations')
      .select(sql<OrgId>`organization_id`.as('id'))
      .distinct()
      .where('previous_secret_until', '<=', now)
      .execute(),
  sweep: async (db, org, { now }) => {
    await db
      .updateTable('integrations')
      .set({ previous_secret: null, previous_secret_until: null })
      .where('organization_id', '=', org)
      .where('previous_secret_until', '<=', now)
      .execute()
    return 0
  },
}

/** Finds the conversation of a phone call by its Twilio ID. */
export const findConversationOfCall = async (db: Db, org: OrgId, callSid: string): Promise<string | undefined> => {
  const { rows } = await sql<{ id: string }>`
    SELECT id FROM conversations WHERE organization_id = ${org} AND external_id = ${callSid}
    UNION ALL
    SELECT id FROM conversations WHERE organization_id = ${org} AND metadata @> ${JSON.stringify({ callSid })}::jsonb
    LIMIT 1`.execute(db)
  return rows[0]?.id
}
