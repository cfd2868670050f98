import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

type ProgressQuery = { bucketId: string; now: Date; timezone: string }

const today = ({ now, timezone }: ProgressQuery) => sql`(date_trunc('day', ${now}::timestamptz, ${timezone}::text))`

type Items = { total: number; waiting: number; adjudication: number; completed: number; wanted: number }

export const countItems = async (db: Db, org: OrgId, { bucketId }: ProgressQuery): Promise<Items> => {
  const { rows } = await sql<Items>`
    SELECT count(*) AS total,
      count(*) FILTER (WHERE status = 'waiting') AS waiting,
      count(*) FILTER (WHERE status = 'adjudication') AS adjudication,
      count(*) FILTER (WHERE status = 'completed') AS completed,
      coalesce(sum(reviews_wanted - reviews_completed) FILTER (WHERE status = 'waiting'), 0) AS wanted
    FROM bucket_conversations WHERE organization_id = ${org} AND bucket_id = ${bucketId}::uuid`.execute(db)
  // An aggregate always returns one row.
  return rows[0] as Items
}

type Counted = 'claimed' | 'completed' | 'skipped' | 'adjudicated' | 'completedToday' | 'skippedToday'
type Reviews = { reviewerUserId: string } & Record<Counted, number>

/** Returns the totals and at most `limit` reviewers, starting with those who have completed the most reviews. */
export const countReviews = async (db: Db, org: OrgId, asked: ProgressQuery, limit: number) => {
  const { rows } = await sql<Reviews>`
    SELECT reviewer_user_id AS "reviewerUserId",
      count(*) FILTER (WHERE lease_expires_at > ${asked.now}::timestamptz) AS claimed,
      count(*) FILTER (WHERE status = 'completed' AND NOT adjudicates) AS completed,
      count(*) FILTER (WHERE status = 'skipped') AS skipped,
      count(*) FILTER (WHERE adjudicates) AS adjudicated,
      count(*) FILTER (WHERE status = 'completed' AND NOT adjudicates AND completed_at >= ${today(asked)})
        AS "completedToday",
      count(*) FILTER (WHERE status = 'skipped' AND updated_at >= ${today(asked)}) AS "skippedToday"
    FROM reviews
    WHERE organization_id = ${org} AND bucket_id = ${asked.bucketId}::uuid
    GROUP BY GROUPING SETS ((), (reviewer_user_id))
    ORDER BY grouping(reviewer_user_id) DESC, completed DESC, reviewer_user_id LIMIT ${limit + 1}`.execute(db)
  const [all, ...reviewers] = rows
  // The row for the grouping set without columns is the total.
  return { all: all as Reviews, reviewers }
}
