import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { codes } from '../../platform/db/result-codes.ts'
import { dayMs } from '../../platform/durations.ts'

/** An item that currently meets a condition. */
export type Occurrence = { key: string; label: string }

/** If a query returns this many items, it may have omitted others. */
export const mostListed = 1_000

export const listSpikes = async (db: Db, org: OrgId, monitorId: string | undefined): Promise<Occurrence[]> => {
  const { rows } = await sql<Occurrence>`
    SELECT m.id AS key, m.name AS label
    FROM monitor_spike_states s JOIN monitors m ON m.organization_id = ${org} AND m.id = s.monitor_id
    WHERE s.organization_id = ${org} AND s.finding_id IS NOT NULL AND m.deleted_at IS NULL AND m.enabled
      AND s.monitor_version = m.current_version
      AND (${monitorId ?? null}::uuid IS NULL OR m.id = ${monitorId ?? null}::uuid)
    ORDER BY m.id LIMIT ${mostListed}`.execute(db)
  return rows
}

const priorities = ['none', 'low', 'medium', 'high', 'urgent']

type FindingQuery = { events: string[]; minPriority: string; since: Date }

const rank = (column: RawBuilder<string>) => sql<number>`array_position(${priorities}::text[], ${column})`

/** Lists the open findings with this event after `since`. Events before a finding was last closed don't count. */
export const listOpenFindings = async (
  db: Db,
  org: OrgId,
  { events, minPriority, since }: FindingQuery,
): Promise<Occurrence[]> => {
  const allowed = priorities.slice(priorities.indexOf(minPriority))
  const lastMove = (what: RawBuilder<boolean>) => sql`(
    SELECT max(v.created_at) FROM finding_moves v
    WHERE v.organization_id = ${org} AND v.finding_id = f.id AND ${what})`
  const reopened = lastMove(sql`v.from_status IN ('resolved', 'ignored') AND v.to_status IN ('open', 'acknowledged')`)
  const raised = lastMove(sql`${rank(sql`v.to_priority`)} > ${rank(sql`v.from_priority`)}`)
  const { rows } = await sql<Occurrence>`
    SELECT l.key, l.label FROM (
      SELECT f.id AS key, f.title AS label, f.created_at, ${reopened} AS reopened_at, ${raised} AS raised_at
      FROM findings f
      WHERE f.organization_id = ${org} AND f.status IN ('open', 'acknowledged') AND f.merged_into_id IS NULL
        AND f.priority = ANY(${allowed}::text[]) AND f.updated_at >= ${since}::timestamptz) l
    WHERE (${events.includes('created')} AND l.created_at >= ${since}::timestamptz AND l.reopened_at IS NULL)
      OR (${events.includes('reopened')} AND l.reopened_at >= ${since}::timestamptz)
      OR (${events.includes('raised')} AND l.raised_at >= ${since}::timestamptz
        AND (l.reopened_at IS NULL OR l.raised_at > l.reopened_at))
    ORDER BY l.key DESC LIMIT ${mostListed}`.execute(db)
  return rows
}

export const listAlarmedExperiments = async (db: Db, org: OrgId): Promise<Occurrence[]> => {
  const { rows } = await sql<Occurrence>`
    SELECT e.id AS key, e.name AS label FROM experiments e
    WHERE e.organization_id = ${org} AND e.status = 'running' AND e.alarmed_at IS NOT NULL
    ORDER BY e.id LIMIT ${mostListed}`.execute(db)
  return rows
}

export type FailureSource = 'judges' | 'webhooks' | 'destinations' | 'sync' | 'schedules' | 'jobs'

/**
 * Returns the earliest possible start of work that failed after `since`. Work only counts as failed after its last
 * retry, which can be two days after the first attempt.
 */
const startOfWork = (since: Date): Date => new Date(since.getTime() - 3 * dayMs)

/** Selects deliveries for which the last attempt failed. Some have no attempt, because nothing could be sent. */
const failedDeliveries = (org: OrgId, since: Date, tables: { deliveries: string; attempts: string }) => sql`
  SELECT FROM ${sql.table(tables.deliveries)} d
  WHERE d.organization_id = ${org} AND d.created_at >= ${startOfWork(since)}::timestamptz AND d.status = 'failed'
    AND (d.created_at >= ${since}::timestamptz OR EXISTS (
      SELECT FROM ${sql.table(tables.attempts)} a
      WHERE a.organization_id = ${org} AND a.delivery_id = d.id AND a.attempted_at >= ${since}::timestamptz))`

const failuresOf = (source: FailureSource, org: OrgId, since: Date): RawBuilder<unknown> => {
  switch (source) {
    case 'judges':
      return sql`SELECT FROM monitor_results WHERE organization_id = ${org}
        AND evaluated_at >= ${since}::timestamptz AND status = ${codes.failed}`
    case 'webhooks':
      return failedDeliveries(org, since, { deliveries: 'webhook_deliveries', attempts: 'webhook_attempts' })
    case 'destinations':
      return failedDeliveries(org, since, { deliveries: 'destination_deliveries', attempts: 'destination_attempts' })
    case 'sync':
      return sql`SELECT FROM integration_sync_runs WHERE organization_id = ${org}
        AND ended_at >= ${since}::timestamptz AND status = 'failed'`
    case 'schedules':
      return sql`SELECT FROM export_schedule_runs WHERE organization_id = ${org}
        AND finished_at >= ${since}::timestamptz AND status = 'failed'`
    case 'jobs':
      return sql`SELECT FROM jobs WHERE organization_id = ${org} AND ended_at >= ${since}::timestamptz
        AND state = 'dead'`
  }
}

const mostFailures = 1_000

/** Counts failures after `since`. Stops at 1,000. */
export const countFailures = async (db: Db, org: OrgId, source: FailureSource, since: Date): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (${failuresOf(source, org, since)} LIMIT ${mostFailures}) f`.execute(db)
  return rows[0]?.count ?? 0
}
