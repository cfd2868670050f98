import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { nextRows } from '../../platform/db/pages.ts'
import { notFound } from '../../platform/errors.ts'
import type { Page } from '../../platform/http/paging.ts'

/** Selects a sync. Its gaps include calls that are still in progress or could not be stored. */
const columnsOf = (org: OrgId) =>
  [
    'integration_id as integrationId',
    'enabled',
    'api_base_url as apiBaseUrl',
    'interval_minutes as intervalMinutes',
    'lookback_days as lookbackDays',
    'next_run_at as nextRunAt',
    'paused_reason as pausedReason',
    sql<Date>`LEAST(listed_until, (
    SELECT min(g.began_at) FROM integration_sync_gaps g
    WHERE g.organization_id = ${org} AND g.integration_id = integration_syncs.integration_id
      AND g.state = 'unfinished'))`.as('completeUntil'),
    sql<number>`(
    SELECT count(*) FROM integration_sync_gaps g
    WHERE g.organization_id = ${org} AND g.integration_id = integration_syncs.integration_id
      AND g.state = 'failed')`.as('openGaps'),
  ] as const

const selectSyncs = (db: Db, org: OrgId) =>
  db.selectFrom('integration_syncs').select(columnsOf(org)).where('organization_id', '=', org)

export const listSyncs = (db: Db, org: OrgId, integrationIds: string[]) =>
  selectSyncs(db, org).where('integration_id', '=', sql<string>`ANY(${integrationIds}::uuid[])`).execute()

export const getSync = (db: Db, org: OrgId, integrationId: string) =>
  selectSyncs(db, org).where('integration_id', '=', integrationId).executeTakeFirstOrThrow(notFound)

const selectSealed = (db: Db, org: OrgId, integrationId: string) =>
  db
    .selectFrom('integration_syncs')
    .select([
      'enabled',
      'api_key as apiKey',
      'api_base_url as apiBaseUrl',
      'interval_minutes as intervalMinutes',
      'lookback_days as lookbackDays',
      'listed_until as listedUntil',
      'failures',
      'paused_reason as pausedReason',
    ])
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)

/** Returns a sync with its encrypted key, which never leaves the service. */
export const findSealedSync = (db: Db, org: OrgId, integrationId: string) =>
  selectSealed(db, org, integrationId).executeTakeFirst()

/** Locks a sync. Callers lock it before its run, so that no two transactions deadlock. */
export const lockSync = (trx: Db, org: OrgId, integrationId: string) =>
  selectSealed(trx, org, integrationId).forNoKeyUpdate().executeTakeFirst()

/**
 * Locks a sync against deletion. Callers need this lock before they lock its run and write rows that belong to the
 * sync.
 */
export const lockSyncShared = (trx: Db, org: OrgId, integrationId: string) =>
  selectSealed(trx, org, integrationId).forKeyShare().executeTakeFirst()

type SyncRow = {
  enabled: boolean
  apiKey: string
  apiBaseUrl: string | null
  intervalMinutes: number
  lookbackDays: number
  listedUntil: Date
  nextRunAt: Date
}

export const upsertSync = async (trx: Db, org: OrgId, integrationId: string, row: SyncRow): Promise<void> => {
  await sql`
    INSERT INTO integration_syncs (organization_id, integration_id, enabled, api_key, api_base_url, interval_minutes,
      lookback_days, listed_until, next_run_at)
    VALUES (${org}, ${integrationId}, ${row.enabled}, ${row.apiKey}, ${row.apiBaseUrl}, ${row.intervalMinutes},
      ${row.lookbackDays}, ${row.listedUntil}, ${row.nextRunAt})
    ON CONFLICT ON CONSTRAINT integration_syncs_pkey DO UPDATE SET enabled = excluded.enabled,
      api_key = excluded.api_key, api_base_url = excluded.api_base_url, interval_minutes = excluded.interval_minutes,
      lookback_days = excluded.lookback_days, listed_until = excluded.listed_until,
      next_run_at = excluded.next_run_at, failures = 0, paused_reason = NULL, updated_at = excluded.updated_at`.execute(
    trx,
  )
}

type SyncChange = { nextRunAt?: Date; listedUntil?: Date; failures?: number; pausedReason?: string }

export const updateSync = async (trx: Db, org: OrgId, integrationId: string, change: SyncChange): Promise<void> => {
  const { nextRunAt, listedUntil, failures, pausedReason } = change
  await trx
    .updateTable('integration_syncs')
    .set({
      ...(nextRunAt && { next_run_at: nextRunAt }),
      ...(listedUntil && { listed_until: listedUntil }),
      ...(failures !== undefined && { failures }),
      ...(pausedReason !== undefined && { paused_reason: pausedReason }),
    })
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .execute()
}

export const deleteSync = (trx: Db, org: OrgId, integrationId: string) =>
  trx
    .deleteFrom('integration_syncs')
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .returning('integration_id')
    .executeTakeFirstOrThrow(notFound)

const selectDueSyncsAllOrgs = (
  db: Db,
  now: Date,
  org: RawBuilder<string> = sql.ref('integration_syncs.organization_id'),
) =>
  db
    .selectFrom('integration_syncs')
    .innerJoin('organizations', 'organizations.id', 'integration_syncs.organization_id')
    .where('enabled', '=', true)
    .where('paused_reason', 'is', null)
    .where('organizations.suspended_at', 'is', null)
    .where('next_run_at', '<=', now)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('integration_sync_runs as r')
            .where('r.organization_id', '=', org)
            .whereRef('r.integration_id', '=', 'integration_syncs.integration_id')
            .where('r.status', '=', 'running'),
        ),
      ),
    )

export const listOrganizationsWithDueSyncsAllOrgs = (db: Db, now: Date) =>
  selectDueSyncsAllOrgs(db, now).select(sql<OrgId>`organization_id`.as('id')).distinct().execute()

/** Lists the syncs that are due, ordered by integration ID. */
export const listDueSyncs = (db: Db, org: OrgId, now: Date, page: Page) =>
  selectDueSyncsAllOrgs(db, now, sql`${org}`)
    .select('integration_id as id')
    .where('organization_id', '=', org)
    .$call(nextRows('integration_id', page))
    .execute()
