import { type RawBuilder, sql } from 'kysely'
import { isLapsed, type ReviewStatus, statusAt } from '../buckets/review-status/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { newestFirst, nextRows } from '../platform/db/pages.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Verdict = 'affected' | 'not_affected' | 'unsure'
export type Judgment = { monitorId: string; monitorVersion: number; correctResult: Verdict; comment: string | null }

/** Selects a review in its state at this time. An expired lease counts as none. */
const columnsAt = (org: OrgId, now: Date) =>
  [
    'r.id',
    'r.conversation_id as conversationId',
    'r.bucket_id as bucketId',
    'r.reviewer_user_id as reviewerUserId',
    statusAt(now).as('status'),
    'r.rating',
    'r.notes',
    sql<Judgment[]>`coalesce((
      SELECT json_agg(json_build_object('monitorId', j.monitor_id, 'monitorVersion', j.monitor_version,
        'correctResult', j.correct_result, 'comment', j.comment) ORDER BY j.monitor_id, j.monitor_version)
      FROM review_judgments j WHERE j.organization_id = ${org} AND j.review_id = r.id), '[]')`.as('judgments'),
    'r.adjudicates',
    sql<Date | null>`CASE WHEN NOT ${isLapsed(now)} THEN r.lease_expires_at END`.as('leaseExpiresAt'),
    'r.created_at as createdAt',
    'r.updated_at as updatedAt',
    'r.completed_at as completedAt',
  ] as const

const selectReviews = (db: Db, org: OrgId, now: Date) =>
  db.selectFrom('reviews as r').select(columnsAt(org, now)).where('r.organization_id', '=', org)

export const getReview = (db: Db, org: OrgId, id: string, now: Date) =>
  selectReviews(db, org, now).where('r.id', '=', id).executeTakeFirstOrThrow(notFound)

export type StoredReview = Awaited<ReturnType<typeof getReview>>

/** Selects a review that the person has started in a blind bucket and not completed. */
const blindReviewOf = (org: OrgId, userId: string, conversationId: RawBuilder<string>) => sql<boolean>`EXISTS (
  SELECT 1 FROM reviews own
  JOIN buckets b ON b.organization_id = ${org} AND b.id = own.bucket_id AND b.blind
  JOIN bucket_conversations i ON i.organization_id = ${org} AND i.bucket_id = own.bucket_id
    AND i.conversation_id = own.conversation_id AND i.status = 'waiting'
  WHERE own.organization_id = ${org} AND own.conversation_id = ${conversationId}
    AND own.reviewer_user_id = ${userId}::uuid AND own.status IN ('pending', 'in_progress'))`

/**
 * Returns whether a conversation's judgments and results are hidden from the person until they submit their own
 * judgments.
 */
export const isBlind = async (db: Db, org: OrgId, userId: string, conversationId: string): Promise<boolean> => {
  const { rows } = await sql<{ blind: boolean }>`
    SELECT ${blindReviewOf(org, userId, sql`${conversationId}::uuid`)} AS blind`.execute(db)
  return rows[0]?.blind === true
}

/** Lists which of the given conversations have judgments and results that are hidden from the person. */
export const listBlind = async (db: Db, org: OrgId, userId: string, conversationIds: string[]): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    SELECT g.id FROM unnest(${conversationIds}::uuid[]) AS g(id)
    WHERE ${blindReviewOf(org, userId, sql`g.id`)}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Lists the people who have hidden judgments and results for any conversation. */
export const listBlindReviewers = async (db: Db, org: OrgId): Promise<string[]> => {
  const { rows } = await sql<{ userId: string }>`
    SELECT DISTINCT r.reviewer_user_id AS "userId" FROM reviews r
    JOIN buckets b ON b.organization_id = ${org} AND b.id = r.bucket_id AND b.blind
    JOIN bucket_conversations i ON i.organization_id = ${org} AND i.bucket_id = r.bucket_id
      AND i.conversation_id = r.conversation_id AND i.status = 'waiting'
    WHERE r.organization_id = ${org} AND r.status IN ('pending', 'in_progress')`.execute(db)
  return rows.map(({ userId }) => userId)
}

type ReviewFilter = {
  conversationId?: string | undefined
  bucketId?: string | undefined
  reviewerUserId?: string | undefined
  status?: ReviewStatus | undefined
}

type View = { viewer: string; now: Date }

/** Lists reviews, newest first. Omits reviews that are hidden from the viewer. */
export const listReviews = (db: Db, org: OrgId, filter: ReviewFilter, { viewer, now }: View, page: Page) =>
  selectReviews(db, org, now)
    .where(sql<boolean>`(r.reviewer_user_id = ${viewer}::uuid
      OR NOT ${blindReviewOf(org, viewer, sql`r.conversation_id`)})`)
    .$if(filter.conversationId !== undefined, (query) =>
      query.where('r.conversation_id', '=', filter.conversationId as string),
    )
    .$if(filter.bucketId !== undefined, (query) => query.where('r.bucket_id', '=', filter.bucketId as string))
    .$if(filter.reviewerUserId !== undefined, (query) =>
      query.where('r.reviewer_user_id', '=', filter.reviewerUserId as string),
    )
    .$if(filter.status !== undefined, (query) => query.where(statusAt(now), '=', filter.status as ReviewStatus))
    .$call(newestFirst('r.id', page))
    .execute()

export const findConversation = (db: Db, org: OrgId, id: string) =>
  db.selectFrom('conversations').select('id').where('organization_id', '=', org).where('id', '=', id).executeTakeFirst()

export const countReviewsOf = async (db: Db, org: OrgId, conversationId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('reviews')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow()
  return count
}

type NewReview = {
  id: string
  conversationId: string
  bucketId: string | null
  reviewerUserId: string
  adjudicates?: boolean
  leaseExpiresAt: Date | null
  now: Date
}

export const insertReview = (trx: Db, org: OrgId, review: NewReview) =>
  trx
    .insertInto('reviews')
    .values({
      organization_id: org,
      id: review.id,
      conversation_id: review.conversationId,
      bucket_id: review.bucketId,
      reviewer_user_id: review.reviewerUserId,
      adjudicates: review.adjudicates ?? false,
      status: 'in_progress',
      lease_expires_at: review.leaseExpiresAt,
      created_at: review.now,
      updated_at: review.now,
    })
    .execute()

type ReviewChange = {
  status?: ReviewStatus
  /** Set for a review in progress, and null otherwise. */
  leaseExpiresAt?: Date | null
  rating?: number | null | undefined
  notes?: string | null | undefined
}

export const updateReview = (trx: Db, org: OrgId, id: string, change: ReviewChange, now: Date) =>
  trx
    .updateTable('reviews')
    .set({
      ...(change.status !== undefined && {
        status: change.status,
        completed_at: change.status === 'completed' ? now : null,
      }),
      ...(change.leaseExpiresAt !== undefined && { lease_expires_at: change.leaseExpiresAt }),
      ...(change.rating !== undefined && { rating: change.rating }),
      ...(change.notes !== undefined && { notes: change.notes }),
      updated_at: now,
    })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()

/** Selects reviews with an expired lease. */
const selectLapsedAllOrgs = (db: Db, now: Date) => db.selectFrom('reviews').where('lease_expires_at', '<=', now)

export const listOrganizationsWithLapsedAllOrgs = (db: Db, now: Date) =>
  selectLapsedAllOrgs(db, now).select(sql<OrgId>`organization_id`.as('id')).distinct().execute()

export const listLapsed = (db: Db, org: OrgId, now: Date, page: Page) =>
  selectLapsedAllOrgs(db, now)
    .select(['id', sql<string>`bucket_id`.as('bucketId'), 'conversation_id as conversationId'])
    .where('organization_id', '=', org)
    .$call(nextRows('id', page))
    .execute()

type OpenReviews = { conversationId: string; count: number; hasOwn: boolean }

/**
 * Counts the reviews of conversations, and finds conversations for which the person has an unfinished review outside
 * buckets.
 */
export const listOpenReviews = async (db: Db, org: OrgId, userId: string, ids: string[]): Promise<OpenReviews[]> => {
  const { rows } = await sql<OpenReviews>`
    SELECT r.conversation_id AS "conversationId", count(*) AS count,
      bool_or(r.reviewer_user_id = ${userId}::uuid AND r.bucket_id IS NULL AND r.status IN ('pending', 'in_progress'))
        AS "hasOwn"
    FROM reviews r WHERE r.organization_id = ${org} AND r.conversation_id = ANY(${ids}::uuid[])
    GROUP BY r.conversation_id`.execute(db)
  return rows
}

type Assigned = { id: string; conversationId: string }

/** Creates reviews outside buckets that the person has not started yet. */
export const insertAssigned = async (trx: Db, org: OrgId, userId: string, reviews: Assigned[], now: Date) => {
  const ids = reviews.map(({ id }) => id)
  const conversationIds = reviews.map(({ conversationId }) => conversationId)
  await sql`
    INSERT INTO reviews (organization_id, id, conversation_id, reviewer_user_id, adjudicates, status, created_at, updated_at)
    SELECT ${org}::uuid, given.id, given.conversation_id, ${userId}::uuid, false, 'pending', ${now}::timestamptz,
      ${now}::timestamptz
    FROM unnest(${ids}::uuid[], ${conversationIds}::uuid[]) AS given(id, conversation_id)`.execute(trx)
}

/** Deletes reviews outside buckets that the person has not started. Returns their conversations. */
export const deleteUnstarted = async (trx: Db, org: OrgId, userId: string, ids: string[]): Promise<string[]> => {
  const rows = await trx
    .deleteFrom('reviews')
    .where('organization_id', '=', org)
    .where('reviewer_user_id', '=', userId)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('bucket_id', 'is', null)
    .where('status', '=', 'pending')
    .where('rating', 'is', null)
    .where('notes', 'is', null)
    .returning('conversation_id as id')
    .execute()
  return [...new Set(rows.map(({ id }) => id))]
}
