import { sql } from 'kysely'
import type { Breakdown, Scorecard } from '../../monitors/scorecards/algebra.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'

export type ScorecardResult = { monitorId: string; version: number; definition: Scorecard; breakdown: Breakdown }

/**
 * Lists the scorecards' results for a conversation, each from the newest version. `monitorIds` limits the list to some
 * scorecards. Deleted scorecards have none.
 */
export const listScorecardResults = async (
  db: Db,
  org: OrgId,
  conversationId: string,
  monitorIds: string[] | undefined,
): Promise<ScorecardResult[]> => {
  const { rows } = await sql<ScorecardResult>`
    SELECT DISTINCT ON (r.monitor_id) r.monitor_id AS "monitorId", r.monitor_version AS version, v.definition,
      r.breakdown
    FROM conversations c
    JOIN monitor_results r ON r.organization_id = ${org}
      AND r.monitor_id = ANY(ARRAY(SELECT m.id FROM monitors m
        WHERE m.organization_id = ${org} AND m.kind = 'scorecard' AND m.deleted_at IS NULL
          AND (${monitorIds === undefined} OR m.id = ANY(${monitorIds ?? []}::uuid[]))))
      AND r.call_started_at = c.started_at AND r.conversation_id = c.id
    JOIN monitor_versions v ON v.organization_id = ${org} AND v.monitor_id = r.monitor_id
      AND v.number = r.monitor_version
    WHERE c.organization_id = ${org} AND c.id = ${conversationId}::uuid AND r.breakdown IS NOT NULL
    ORDER BY r.monitor_id, r.monitor_version DESC`.execute(db)
  return rows
}
