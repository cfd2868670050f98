import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type Verdict = 'affected' | 'not_affected'
type Judgment = { monitorId: string; monitorVersion: number; correctResult: Verdict | 'unsure'; comment: string | null }

/** Lists the monitors' results for a conversation, each from the newest version. Deleted monitors have none. */
export const listMonitorResults = async (db: Db, org: OrgId, conversationId: string, monitorIds: string[]) => {
  const { rows } = await sql<{ monitorId: string; version: number; result: Verdict | null }>`
    SELECT m.monitor_id AS "monitorId", m.monitor_version AS version,
      (ARRAY['not_affected', 'affected'])[m.result + 1] AS result
    FROM conversations c
    JOIN monitor_results m ON m.organization_id = ${org}
      AND m.monitor_id = ANY(ARRAY(SELECT d.id FROM monitors d
        WHERE d.organization_id = ${org} AND d.id = ANY(${monitorIds}::uuid[]) AND d.deleted_at IS NULL))
      AND m.call_started_at = c.started_at AND m.conversation_id = c.id
    WHERE c.organization_id = ${org} AND c.id = ${conversationId}::uuid
    ORDER BY m.monitor_id, m.monitor_version DESC`.execute(db)
  return rows
}

/** Replaces the judgments of a review. */
export const replaceJudgments = async (trx: Db, org: OrgId, reviewId: string, judgments: Judgment[]): Promise<void> => {
  await trx
    .deleteFrom('review_judgments')
    .where('organization_id', '=', org)
    .where('review_id', '=', reviewId)
    .execute()
  if (judgments.length === 0) return
  await trx
    .insertInto('review_judgments')
    .values(
      judgments.map(({ monitorId, monitorVersion, correctResult, comment }) => ({
        organization_id: org,
        review_id: reviewId,
        monitor_id: monitorId,
        monitor_version: monitorVersion,
        correct_result: correctResult,
        comment,
      })),
    )
    .execute()
}

/**
 * Excludes the person's earlier judgments of the same conversation and version from monitor statistics. An adjudication
 * also excludes the judgments that it decides between.
 */
export const supersedeJudgments = async (trx: Db, org: OrgId, reviewId: string): Promise<void> => {
  await sql`
    UPDATE review_judgments j SET superseded = true
    FROM reviews r, reviews d, review_judgments k
    WHERE d.organization_id = ${org} AND d.id = ${reviewId}::uuid
      AND r.organization_id = ${org} AND r.conversation_id = d.conversation_id AND r.id <> d.id
      AND r.status = 'completed'
      AND (r.reviewer_user_id = d.reviewer_user_id OR (d.adjudicates AND r.bucket_id = d.bucket_id))
      AND k.organization_id = ${org} AND k.review_id = d.id
      AND j.organization_id = ${org} AND j.review_id = r.id
      AND j.monitor_id = k.monitor_id AND j.monitor_version = k.monitor_version`.execute(trx)
}
