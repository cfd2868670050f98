import { sql } from 'kysely'
import { isFairlySampled } from '../../buckets/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { plannedEachTime } from '../../platform/db/naming-client.ts'

export type Reviewed = {
  position: number
  arm: 'a' | 'b'
  unitId: string
  /** The monitor's result: 1 for affected, 0 for not affected. */
  judge: number
  /** The share of reviewers who judged the conversation affected. */
  human: number
}

type Pinned = { position: number; monitorId: string; monitorVersion: number }

/**
 * Lists the observed conversations in a fair sample that people judged, for the pinned version. Each person's latest
 * judgment counts, even if it was made outside the bucket.
 */
export const listReviewed = async (db: Db, org: OrgId, experimentId: string, pinned: Pinned[]): Promise<Reviewed[]> => {
  const { rows } = await sql<Reviewed>`
    SELECT p.position, e.arm, e.unit_id AS "unitId", e.observed[p.position + 1] AS judge,
      avg((j.correct_result = 'affected')::integer)::float8 AS human
    FROM unnest(${pinned.map(({ position }) => position)}::integer[],
      ${pinned.map(({ monitorId }) => monitorId)}::uuid[],
      ${pinned.map(({ monitorVersion }) => monitorVersion)}::integer[]) AS p (position, monitor_id, version)
    JOIN review_judgments j ON j.organization_id = ${org} AND j.monitor_id = p.monitor_id
      AND j.monitor_version = p.version AND j.correct_result <> 'unsure' AND NOT j.superseded
    JOIN reviews r ON r.organization_id = ${org} AND r.id = j.review_id AND r.status = 'completed'
    JOIN monitors o ON o.organization_id = ${org} AND o.id = p.monitor_id
    JOIN experiments x ON x.organization_id = ${org} AND x.id = ${experimentId}
    JOIN experiment_conversations e ON e.organization_id = ${org} AND e.experiment_id = ${experimentId}
      AND e.conversation_id = r.conversation_id AND e.arm IS NOT NULL AND e.statuses[p.position + 1] = 1
    JOIN conversations c ON c.organization_id = ${org} AND c.id = e.conversation_id
    WHERE ${isFairlySampled(org)}
    GROUP BY p.position, e.arm, e.unit_id, e.conversation_id, e.observed[p.position + 1] ${sql.raw(plannedEachTime)}`.execute(
    db,
  )
  return rows
}
