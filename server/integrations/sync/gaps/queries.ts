import { sql } from 'kysely'
import type { Db, OrgId } from '../../../platform/db/database.ts'
import { daysBefore, dueRows } from '../../../platform/db/due-rows.ts'
import { newestFirst } from '../../../platform/db/pages.ts'
import type { Page } from '../../../platform/http/paging.ts'

type GapState = 'unfinished' | 'failed'

type GapFilter = { integrationId: string; state?: GapState }

export const listGaps = (db: Db, org: OrgId, { integrationId, state }: GapFilter, page: Page) =>
  db
    .selectFrom('integration_sync_gaps')
    .select([
      'id',
      'external_id as externalId',
      sql<GapState>`state`.as('state'),
      'reason',
      'began_at as beganAt',
      'attempts',
      'found_at as foundAt',
      'tried_at as triedAt',
      'next_try_at as nextTryAt',
    ])
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .$if(state !== undefined, (query) => query.where('state', '=', state as string))
    .$call(newestFirst('id', page))
    .execute()

export const countGaps = async (db: Db, org: OrgId, integrationId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('integration_sync_gaps')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .executeTakeFirstOrThrow()
  return count
}

export const listDueGaps = async (db: Db, org: OrgId, integrationId: string, now: Date, limit: number) => {
  const rows = await db
    .selectFrom('integration_sync_gaps')
    .select('external_id as externalId')
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .where('next_try_at', '<=', now)
    .orderBy('next_try_at')
    .limit(limit)
    .execute()
  return rows.map(({ externalId }) => externalId)
}

export const findGaps = (db: Db, org: OrgId, integrationId: string, externalIds: string[]) =>
  db
    .selectFrom('integration_sync_gaps')
    .select(['external_id as externalId', sql<GapState>`state`.as('state'), 'began_at as beganAt', 'attempts'])
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .where('external_id', '=', sql<string>`ANY(${externalIds}::text[])`)
    .execute()

export type Gap = {
  id: string
  externalId: string
  state: GapState
  reason: string | null
  /** Null leaves the current value unchanged. */
  beganAt: Date | null
  triedAt: Date
  nextTryAt: Date
}

export const upsertGap = async (trx: Db, org: OrgId, integrationId: string, gap: Gap): Promise<void> => {
  await sql`
    INSERT INTO integration_sync_gaps AS g (organization_id, id, integration_id, external_id, state, reason, began_at,
      attempts, tried_at, next_try_at, found_at)
    VALUES (${org}, ${gap.id}, ${integrationId}, ${gap.externalId}, ${gap.state}, ${gap.reason}, ${gap.beganAt},
      1, ${gap.triedAt}, ${gap.nextTryAt}, ${gap.triedAt})
    ON CONFLICT ON CONSTRAINT integration_sync_gaps_external_id_key DO UPDATE SET state = excluded.state,
      reason = excluded.reason, began_at = COALESCE(excluded.began_at, g.began_at), attempts = g.attempts + 1,
      tried_at = excluded.tried_at, next_try_at = excluded.next_try_at`.execute(trx)
}

export const deleteGap = async (trx: Db, org: OrgId, integrationId: string, externalId: string): Promise<void> => {
  await trx
    .deleteFrom('integration_sync_gaps')
    .where('organization_id', '=', org)
    .where('integration_id', '=', integrationId)
    .where('external_id', '=', externalId)
    .execute()
}

/**
 * Selects gaps for calls that have been stored from any source. They are deleted, because the ID of a call must not
 * outlive the call.
 */
export const storedGaps = dueRows({
  table: 'integration_sync_gaps',
  isDue: (_now, org) => sql`EXISTS (
    SELECT FROM conversations c
    WHERE c.organization_id = ${org} AND c.external_id = integration_sync_gaps.external_id
      AND (c.status = 'failed' OR (c.status = 'completed' AND EXISTS (
        SELECT FROM transcripts t WHERE t.organization_id = ${org} AND t.conversation_id = c.id))))`,
})

/** Deletes the gaps for erased calls in all integrations. */
export const deleteGapsOfCalls = async (trx: Db, org: OrgId, externalIds: string[]): Promise<void> => {
  await trx
    .deleteFrom('integration_sync_gaps')
    .where('organization_id', '=', org)
    .where('external_id', '=', sql<string>`ANY(${externalIds}::text[])`)
    .execute()
}

export const oldGaps = dueRows({
  table: 'integration_sync_gaps',
  isDue: (now) => sql`found_at < ${daysBefore(now, 90)}`,
})
