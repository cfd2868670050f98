import { sql } from 'kysely'
import { isFairlySampled } from '../buckets/queries.ts'
import { type Calendar, type CalendarWindow, listPeriodBounds } from '../platform/db/calendar.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { codes } from '../platform/db/result-codes.ts'

type Counts = {
  affected: number
  notAffected: number
  unscored: number
  failed: number
  meanScore: number | null
  cost: number | null
}

const nothing: Counts = { affected: 0, notAffected: 0, unscored: 0, failed: 0, meanScore: null, cost: null }

/** `withCost` also reads costs from the rows. They are not in the primary key, and only judges have them. */
type TrendQuery = Calendar & CalendarWindow & { version: number | undefined; mostBuckets: number; withCost: boolean }

/**
 * Counts the results of a monitor by the start of the calls, oldest first, including empty intervals. Uses a backward
 * index-only scan, which returns the newest version of each conversation first.
 */
export const countByTime = async (db: Db, org: OrgId, monitorId: string, wanted: TrendQuery) => {
  const { version, mostBuckets, withCost, ...asked } = wanted
  const bounds = await listPeriodBounds(db, asked, asked, mostBuckets)
  const ofMonitor = sql`
    r.organization_id = ${org} AND r.monitor_id = ${monitorId}
    AND r.call_started_at >= ${bounds[0]}::timestamptz AND r.call_started_at < ${asked.until}::timestamptz`
  const cost = withCost ? sql`r.cost` : sql`NULL::double precision`
  const newest = sql`
    SELECT DISTINCT ON (r.call_started_at, r.conversation_id) r.call_started_at, r.status, r.result, r.score, ${cost} AS cost
    FROM monitor_results r WHERE ${ofMonitor}
    ORDER BY r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC`
  const ofVersion = sql`
    SELECT r.call_started_at, r.status, r.result, r.score, ${cost} AS cost
    FROM monitor_results r WHERE ${ofMonitor} AND r.monitor_version = ${version ?? null}::integer`
  const { rows } = await sql<Counts & { bucket: number }>`
    SELECT width_bucket(n.call_started_at, ${bounds}::timestamptz[]) - 1 AS bucket,
      count(*) FILTER (WHERE n.result = ${codes.affected}) AS affected,
      count(*) FILTER (WHERE n.result = ${codes.notAffected}) AS "notAffected",
      count(*) FILTER (WHERE n.status = ${codes.unscored}) AS unscored,
      count(*) FILTER (WHERE n.status = ${codes.failed}) AS failed,
      avg(n.score) FILTER (WHERE n.status = ${codes.scored}) AS "meanScore",
      sum(n.cost) AS cost
    FROM (${version === undefined ? newest : ofVersion}) n
    GROUP BY bucket`.execute(db)
  const found = new Map(rows.map(({ bucket, ...counts }) => [bucket, counts]))
  return bounds.slice(0, -1).map((start, at) => ({
    start,
    end: bounds[at + 1] ?? asked.until,
    ...(found.get(at) ?? nothing),
  }))
}

type Judged = { judge: number; human: number }

/**
 * Lists the reviewed calls of a fair sample, in and outside buckets. Each has the monitor's result (1 is affected) and the
 * share of reviewers who judged it affected. Selects the same results as `countByTime`.
 */
export const listReviewedResults = async (db: Db, org: OrgId, monitorId: string, { since, until, version }: Within) => {
  const counts =
    version === undefined
      ? sql`NOT EXISTS (
        SELECT 1 FROM monitor_results n WHERE n.organization_id = ${org} AND n.monitor_id = ${monitorId}
          AND n.call_started_at = m.call_started_at AND n.conversation_id = m.conversation_id
          AND n.monitor_version > m.monitor_version)`
      : sql`m.monitor_version = ${version}::integer`
  const { rows } = await sql<Judged>`
    SELECT m.result AS judge, avg((j.correct_result = 'affected')::integer)::float8 AS human
    FROM review_judgments j
    JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed'
    JOIN conversations c ON c.organization_id = ${org} AND c.id = r.conversation_id
      AND c.started_at >= ${since}::timestamptz AND c.started_at < ${until}::timestamptz
    JOIN monitor_results m ON m.organization_id = ${org} AND m.monitor_id = j.monitor_id
      AND m.call_started_at = c.started_at AND m.conversation_id = c.id AND m.monitor_version = j.monitor_version
      AND m.result IS NOT NULL
    JOIN monitors o ON o.organization_id = ${org} AND o.id = j.monitor_id
    CROSS JOIN (SELECT NULL::uuid AS agent_id) x
    WHERE j.organization_id = ${org} AND j.monitor_id = ${monitorId} AND j.correct_result <> 'unsure'
      AND NOT j.superseded AND ${counts} AND ${isFairlySampled(org)}
    GROUP BY m.call_started_at, m.conversation_id, m.monitor_version, m.result`.execute(db)
  return rows
}

type Within = { since: Date; until: Date; version: number | undefined }
