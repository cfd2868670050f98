import { type RawBuilder, sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type Status = 'pending' | 'in_progress' | 'completed' | 'skipped'
type Verdict = 'affected' | 'not_affected' | 'unsure'
export type Judgment = { monitorId: string; monitorVersion: number; correctResult: Verdict; comment: string | null }

const isLapsed = (now: Date) => sql<boolean>`coalesce(r.lease_expires_at <= ${now}::timestamptz, false)`
const statusAt = (now: Date) => sql<Status>`CASE WHEN ${isLapsed(now)} THEN 'pending' ELSE r.status END`

/** As it stands at that moment: a lease that has ended is none. */
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

/** A review that the person has begun in a blind bucket and may still give. */
const blindReviewOf = (org: OrgId, userId: string, conversationId: RawBuilder<string>) => sql<boolean>`EXISTS (
  SELECT 1 FROM reviews own
  JOIN buckets b ON b.organization_id = ${org} AND b.id = own.bucket_id AND b.blind
  JOIN bucket_conversations i ON i.organization_id = ${org} AND i.bucket_id = own.bucket_id
    AND i.conversation_id = own.conversation_id AND i.status = 'waiting'
  WHERE own.organization_id = ${org} AND own.conversation_id = ${conversationId}
    AND own.reviewer_user_id = ${userId}::uuid AND own.status IN ('pending', 'in_progress'))`

/** Whether what others and the monitors say of a conversation is kept from the person, who is to answer first. */
export const isKeptBlind = async (db: Db, org: OrgId, userId: string, conversationId: string): Promise<boolean> => {
  const { rows } = await sql<{ blind: boolean }>`
    SELECT ${blindReviewOf(org, userId, sql`${conversationId}::uuid`)} AS blind`.execute(db)
  return rows[0]?.blind === true
}

type ReviewFilter = {
  conversationId?: string | undefined
  bucketId?: string | undefined
  reviewerUserId?: string | undefined
  status?: Status | undefined
}

type View = { viewer: string; now: Date }

/** Newest first, without those that are kept from the viewer. */
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
    .$if(filter.status !== undefined, (query) => query.where(statusAt(now), '=', filter.status as Status))
    .$if(page.after !== undefined, (query) => query.where('r.id', '<', page.after as string))
    .orderBy('r.id', 'desc')
    .limit(page.limit + 1)
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

/**
 * Against every change of its reviews and its places in buckets, until the transaction ends. In the order in which all
 * lock conversations; a bucket is held before. What was read of them before must be read again.
 */
export const lockConversations = async (trx: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await trx
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .orderBy('external_id')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ id }) => id)
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
  status?: Status
  /** Of one that is in progress; null otherwise. */
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

/** Whether another review of the conversation may be begun there. */
export const isFree = async (trx: Db, org: OrgId, bucketId: string, conversationId: string, now: Date) => {
  const item = await trx
    .selectFrom('bucket_conversations')
    .select('bucket_id')
    .where('organization_id', '=', org)
    .where('bucket_id', '=', bucketId)
    .where('conversation_id', '=', conversationId)
    .where('status', '=', 'waiting')
    .where('free_at', '<=', now)
    .executeTakeFirst()
  return item !== undefined
}

/**
 * Brings the place of a conversation in a bucket up to its reviews. Completed stays completed; the last review that was
 * wanted completes it, or sends it to adjudication where two people judged a version of a monitor differently. Leases
 * that have ended are written down, so that nobody whose clock is behind holds what somebody else was given.
 */
export const settleItem = async (trx: Db, org: OrgId, bucketId: string, conversationId: string, now: Date) => {
  await sql`
    WITH lapsed AS (
      UPDATE reviews r SET status = 'pending', lease_expires_at = NULL
      WHERE r.organization_id = ${org} AND r.bucket_id = ${bucketId}::uuid
        AND r.conversation_id = ${conversationId}::uuid AND NOT r.adjudicates AND ${isLapsed(now)}
    ), there AS (
      SELECT r.id, r.reviewer_user_id, ${statusAt(now)} AS status, r.lease_expires_at > ${now}::timestamptz AS is_held,
        r.lease_expires_at
      FROM reviews r
      WHERE r.organization_id = ${org} AND r.bucket_id = ${bucketId}::uuid
        AND r.conversation_id = ${conversationId}::uuid AND NOT r.adjudicates
    ), given AS (
      SELECT count(*) FILTER (WHERE status = 'completed') AS completed,
        count(*) FILTER (WHERE is_held) AS held,
        min(lease_expires_at) FILTER (WHERE is_held) AS first_end,
        coalesce(array_agg(reviewer_user_id) FILTER (WHERE status <> 'pending'), '{}') AS reviewers,
        EXISTS (
          SELECT 1 FROM review_judgments j
          WHERE j.organization_id = ${org} AND j.review_id IN (SELECT t.id FROM there t WHERE t.status = 'completed')
          GROUP BY j.monitor_id, j.monitor_version HAVING count(DISTINCT j.correct_result) > 1) AS differ
      FROM there)
    UPDATE bucket_conversations i SET
      reviews_completed = g.completed,
      reviewer_user_ids = g.reviewers,
      free_at = CASE WHEN g.completed + g.held < i.reviews_wanted THEN '-infinity'
        ELSE coalesce(g.first_end, 'infinity') END,
      status = CASE WHEN i.status = 'completed' THEN 'completed'
        WHEN g.completed < i.reviews_wanted THEN 'waiting'
        WHEN g.differ THEN 'adjudication' ELSE 'completed' END
    FROM given g
    WHERE i.organization_id = ${org} AND i.bucket_id = ${bucketId}::uuid
      AND i.conversation_id = ${conversationId}::uuid`.execute(trx)
}

/** Brings the review status of conversations up to their reviews and their places in buckets. */
export const settleConversations = async (trx: Db, org: OrgId, ids: string[], now: Date): Promise<void> => {
  if (ids.length > 1) await lockConversations(trx, org, ids)
  await sql`
    UPDATE conversations c SET review_status = s.status
    FROM unnest(${ids}::uuid[]) AS g(id)
    CROSS JOIN LATERAL (SELECT CASE
      WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.organization_id = ${org} AND r.conversation_id = g.id
        AND r.status = 'in_progress' AND NOT ${isLapsed(now)}) THEN 'in_progress'
      WHEN EXISTS (SELECT 1 FROM bucket_conversations i WHERE i.organization_id = ${org} AND i.conversation_id = g.id
        AND i.status <> 'completed' AND i.reviews_completed > 0) THEN 'in_progress'
      WHEN EXISTS (SELECT 1 FROM bucket_conversations i WHERE i.organization_id = ${org} AND i.conversation_id = g.id
        AND i.status <> 'completed') THEN 'pending'
      WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.organization_id = ${org} AND r.conversation_id = g.id
        AND r.status = 'completed') THEN 'completed'
      WHEN EXISTS (SELECT 1 FROM reviews r WHERE r.organization_id = ${org} AND r.conversation_id = g.id
        AND r.status = 'pending' AND r.bucket_id IS NULL) THEN 'pending'
      ELSE 'none' END AS status) s
    WHERE c.organization_id = ${org} AND c.id = g.id AND c.review_status <> s.status`.execute(trx)
}

/** Places of reviews whose lease has ended. */
const selectLapsedAllOrgs = (db: Db, now: Date) => db.selectFrom('reviews').where('lease_expires_at', '<=', now)

export const listOrganizationsWithLapsedAllOrgs = (db: Db, now: Date) =>
  selectLapsedAllOrgs(db, now).select(sql<OrgId>`organization_id`.as('id')).distinct().execute()

export const listLapsed = (db: Db, org: OrgId, now: Date, { limit, after }: Page) =>
  selectLapsedAllOrgs(db, now)
    .select(['id', sql<string>`bucket_id`.as('bucketId'), 'conversation_id as conversationId'])
    .where('organization_id', '=', org)
    .$if(after !== undefined, (query) => query.where('id', '>', after as string))
    .orderBy('id')
    .limit(limit)
    .execute()
