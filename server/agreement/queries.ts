import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { codes } from '../platform/db/result-codes.ts'
import type { Page } from '../platform/http/paging.ts'

export type JudgedPeriod = { since?: string; until?: string; version?: number }

/**
 * Compares the results of each monitor version with the judgments of completed reviews, newest version first. Ignores
 * replaced judgments. Reads only the judgments of the versions on the page.
 */
export const listAgreements = async (db: Db, org: OrgId, monitorId: string, judged: JudgedPeriod, page: Page) => {
  const { since = '-infinity', until = 'infinity', version = null } = judged
  const { rows } = await sql<{
    version: number
    judgments: number
    unsure: number
    unscored: number
    failed: number
    missing: number
    truePositives: number
    falsePositives: number
    falseNegatives: number
    trueNegatives: number
  }>`
    SELECT j.monitor_version AS version,
      count(*) AS judgments,
      count(*) FILTER (WHERE j.correct_result = 'unsure') AS unsure,
      count(*) FILTER (WHERE j.correct_result <> 'unsure' AND m.status = ${codes.unscored}) AS unscored,
      count(*) FILTER (WHERE j.correct_result <> 'unsure' AND m.status = ${codes.failed}) AS failed,
      count(*) FILTER (WHERE j.correct_result <> 'unsure' AND m.status IS NULL) AS missing,
      count(*) FILTER (WHERE j.correct_result = 'affected' AND m.result = ${codes.affected}) AS "truePositives",
      count(*) FILTER (WHERE j.correct_result = 'not_affected' AND m.result = ${codes.affected}) AS "falsePositives",
      count(*) FILTER (WHERE j.correct_result = 'affected' AND m.result = ${codes.notAffected}) AS "falseNegatives",
      count(*) FILTER (WHERE j.correct_result = 'not_affected' AND m.result = ${codes.notAffected}) AS "trueNegatives"
    FROM review_judgments j
    JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed'
    JOIN conversations c ON c.organization_id = ${org} AND c.id = r.conversation_id
      AND c.started_at >= ${since}::timestamptz AND c.started_at < ${until}::timestamptz
    LEFT JOIN monitor_results m ON m.organization_id = ${org} AND m.monitor_id = j.monitor_id
      AND m.call_started_at = c.started_at AND m.conversation_id = c.id AND m.monitor_version = j.monitor_version
    WHERE j.organization_id = ${org} AND j.monitor_id = ${monitorId} AND NOT j.superseded
      AND (${version}::integer IS NULL OR j.monitor_version = ${version}::integer)
      AND j.monitor_version < ${page.after ?? '2147483648'}::bigint
    GROUP BY j.monitor_version
    ORDER BY j.monitor_version DESC
    LIMIT ${page.limit + 1}`.execute(db)
  return rows
}

type Between = JudgedPeriod & { monitorId: string; versions: number[] }

/** Selects each person's latest judgment of a conversation and a version, except unsure judgments and adjudications. */
const selectJudgments = (org: OrgId, { monitorId, versions, since = '-infinity', until = 'infinity' }: Between) => sql`
  SELECT * FROM (
    SELECT DISTINCT ON (j.monitor_version, r.conversation_id, r.reviewer_user_id) j.monitor_version AS version,
      r.conversation_id, r.reviewer_user_id, j.correct_result
    FROM review_judgments j
    JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed' AND NOT r.adjudicates
    JOIN conversations c ON c.organization_id = ${org} AND c.id = r.conversation_id
      AND c.started_at >= ${since}::timestamptz AND c.started_at < ${until}::timestamptz
    WHERE j.organization_id = ${org} AND j.monitor_id = ${monitorId} AND j.monitor_version = ANY(${versions}::integer[])
    ORDER BY j.monitor_version, r.conversation_id, r.reviewer_user_id, r.completed_at DESC, r.id DESC) last
  WHERE correct_result <> 'unsure'`

/** Counts conversations by their numbers of affected and not affected judgments, with at least two judgments. */
export const listPatterns = async (db: Db, org: OrgId, between: Between) => {
  const { rows } = await sql<{ version: number; affected: number; notAffected: number; conversations: number }>`
    WITH patterns AS (
      SELECT version, count(*) FILTER (WHERE correct_result = 'affected') AS affected,
        count(*) FILTER (WHERE correct_result = 'not_affected') AS not_affected
      FROM (${selectJudgments(org, between)}) s GROUP BY version, conversation_id HAVING count(*) > 1)
    SELECT version, affected, not_affected AS "notAffected", count(*) AS conversations
    FROM patterns GROUP BY version, affected, not_affected ORDER BY version, affected, not_affected`.execute(db)
  return rows
}

/**
 * Compares pairs of people on the conversations that both judged. Returns the pairs with the most such conversations
 * for each version.
 */
export const listPairs = async (db: Db, org: OrgId, between: Between, limit: number) => {
  const { rows } = await sql<{
    version: number
    first: string
    second: string
    conversations: number
    bothAffected: number
    firstAffected: number
    secondAffected: number
    neitherAffected: number
  }>`
    WITH said AS (${selectJudgments(org, between)}), pairs AS (
      SELECT a.version, a.reviewer_user_id AS first, b.reviewer_user_id AS second, count(*) AS conversations,
        count(*) FILTER (WHERE a.correct_result = 'affected' AND b.correct_result = 'affected') AS "bothAffected",
        count(*) FILTER (WHERE a.correct_result = 'affected' AND b.correct_result <> 'affected') AS "firstAffected",
        count(*) FILTER (WHERE a.correct_result <> 'affected' AND b.correct_result = 'affected') AS "secondAffected",
        count(*) FILTER (WHERE a.correct_result <> 'affected' AND b.correct_result <> 'affected') AS "neitherAffected"
      FROM said a JOIN said b ON b.version = a.version AND b.conversation_id = a.conversation_id
        AND b.reviewer_user_id > a.reviewer_user_id
      GROUP BY a.version, a.reviewer_user_id, b.reviewer_user_id
    ), ranked AS (
      SELECT *, row_number() OVER (PARTITION BY version ORDER BY conversations DESC, first, second) AS rank FROM pairs)
    SELECT version, first, second, conversations, "bothAffected", "firstAffected", "secondAffected", "neitherAffected"
    FROM ranked WHERE rank <= ${limit} ORDER BY version, rank`.execute(db)
  return rows
}
