import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { codes } from '../../platform/db/result-codes.ts'

type Periods = { before: Date; since: Date; until: Date }

type Counts = {
  id: string
  name: string
  affected: number
  notAffected: number
  affectedBefore: number
  notAffectedBefore: number
  lowestVersion: number | null
  highestVersion: number | null
}

/**
 * Counts the newest result of each conversation for enabled monitors in two periods. Uses an index-only scan of the
 * primary key.
 */
export const countTwoPeriods = async (db: Db, org: OrgId, { before, since, until }: Periods, mostMonitors: number) => {
  const { rows } = await sql<Counts>`
    SELECT m.id, m.name, c.*
    FROM (
      SELECT id, name FROM monitors WHERE organization_id = ${org} AND deleted_at IS NULL AND enabled
      ORDER BY id DESC LIMIT ${mostMonitors}) m
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE n.result = ${codes.affected} AND n.call_started_at >= ${since}::timestamptz)::int AS affected,
        count(*) FILTER (WHERE n.result = ${codes.notAffected} AND n.call_started_at >= ${since}::timestamptz)::int AS "notAffected",
        count(*) FILTER (WHERE n.result = ${codes.affected} AND n.call_started_at < ${since}::timestamptz)::int AS "affectedBefore",
        count(*) FILTER (WHERE n.result = ${codes.notAffected} AND n.call_started_at < ${since}::timestamptz)::int AS "notAffectedBefore",
        min(n.monitor_version) FILTER (WHERE n.result IS NOT NULL) AS "lowestVersion",
        max(n.monitor_version) FILTER (WHERE n.result IS NOT NULL) AS "highestVersion"
      FROM (
        SELECT DISTINCT ON (r.call_started_at, r.conversation_id) r.call_started_at, r.result, r.monitor_version
        FROM monitor_results r
        WHERE r.organization_id = ${org} AND r.monitor_id = m.id
          AND r.call_started_at >= ${before}::timestamptz AND r.call_started_at < ${until}::timestamptz
        ORDER BY r.call_started_at DESC, r.conversation_id DESC, r.monitor_version DESC) n) c`.execute(db)
  return rows
}

type Example = { monitorId: string; conversationId: string; startedAt: Date; reasoning: string | null }

type ExampleRequest = { since: Date; until: Date; each: number }

/** Lists the latest affected conversations of each monitor. */
export const listExamples = async (
  db: Db,
  org: OrgId,
  monitorIds: string[],
  wanted: ExampleRequest,
): Promise<Example[]> => {
  const { since, until, each } = wanted
  if (monitorIds.length === 0 || each === 0) return []
  const { rows } = await sql<Example>`
    SELECT m.id AS "monitorId", e.* FROM unnest(${monitorIds}::uuid[]) AS m(id)
    CROSS JOIN LATERAL (
      SELECT r.conversation_id AS "conversationId", r.call_started_at AS "startedAt", left(r.reasoning, 1000) AS reasoning
      FROM monitor_results r
      WHERE r.organization_id = ${org} AND r.monitor_id = m.id AND r.result = ${codes.affected}
        AND r.call_started_at >= ${since}::timestamptz AND r.call_started_at < ${until}::timestamptz
        AND NOT EXISTS (
          SELECT 1 FROM monitor_results n WHERE n.organization_id = ${org} AND n.monitor_id = m.id
            AND n.call_started_at = r.call_started_at AND n.conversation_id = r.conversation_id
            AND n.monitor_version > r.monitor_version)
      ORDER BY r.call_started_at DESC, r.conversation_id DESC LIMIT ${each}) e`.execute(db)
  return rows
}
