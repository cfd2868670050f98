import { sql } from 'kysely'
import { samplePosition } from '../../evaluations/queries.ts'
import { type Resolved, type Selection, whereAmong, whereSelected } from '../../filters/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { nextRows } from '../../platform/db/pages.ts'
import type { Page } from '../../platform/http/paging.ts'

/**
 * Returns whether any bucket checks conversations after this kind of event: when they arrive, when their results
 * arrive, when their sound is measured, when their tags change, or when they are embedded and get a topic.
 */
export const hasFollowing = async (
  db: Db,
  org: OrgId,
  news: 'conversations' | 'results' | 'sound' | 'tags' | 'embedded',
): Promise<boolean> => {
  const bucket = await db
    .selectFrom('buckets')
    .select('id')
    .where('organization_id', '=', org)
    .where('type', '<>', 'static')
    .where('per_week', 'is', null)
    .$if(news === 'results', (query) =>
      query.where(sql<boolean>`(
        jsonb_path_exists(filters, '$.**.monitors') OR jsonb_path_exists(filters, '$.**.categories')
          OR jsonb_path_exists(filters, '$.**.fields'))`),
    )
    .$if(news === 'sound', (query) => query.where(sql<boolean>`jsonb_path_exists(filters, '$.**.sound')`))
    .$if(news === 'tags', (query) => query.where(sql<boolean>`jsonb_path_exists(filters, '$.**.tags')`))
    .$if(news === 'embedded', (query) =>
      query.where(sql<boolean>`(
        jsonb_path_exists(filters, '$.**.topicIds') OR jsonb_path_exists(filters, '$.**.similarTo'))`),
    )
    .limit(1)
    .executeTakeFirst()
  return bucket !== undefined
}

const columns = [
  'id',
  'agent_id as agentId',
  sql<Selection>`filters`.as('filters'),
  'share',
  'reviews_per_conversation as reviewsPerConversation',
  'follows_since as followsSince',
] as const

/** Returns the buckets that add matching conversations as they arrive. */
export const listFollowing = (db: Db, org: OrgId) =>
  db
    .selectFrom('buckets')
    .select(columns)
    .where('organization_id', '=', org)
    .where('type', '<>', 'static')
    .where('per_week', 'is', null)
    .orderBy('id')
    .execute()

type Following = { agentId: string | null; filters: Resolved; share: number | null; followsSince: Date }

const selectionOf = ({ agentId, filters }: Following): Resolved =>
  agentId === null ? filters : { ...filters, agentIds: [agentId] }

/**
 * Returns which of these conversations a bucket adds: those that have ended, arrived after the bucket was created, and
 * belong to its share.
 */
export const listTaken = async (db: Db, org: OrgId, bucket: Following, ids: string[]): Promise<string[]> => {
  const rows = await whereAmong(db.selectFrom('conversations'), org, selectionOf(bucket), ids)
    .select('conversations.id')
    .where('conversations.status', '<>', 'in_progress')
    .where('conversations.created_at', '>=', bucket.followsSince)
    .$if(bucket.share !== null, (query) => query.where(samplePosition, '<', bucket.share as number))
    .execute()
  return rows.map(({ id }) => id)
}

type Week = { start: Date; end: Date }

/** Returns the conversations with the lowest hashes in a week. */
export const listDrawn = async (db: Db, org: OrgId, quota: Following & { perWeek: number }, { start, end }: Week) => {
  const rows = await whereSelected(db.selectFrom('conversations'), org, selectionOf(quota))
    .select('conversations.id')
    .where('conversations.started_at', '>=', start)
    .where('conversations.started_at', '<', end)
    .where('conversations.status', '<>', 'in_progress')
    .where('conversations.created_at', '>=', quota.followsSince)
    .orderBy(samplePosition)
    .orderBy('conversations.id')
    .limit(quota.perWeek)
    .execute()
  return rows.map(({ id }) => id)
}

/** Selects the buckets with a quota and a week that has ended by this time but is not sampled yet. */
const selectUndrawnAllOrgs = (db: Db, endedBy: Date) =>
  db
    .selectFrom('buckets')
    .where('per_week', 'is not', null)
    .where(sql<boolean>`drawn_until <= ${endedBy}::timestamptz - interval '7 days'`)

export const listOrganizationsWithUndrawnAllOrgs = (db: Db, endedBy: Date) =>
  selectUndrawnAllOrgs(db, endedBy).select(sql<OrgId>`organization_id`.as('id')).distinct().execute()

export const listUndrawn = (db: Db, org: OrgId, endedBy: Date, page: Page) =>
  selectUndrawnAllOrgs(db, endedBy)
    .select('id')
    .where('organization_id', '=', org)
    .$call(nextRows('id', page))
    .execute()

const selectQuota = (db: Db, org: OrgId, id: string) =>
  db
    .selectFrom('buckets')
    .select([
      ...columns,
      sql<number>`per_week`.as('perWeek'),
      // This value is always set for buckets with a quota.
      sql<Date>`drawn_until`.as('drawnUntil'),
    ])
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .where('per_week', 'is not', null)

/** Returns undefined if the bucket was deleted or has no quota. */
export const findQuota = (db: Db, org: OrgId, id: string) => selectQuota(db, org, id).executeTakeFirst()

/** Locks a bucket against changes. Returns undefined if it was deleted or no longer has a quota. */
export const lockQuota = (trx: Db, org: OrgId, id: string) =>
  selectQuota(trx, org, id).forNoKeyUpdate().executeTakeFirst()

export const markDrawn = (trx: Db, org: OrgId, id: string, drawnUntil: Date) =>
  trx
    .updateTable('buckets')
    .set({ drawn_until: drawnUntil })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
