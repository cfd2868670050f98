import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { plannedEachTime } from '../../platform/db/naming-client.ts'
import { notFound } from '../../platform/errors.ts'

const eachTime = sql.raw(plannedEachTime)

export type TagsOf = { conversationId: string; tags: string[] }

/** Returns the tags of conversations, sorted. Omits conversations without tags. */
export const listTags = async (db: Db, org: OrgId, ids: string[]): Promise<TagsOf[]> => {
  const { rows } = await sql<TagsOf>`
    SELECT g.conversation_id AS "conversationId", array_agg(g.tag ORDER BY g.tag) AS tags FROM conversation_tags g
    WHERE g.organization_id = ${org} AND g.conversation_id = ANY(${ids}::uuid[])
    GROUP BY g.conversation_id`.execute(db)
  return rows
}

export const getTags = async (db: Db, org: OrgId, conversationId: string): Promise<string[]> => {
  const { tags } = await db
    .selectFrom('conversations')
    .select(
      sql<string[]>`ARRAY(SELECT g.tag FROM conversation_tags g
        WHERE g.organization_id = ${org} AND g.conversation_id = ${conversationId}::uuid ORDER BY g.tag)`.as('tags'),
    )
    .where('organization_id', '=', org)
    .where('id', '=', conversationId)
    .executeTakeFirstOrThrow(notFound)
  return tags
}

const pairsOf = (list: TagsOf[]) => ({
  ids: list.flatMap(({ conversationId, tags }) => tags.map(() => conversationId)),
  tags: list.flatMap(({ tags }) => tags),
})

/** Adds tags to conversations that the caller has locked. */
export const insertTags = async (trx: Db, org: OrgId, added: TagsOf[]): Promise<void> => {
  const { ids, tags } = pairsOf(added)
  if (ids.length === 0) return
  await sql`
    INSERT INTO conversation_tags (organization_id, conversation_id, tag)
    SELECT ${org}::uuid, given.id, given.tag FROM unnest(${ids}::uuid[], ${tags}::text[]) AS given(id, tag)
    ON CONFLICT ON CONSTRAINT conversation_tags_pkey DO NOTHING`.execute(trx)
}

/** Removes tags from conversations that the caller has locked. */
export const deleteTags = async (trx: Db, org: OrgId, removed: TagsOf[]): Promise<void> => {
  const { ids, tags } = pairsOf(removed)
  if (ids.length === 0) return
  await sql`
    DELETE FROM conversation_tags g USING unnest(${ids}::uuid[], ${tags}::text[]) AS given(id, tag)
    WHERE g.organization_id = ${org} AND g.conversation_id = given.id AND g.tag = given.tag`.execute(trx)
}

/** The maximum number of tags with the prefix to count, in alphabetical order. */
const mostKnown = 200

type TagSearch = { prefix: string; counted: number; limit: number }

/**
 * Returns the most frequent tags with a prefix. Skips through the index from one tag to the next, and counts a limited
 * number of occurrences for each, so that frequent tags cost no more than rare ones.
 */
export const listKnownTags = async (db: Db, org: OrgId, { prefix, counted, limit }: TagSearch) => {
  const { rows } = await sql<{ tag: string; count: number }>`
    WITH RECURSIVE known AS (
      (SELECT g.tag FROM conversation_tags g
        WHERE g.organization_id = ${org} AND g.tag >= ${prefix}::text ORDER BY g.tag LIMIT 1)
      UNION ALL
      SELECT following.tag FROM known CROSS JOIN LATERAL (
        SELECT g.tag FROM conversation_tags g
        WHERE g.organization_id = ${org} AND g.tag > known.tag ORDER BY g.tag LIMIT 1) following
      WHERE starts_with(known.tag, ${prefix}::text))
    SELECT listed.tag, counted.count
    FROM (SELECT known.tag FROM known WHERE starts_with(known.tag, ${prefix}::text) LIMIT ${sql.lit(mostKnown)}) listed
    CROSS JOIN LATERAL (
      SELECT count(*) AS count FROM (
        SELECT 1 FROM conversation_tags g WHERE g.organization_id = ${org} AND g.tag = listed.tag
        LIMIT ${sql.lit(counted)}) found) counted
    ORDER BY counted.count DESC, listed.tag LIMIT ${sql.lit(limit)} ${eachTime}`.execute(db)
  return rows
}
