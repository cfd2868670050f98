import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Page } from '../../platform/http/paging.ts'

export type Judged = { since?: string; until?: string; version?: number }

/**
 * How the results of each version of a monitor meet the judgments of completed reviews, newest version first. Each
 * judgment counts. A page is of versions, and reads no judgment of those on the pages before.
 */
export const listAgreements = async (db: Db, org: OrgId, monitorId: string, judged: Judged, page: Page) => {
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
      count(*) FILTER (WHERE j.correct_result <> 'unsure' AND m.status = 1) AS unscored,
      count(*) FILTER (WHERE j.correct_result <> 'unsure' AND m.status = 2) AS failed,
      count(*) FILTER (WHERE j.correct_result <> 'unsure' AND m.status IS NULL) AS missing,
      count(*) FILTER (WHERE j.correct_result = 'affected' AND m.result = 1) AS "truePositives",
      count(*) FILTER (WHERE j.correct_result = 'not_affected' AND m.result = 1) AS "falsePositives",
      count(*) FILTER (WHERE j.correct_result = 'affected' AND m.result = 0) AS "falseNegatives",
      count(*) FILTER (WHERE j.correct_result = 'not_affected' AND m.result = 0) AS "trueNegatives"
    FROM review_judgments j
    JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed'
    JOIN conversations c ON c.organization_id = ${org} AND c.id = r.conversation_id
      AND c.started_at >= ${since}::timestamptz AND c.started_at < ${until}::timestamptz
    LEFT JOIN monitor_results m ON m.organization_id = ${org} AND m.monitor_id = j.monitor_id
      AND m.call_started_at = c.started_at AND m.conversation_id = c.id AND m.monitor_version = j.monitor_version
    WHERE j.organization_id = ${org} AND j.monitor_id = ${monitorId}
      AND (${version}::integer IS NULL OR j.monitor_version = ${version}::integer)
      AND j.monitor_version < ${page.after ?? '2147483648'}::bigint
    GROUP BY j.monitor_version
    ORDER BY j.monitor_version DESC
    LIMIT ${page.limit + 1}`.execute(db)
  return rows
}
