import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

type StoredRegion = {
  id: string
  conversationId: string
  startMs: number
  endMs: number
  channel: number | null
  note: string
  authorUserId: string
  findingId: string | null
  createdAt: Date
}

/** A merged finding is replaced by the finding that it was merged into. */
const selectRegions = (org: OrgId) => sql`
  SELECT r.id, r.conversation_id AS "conversationId", r.start_ms AS "startMs", r.end_ms AS "endMs", r.channel, r.note,
    r.author_user_id AS "authorUserId", x.finding_id AS "findingId", r.created_at AS "createdAt"
  FROM conversation_regions r
  LEFT JOIN findings f ON f.organization_id = ${org} AND f.id = r.finding_id
  LEFT JOIN finding_conversations x ON x.organization_id = ${org} AND x.finding_id = coalesce(f.merged_into_id, f.id)
    AND x.conversation_id = r.conversation_id
  WHERE r.organization_id = ${org}`

/** People with a blind review can only see their own regions. */
const byAuthor = (author: string | undefined) =>
  author === undefined ? sql`` : sql`AND r.author_user_id = ${author}::uuid`

const after = (id: string | undefined) => (id === undefined ? sql`` : sql`AND r.id > ${id}::uuid`)

type Of = { conversationId: string; author: string | undefined }

/** Lists a conversation's regions, oldest first. */
export const listRegions = async (
  db: Db,
  org: OrgId,
  { conversationId, author }: Of,
  page: Page,
): Promise<StoredRegion[]> => {
  const { rows } = await sql<StoredRegion>`
    ${selectRegions(org)} AND r.conversation_id = ${conversationId}::uuid ${byAuthor(author)} ${after(page.after)}
    ORDER BY r.id LIMIT ${page.limit + 1}`.execute(db)
  return rows
}

/** Lists the regions that show one of these findings, oldest first. */
export const listFindingRegions = async (
  db: Db,
  org: OrgId,
  findingIds: string[],
  page: Page,
): Promise<StoredRegion[]> => {
  const { rows } = await sql<StoredRegion>`
    ${selectRegions(org)} AND r.finding_id = ANY(${findingIds}::uuid[]) AND x.finding_id IS NOT NULL ${after(page.after)}
    ORDER BY r.id LIMIT ${page.limit + 1}`.execute(db)
  return rows
}

export const getRegion = async (
  db: Db,
  org: OrgId,
  { conversationId, author }: Of,
  id: string,
): Promise<StoredRegion> => {
  const { rows } = await sql<StoredRegion>`
    ${selectRegions(org)} AND r.conversation_id = ${conversationId}::uuid AND r.id = ${id}::uuid ${byAuthor(author)}`.execute(
    db,
  )
  if (!rows[0]) throw notFound()
  return rows[0]
}

export const countRegions = async (db: Db, org: OrgId, conversationId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('conversation_regions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirstOrThrow()
  return count
}

export const insertRegion = (trx: Db, org: OrgId, region: StoredRegion) =>
  trx
    .insertInto('conversation_regions')
    .values({
      organization_id: org,
      id: region.id,
      conversation_id: region.conversationId,
      channel: region.channel,
      start_ms: region.startMs,
      end_ms: region.endMs,
      note: region.note,
      author_user_id: region.authorUserId,
      finding_id: region.findingId,
      created_at: region.createdAt,
    })
    .execute()

export const deleteRegion = (trx: Db, org: OrgId, id: string) =>
  trx.deleteFrom('conversation_regions').where('organization_id', '=', org).where('id', '=', id).execute()
