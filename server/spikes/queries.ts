import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { codes } from '../platform/db/result-codes.ts'
import type { Page } from '../platform/http/paging.ts'

/** The time from the earliest call that counts to the end of the last closed hour. */
export type HourRange = { since: Date; until: Date }

/**
 * Returns whether monitor `m` in this organization, with its state `s`, has results that were not counted yet. A new
 * version waits for its backfill, which becomes its history. Needs one index lookup for each monitor.
 */
const isDue = (org: OrgId | RawBuilder<OrgId>, { since, until }: HourRange): RawBuilder<boolean> => sql`
  m.enabled AND m.deleted_at IS NULL
  AND coalesce((
    SELECT true FROM monitor_results r
    WHERE r.organization_id = ${org} AND r.monitor_id = m.id
      AND r.call_started_at >= greatest(s.next_hour, ${since}::timestamptz) AND r.call_started_at < ${until}::timestamptz
      AND r.monitor_version = m.current_version AND r.status = ${codes.scored}
    LIMIT 1), false)
  AND (s.monitor_id IS NOT NULL OR NOT EXISTS (
    SELECT 1 FROM evaluation_runs e
    WHERE e.organization_id = ${org} AND e.monitor_id = m.id
      AND e.kind = 'backfill' AND e.status IN ('queued', 'running')))`

const monitorsWithState = sql`
  monitors m LEFT JOIN monitor_spike_states s ON s.organization_id = m.organization_id AND s.monitor_id = m.id
    AND s.monitor_version = m.current_version`

export const listDueOrganizationsAllOrgs = async (db: Db, range: HourRange): Promise<{ id: OrgId }[]> => {
  const { rows } = await sql<{ id: OrgId }>`
    SELECT o.id FROM organizations o JOIN ${monitorsWithState} ON m.organization_id = o.id
    WHERE o.monitors AND o.suspended_at IS NULL AND ${isDue(sql`m.organization_id`, range)}
    GROUP BY o.id`.execute(db)
  return rows
}

export const listDueMonitors = async (db: Db, org: OrgId, range: HourRange, { limit, after }: Page) => {
  const { rows } = await sql<{ id: string }>`
    SELECT m.id FROM ${monitorsWithState}
    WHERE m.organization_id = ${org} AND (${after ?? null}::uuid IS NULL OR m.id > ${after ?? null}::uuid)
      AND ${isDue(org, range)}
    ORDER BY m.id LIMIT ${limit}`.execute(db)
  return rows
}

export type SpikeState = {
  version: number
  /** All calls that started before this time are counted. */
  nextHour: Date
  /** The detector as JSON. */
  detector: object
  /** The finding of the current spike, or null. */
  findingId: string | null
}

const columnsOf = ({ version, nextHour, detector, findingId }: SpikeState) => ({
  monitor_version: version,
  next_hour: nextHour,
  detector: JSON.stringify(detector),
  finding_id: findingId,
})

/** Locks the state of a monitor for this transaction. Inserts the given state if there is none. */
export const lockState = async (trx: Db, org: OrgId, monitorId: string, first: SpikeState): Promise<SpikeState> => {
  await trx
    .insertInto('monitor_spike_states')
    .values({ organization_id: org, monitor_id: monitorId, ...columnsOf(first) })
    .onConflict((conflict) => conflict.constraint('monitor_spike_states_pkey').doNothing())
    .execute()
  return trx
    .selectFrom('monitor_spike_states')
    .select([
      'monitor_version as version',
      'next_hour as nextHour',
      sql<object>`detector`.as('detector'),
      'finding_id as findingId',
    ])
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export const saveState = (trx: Db, org: OrgId, monitorId: string, state: SpikeState) =>
  trx
    .updateTable('monitor_spike_states')
    .set(columnsOf(state))
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    .execute()

/**
 * Selects scored results of one monitor version by the start of their calls. Uses an index-only scan of the primary
 * key.
 */
type Span = { monitorId: string; version: number; since: Date; until: Date }

const scored = (db: Db, org: OrgId, { monitorId, version, since, until }: Span) =>
  db
    .selectFrom('monitor_results')
    .where('organization_id', '=', org)
    .where('monitor_id', '=', monitorId)
    .where('call_started_at', '>=', since)
    .where('call_started_at', '<', until)
    .where('monitor_version', '=', version)
    .where('status', '=', 0)

/** Lists the counts for each hour with calls, in order. */
export const listHours = (db: Db, org: OrgId, span: Span) =>
  scored(db, org, span)
    .select([
      sql<Date>`date_bin('1 hour', call_started_at, '1970-01-01Z')`.as('start'),
      ({ fn }) => fn.countAll<number>().as('calls'),
      sql<number>`sum(result)`.as('affected'),
    ])
    .groupBy('start')
    .orderBy('start')
    .execute()

export const countScored = (db: Db, org: OrgId, span: Span) =>
  scored(db, org, span)
    .select([({ fn }) => fn.countAll<number>().as('calls'), sql<number>`coalesce(sum(result), 0)`.as('affected')])
    .executeTakeFirstOrThrow()

/** Lists the affected conversations, newest first. */
export const listAffected = async (db: Db, org: OrgId, span: Span, limit: number): Promise<string[]> => {
  const rows = await scored(db, org, span)
    .select('conversation_id as id')
    // The value must be a literal, as in the condition of the index.
    .where('result', '=', codes.affected)
    .orderBy('call_started_at', 'desc')
    .orderBy('conversation_id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}
