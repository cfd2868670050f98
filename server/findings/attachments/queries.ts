import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { newestFirst } from '../../platform/db/pages.ts'
import type { Page } from '../../platform/http/paging.ts'

const columns = ['finding_id as findingId', 'conversation_id as conversationId', 'created_at as createdAt'] as const

export const listAttached = (db: Db, org: OrgId, findingId: string, page: Page) =>
  db
    .selectFrom('finding_conversations')
    .select(columns)
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .$call(newestFirst('conversation_id', page))
    .execute()

export const findAttached = (db: Db, org: OrgId, findingId: string, conversationId: string) =>
  db
    .selectFrom('finding_conversations')
    .select(columns)
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .where('conversation_id', '=', conversationId)
    .executeTakeFirst()

export const countAttached = async (db: Db, org: OrgId, findingId: string): Promise<number> => {
  const { count } = await db
    .selectFrom('finding_conversations')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .executeTakeFirstOrThrow()
  return count
}

/** Counts the conversations that were attached since the finding was created or a spike reopened it. */
export const countGathered = async (db: Db, org: OrgId, findingId: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM finding_conversations c
    WHERE c.organization_id = ${org} AND c.finding_id = ${findingId} AND c.created_at >= coalesce((
      SELECT max(m.created_at) FROM finding_moves m
      WHERE m.organization_id = ${org} AND m.finding_id = ${findingId} AND m.kind = 'recurrence'), '-infinity')`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/**
 * Attaches conversations that exist. Locks them in the order in which all code locks conversations, and returns those
 * that were not attached yet.
 */
export const attachConversations = async (
  trx: Db,
  org: OrgId,
  findingId: string,
  ids: string[],
  now: Date,
): Promise<string[]> => {
  const { rows } = await sql<{ id: string }>`
    WITH held AS (
      SELECT c.id FROM conversations c
      WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[])
      ORDER BY c.external_id, c.id FOR KEY SHARE)
    INSERT INTO finding_conversations (organization_id, finding_id, conversation_id, created_at)
    SELECT ${org}::uuid, ${findingId}::uuid, h.id, ${now}::timestamptz FROM held h
    ON CONFLICT ON CONSTRAINT finding_conversations_pkey DO NOTHING
    RETURNING conversation_id AS id`.execute(trx)
  return rows.map(({ id }) => id)
}

/** Attaches one finding's conversations to another finding as well, with their original times. */
export const copyAttached = async (trx: Db, org: OrgId, { from, to }: { from: string; to: string }) => {
  await sql`
    WITH held AS (
      SELECT c.id, a.created_at FROM finding_conversations a
      JOIN conversations c ON c.organization_id = a.organization_id AND c.id = a.conversation_id
      WHERE a.organization_id = ${org} AND a.finding_id = ${from}
      ORDER BY c.external_id, c.id FOR KEY SHARE OF c)
    INSERT INTO finding_conversations (organization_id, finding_id, conversation_id, created_at)
    SELECT ${org}::uuid, ${to}::uuid, h.id, h.created_at FROM held h
    ON CONFLICT ON CONSTRAINT finding_conversations_pkey DO NOTHING`.execute(trx)
}

/** Detaches a conversation. Returns whether it was attached. */
export const detachConversation = async (trx: Db, org: OrgId, findingId: string, conversationId: string) => {
  const detached = await trx
    .deleteFrom('finding_conversations')
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .where('conversation_id', '=', conversationId)
    .returning('conversation_id')
    .executeTakeFirst()
  return detached !== undefined
}

/** Returns which of these conversations are attached. */
export const listAttachedAmong = async (db: Db, org: OrgId, findingId: string, ids: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('finding_conversations')
    .select('conversation_id as id')
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return rows.map(({ id }) => id)
}

/** Detaches conversations. Returns those that were attached. */
export const detachConversations = async (trx: Db, org: OrgId, findingId: string, ids: string[]): Promise<string[]> => {
  const rows = await trx
    .deleteFrom('finding_conversations')
    .where('organization_id', '=', org)
    .where('finding_id', '=', findingId)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .returning('conversation_id as id')
    .execute()
  return rows.map(({ id }) => id)
}
