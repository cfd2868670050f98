import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

/** Returns the result of each conversation from the newest monitor version that has one. */
export const listNewestResults = (db: Db, org: OrgId, monitorId: string, conversationIds: string[]) =>
  db
    .selectFrom('conversations as c')
    .innerJoin('monitor_results as r', (join) =>
      join
        .onRef('r.organization_id', '=', 'c.organization_id')
        .on('r.monitor_id', '=', monitorId)
        .onRef('r.call_started_at', '=', 'c.started_at')
        .onRef('r.conversation_id', '=', 'c.id'),
    )
    .distinctOn('c.id')
    .select([
      'c.id as conversationId',
      'r.monitor_version as monitorVersion',
      sql<'scored' | 'unscored' | 'failed'>`(ARRAY['scored', 'unscored', 'failed'])[r.status + 1]`.as('status'),
      sql<'affected' | 'not_affected' | null>`(ARRAY['not_affected', 'affected'])[r.result + 1]`.as('result'),
      'r.score',
    ])
    .where('c.organization_id', '=', org)
    .where('c.id', '=', sql<string>`ANY(${conversationIds}::uuid[])`)
    .orderBy('c.id')
    .orderBy('r.monitor_version', 'desc')
    .execute()

type Judgment = { conversationId: string; correctResult: 'affected' | 'not_affected' }

/** Returns the latest judgment of each conversation, for any version of a monitor. Ignores unsure judgments. */
export const listLastJudgments = async (db: Db, org: OrgId, monitorId: string, conversationIds: string[]) => {
  const { rows } = await sql<Judgment>`
    SELECT DISTINCT ON (r.conversation_id) r.conversation_id AS "conversationId", j.correct_result AS "correctResult"
    FROM reviews r
    JOIN review_judgments j ON j.organization_id = r.organization_id AND j.review_id = r.id
    WHERE r.organization_id = ${org} AND r.conversation_id = ANY(${conversationIds}::uuid[])
      AND r.status = 'completed' AND j.monitor_id = ${monitorId}::uuid AND j.correct_result <> 'unsure'
    ORDER BY r.conversation_id, r.completed_at DESC, r.id DESC, j.monitor_version DESC`.execute(db)
  return rows
}
