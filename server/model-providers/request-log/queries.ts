import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { daysBefore, dueRows } from '../../platform/db/due-rows.ts'

export type JudgeRequests = {
  id: string
  hour: Date
  model: string
  requests: number
  failed: number
  durationMs: number
  within1s: number
  within3s: number
  within10s: number
  within30s: number
  lastFault: string | null
  lastFailedAt: Date | null
  lastAnsweredAt: Date | null
}

/** Adds requests to the stored counts for the hour and model. */
export const addJudgeRequests = async (db: Db, org: OrgId, made: JudgeRequests): Promise<void> => {
  await sql`
    INSERT INTO judge_requests AS j (organization_id, id, hour, model, requests, failed, duration_ms,
      within_1s, within_3s, within_10s, within_30s, last_fault, last_failed_at, last_answered_at)
    VALUES (${org}, ${made.id}, ${made.hour}, ${made.model}, ${made.requests}, ${made.failed}, ${made.durationMs},
      ${made.within1s}, ${made.within3s}, ${made.within10s}, ${made.within30s},
      ${made.lastFault}, ${made.lastFailedAt}, ${made.lastAnsweredAt})
    ON CONFLICT ON CONSTRAINT judge_requests_hour_key DO UPDATE SET
      requests = j.requests + excluded.requests, failed = j.failed + excluded.failed,
      duration_ms = j.duration_ms + excluded.duration_ms,
      within_1s = j.within_1s + excluded.within_1s, within_3s = j.within_3s + excluded.within_3s,
      within_10s = j.within_10s + excluded.within_10s, within_30s = j.within_30s + excluded.within_30s,
      last_fault = coalesce(excluded.last_fault, j.last_fault),
      last_failed_at = coalesce(excluded.last_failed_at, j.last_failed_at),
      last_answered_at = coalesce(excluded.last_answered_at, j.last_answered_at)`.execute(db)
}

export const oldJudgeRequests = dueRows({
  table: 'judge_requests',
  isDue: (now) => sql`hour < ${daysBefore(now, 2)}`,
})
