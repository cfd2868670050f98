import { sql } from 'kysely'
import { notApplicable } from '../../filters/category.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { codes } from '../../platform/db/result-codes.ts'
import { samplePosition } from '../queries.ts'

export type Scorable = { id: string; startedAt: Date; samplePosition: number }

/**
 * Locks completed conversations until the transaction ends, in the same order as all other code. Their results can
 * still be stored, but no other transaction can compute their scorecards. The next statement reads everything that was
 * committed before the lock.
 */
export const lockScorable = (trx: Db, org: OrgId, ids: string[]): Promise<Scorable[]> =>
  trx
    .selectFrom('conversations')
    .select(['id', 'started_at as startedAt', samplePosition.as('samplePosition')])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('status', '=', 'completed')
    .orderBy('external_id')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()

export type ItemResult = {
  conversationId: string
  monitorId: string
  version: number
  outcome: 'passed' | 'affected' | 'not_applicable' | 'unscored'
}

type ItemsOfSlice = {
  /** The monitors for which the newest result counts. */
  followedIds: string[]
  /** The versions that count. */
  pins: { monitorId: string; version: number }[]
}

/** Lists the item results for conversations, newest version first. */
export const listItemResults = async (
  trx: Db,
  org: OrgId,
  conversations: Scorable[],
  { followedIds, pins }: ItemsOfSlice,
): Promise<ItemResult[]> => {
  const subjects = sql`unnest(${conversations.map(({ id }) => id)}::uuid[],
      ${conversations.map(({ startedAt }) => startedAt)}::timestamptz[]) AS c(id, started_at)`
  const columns = sql`r.conversation_id AS "conversationId", r.monitor_id AS "monitorId", r.monitor_version AS version,
      CASE WHEN r.result = ${codes.affected} THEN 'affected' WHEN r.result = ${codes.notAffected} THEN 'passed'
        WHEN r.categories @> ARRAY[${notApplicable}]::text[] THEN 'not_applicable' ELSE 'unscored' END AS outcome`
  const { rows } = await sql<ItemResult>`
    (SELECT DISTINCT ON (r.conversation_id, r.monitor_id) ${columns}
    FROM ${subjects}
    JOIN monitor_results r ON r.organization_id = ${org} AND r.monitor_id = ANY(${followedIds}::uuid[])
      AND r.call_started_at = c.started_at AND r.conversation_id = c.id
    ORDER BY r.conversation_id, r.monitor_id, r.monitor_version DESC)
    UNION
    SELECT ${columns}
    FROM ${subjects}
    CROSS JOIN unnest(${pins.map(({ monitorId }) => monitorId)}::uuid[],
      ${pins.map(({ version }) => version)}::integer[]) AS p(monitor_id, version)
    JOIN monitor_results r ON r.organization_id = ${org} AND r.monitor_id = p.monitor_id
      AND r.call_started_at = c.started_at AND r.conversation_id = c.id AND r.monitor_version = p.version
    ORDER BY "conversationId", "monitorId", version DESC`.execute(trx)
  return rows
}

/** Returns the names of monitors by ID. */
export const findItemNames = async (trx: Db, org: OrgId, ids: string[]): Promise<Map<string, string>> => {
  const rows = await trx
    .selectFrom('monitors')
    .select(['id', 'name'])
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('deleted_at', 'is', null)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
