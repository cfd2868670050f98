import { sql } from 'kysely'
import type { Clause } from '../platform/db/clause.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { plannedEachTime } from '../platform/db/naming-client.ts'

/** Returns the organization's model, as `providerId/model`, or null for the built-in models. */
export const findModelName = async (db: Db, org: OrgId): Promise<string | null> => {
  const row = await db
    .selectFrom('organizations')
    .select('embedding_model as name')
    .where('id', '=', org)
    .executeTakeFirst()
  return row?.name ?? null
}

/** Returns whether the organization embeds with a provider. */
export const isEmbeddingWith = async (db: Db, org: OrgId, providerId: string): Promise<boolean> => {
  const row = await db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', org)
    .where(sql<boolean>`starts_with(lower(embedding_model), ${`${providerId}/`})`)
    .executeTakeFirst()
  return row !== undefined
}

export const findModelNumber = async (db: Db, org: OrgId, name: string): Promise<number | undefined> => {
  const row = await db
    .selectFrom('embedding_models')
    .select('number')
    .where('organization_id', '=', org)
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.number
}

/**
 * Makes the provider's models get new numbers. The rows of the old numbers are kept, so those numbers are never used
 * again.
 */
export const retireModels = (trx: Db, org: OrgId, providerId: string) =>
  trx
    .updateTable('embedding_models')
    .set({ name: sql<string>`'retired ' || number` })
    .where('organization_id', '=', org)
    .where(sql<boolean>`starts_with(lower(name), ${`${providerId}/`})`)
    .execute()

/** Assigns a number to a model, unless another transaction has just done so. `first` is the lowest number. */
export const insertModel = async (db: Db, org: OrgId, name: string, first: number): Promise<void> => {
  const { highest } = await db
    .selectFrom('embedding_models')
    .select(({ fn }) => fn.max('number').as('highest'))
    .where('organization_id', '=', org)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('embedding_models')
    .values({ organization_id: org, number: highest === null ? first : highest + 1, name })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

export type StoredText = { id: string; startedAt: Date; content: string; hash: string; format: string }

/** Returns the transcripts of ended conversations that the model has not embedded yet. */
export const listUnembeddedTexts = async (db: Db, org: OrgId, ids: string[], model: number): Promise<StoredText[]> => {
  const { rows } = await sql<StoredText>`
    SELECT c.id, c.started_at AS "startedAt", t.content, t.content_hash AS hash, t.format
    FROM conversations c
    JOIN transcripts t ON t.organization_id = ${org} AND t.conversation_id = c.id
    WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[]) AND c.status <> 'in_progress'
      AND t.format IS NOT NULL
      AND NOT EXISTS (
        SELECT FROM conversation_embeddings e
        WHERE e.organization_id = ${org} AND e.conversation_id = c.id AND e.model = ${model})
    ORDER BY c.id`.execute(db)
  return rows
}

/** Returns which of these conversations have failed, which means that they ended without being completed. */
export const listFailed = async (db: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const rows = await db
    .selectFrom('conversations')
    .select('id')
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('status', '=', 'failed')
    .execute()
  return rows.map(({ id }) => id)
}

/** Returns the hashes of the conversations' current transcripts. */
export const listHashes = async (db: Db, org: OrgId, ids: string[]): Promise<Map<string, string>> => {
  const rows = await db
    .selectFrom('transcripts')
    .select(['conversation_id as id', 'content_hash as hash'])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()
  return new Map(rows.map(({ id, hash }) => [id, hash]))
}

/** Deletes the vectors of conversations. */
export const deleteEmbeddings = (trx: Db, org: OrgId, ids: string[]) =>
  trx
    .deleteFrom('conversation_embeddings')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

/** The number in place of a model's for conversations that are marked to be embedded. */
const unembedded = 0

/** Marks conversations that have no vectors. The caller has locked them. */
export const insertWaiting = (trx: Db, org: OrgId, ids: string[]) =>
  trx
    .insertInto('conversation_embeddings')
    .values(ids.map((id) => ({ organization_id: org, conversation_id: id, model: unembedded })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()

/** Lists marked conversations in the order of their IDs. */
export const listWaiting = async (
  db: Db,
  org: OrgId,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<string[]> => {
  const rows = await db
    .selectFrom('conversation_embeddings')
    .select('conversation_id as id')
    .where('organization_id', '=', org)
    .where('model', '=', unembedded)
    .$if(after !== undefined, (query) => query.where('conversation_id', '>', after ?? ''))
    .orderBy('conversation_id')
    .limit(limit)
    .execute()
  return rows.map(({ id }) => id)
}

export const deleteWaiting = (trx: Db, org: OrgId, ids: string[]) =>
  trx
    .deleteFrom('conversation_embeddings')
    .where('organization_id', '=', org)
    .where('model', '=', unembedded)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

/** Unmarks those of these conversations that cannot be embedded. The caller has locked them. */
export const deleteUselessMarks = (trx: Db, org: OrgId, ids: string[]) =>
  sql`
    DELETE FROM conversation_embeddings e
    WHERE e.organization_id = ${org} AND e.conversation_id = ANY(${ids}::uuid[]) AND e.model = ${unembedded}
      AND NOT EXISTS (
        SELECT FROM conversations c
        JOIN transcripts t ON t.organization_id = ${org} AND t.conversation_id = c.id
        WHERE c.organization_id = ${org} AND c.id = e.conversation_id AND c.status <> 'in_progress'
          AND t.format IS NOT NULL)`.execute(trx)

export type NewPassage = {
  conversationId: string
  position: number
  model: number
  code: string
  vector: Uint8Array
  firstTurn: number
  lastTurn: number
}

/** Stores the vectors of conversations that have none. The caller has locked the conversations. */
export const insertEmbeddings = async (
  trx: Db,
  org: OrgId,
  { conversationIds, model, passages }: { conversationIds: string[]; model: number; passages: NewPassage[] },
): Promise<void> => {
  await trx
    .insertInto('conversation_embeddings')
    .values(conversationIds.map((id) => ({ organization_id: org, conversation_id: id, model })))
    .execute()
  if (passages.length === 0) return
  const column = <Name extends keyof NewPassage>(name: Name) => passages.map((passage) => passage[name])
  await sql`
    INSERT INTO conversation_passages
      (organization_id, conversation_id, position, model, code, vector, first_turn, last_turn)
    SELECT ${org}::uuid, p.conversation_id, p.position, p.model, p.code::bit(512), p.vector, p.first_turn, p.last_turn
    FROM unnest(${column('conversationId')}::uuid[], ${column('position')}::smallint[], ${column('model')}::integer[],
      ${column('code')}::text[], ${column('vector').map((vector) => Buffer.from(vector))}::bytea[],
      ${column('firstTurn')}::integer[], ${column('lastTurn')}::integer[])
      AS p(conversation_id, position, model, code, vector, first_turn, last_turn)`.execute(trx)
}

export type Progress = { model: number; startedAt: Date | null; conversationId: string | null; isDone: boolean }

export const findProgress = (db: Db, org: OrgId): Promise<Progress | undefined> =>
  db
    .selectFrom('embedding_progress')
    .select(['model', 'started_at as startedAt', 'conversation_id as conversationId', 'is_done as isDone'])
    .where('organization_id', '=', org)
    .executeTakeFirst()

/** Starts the background job's progress at the newest conversation. */
export const insertProgress = (trx: Db, org: OrgId, model: number) => {
  const values = { model, started_at: null, conversation_id: null, is_done: false }
  return trx
    .insertInto('embedding_progress')
    .values({ organization_id: org, ...values })
    .onConflict((conflict) => conflict.constraint('embedding_progress_pkey').doUpdateSet(values))
    .execute()
}

/** Stores an organization's progress. Returns false if the job has to start again at the newest conversation. */
export const updateProgress = async (trx: Db, org: OrgId, progress: Progress): Promise<boolean> => {
  const updated = await trx
    .updateTable('embedding_progress')
    .set({
      started_at: progress.startedAt,
      conversation_id: progress.conversationId,
      is_done: progress.isDone,
    })
    .where('organization_id', '=', org)
    .where('model', '=', progress.model)
    .returning('model')
    .execute()
  return updated.length > 0
}

/** Makes the background job check all stored conversations again, starting with the newest. */
export const deleteProgress = (trx: Db, org: OrgId) =>
  trx.deleteFrom('embedding_progress').where('organization_id', '=', org).execute()

/** Lists the organizations with only embedded conversations, and the model that embedded them. */
export const listDoneAllOrgs = (db: Db) =>
  db
    .selectFrom('embedding_progress')
    .select([sql<OrgId>`organization_id`.as('id'), 'model'])
    .where('is_done', '=', true)
    .execute()

/** Lists all organizations with their models. */
export const listModelNamesAllOrgs = (db: Db) =>
  db
    .selectFrom('organizations')
    .select([sql<OrgId>`id`.as('id'), 'embedding_model as name'])
    .where('suspended_at', 'is', null)
    .execute()

export type ScannedPage = { id: string; startedAt: Date; isWaiting: boolean }[]

/** Returns whether the model still has to embed the conversation in a row `p`. */
const isWaiting = (org: OrgId, model: number) => sql<boolean>`(p.status <> 'in_progress'
      AND EXISTS (
        SELECT FROM transcripts t
        WHERE t.organization_id = ${org} AND t.conversation_id = p.id AND t.format IS NOT NULL)
      AND NOT EXISTS (
        SELECT FROM conversation_embeddings e
        WHERE e.organization_id = ${org} AND e.conversation_id = p.id AND e.model = ${model}))`

/** Returns the next older conversations, newest first, and whether each still has to be embedded. */
export const listNextOlder = async (
  db: Db,
  org: OrgId,
  { model, startedAt, conversationId }: Progress,
  limit: number,
): Promise<ScannedPage> => {
  const { rows } = await sql<ScannedPage[number]>`
    WITH page AS MATERIALIZED (
      SELECT id, started_at, status FROM conversations
      WHERE organization_id = ${org}
        AND (${startedAt}::timestamptz IS NULL OR (started_at, id) < (${startedAt}::timestamptz, ${conversationId}::uuid))
      ORDER BY started_at DESC, id DESC LIMIT ${limit})
    SELECT p.id, p.started_at AS "startedAt", ${isWaiting(org, model)} AS "isWaiting"
    FROM page p ORDER BY p.started_at DESC, p.id DESC`.execute(db)
  return rows
}

/** Counts the conversations that the model has embedded, up to a limit. */
export const countEmbedded = async (db: Db, org: OrgId, model: number, most: number): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (
      SELECT 1 FROM conversation_embeddings WHERE organization_id = ${org} AND model = ${model} LIMIT ${most}
    ) AS found`.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Counts the conversations that the model still has to embed: among the newest ones, and among those that the
 * background job reads next. Both are pages of at most `most` conversations.
 */
export const countWaiting = async (
  db: Db,
  org: OrgId,
  { model, startedAt, conversationId, isDone }: Progress,
  most: number,
): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    WITH page AS MATERIALIZED (
      (SELECT id, status FROM conversations WHERE organization_id = ${org}
        ORDER BY started_at DESC, id DESC LIMIT ${most})
      UNION
      (SELECT id, status FROM conversations
        WHERE organization_id = ${org} AND NOT ${isDone}::boolean
          AND (started_at, id) < (coalesce(${startedAt}::timestamptz, 'infinity'), ${conversationId}::uuid)
        ORDER BY started_at DESC, id DESC LIMIT ${most}))
    SELECT count(*) AS count FROM page p
    WHERE ${isWaiting(org, model)}`.execute(db)
  return rows[0]?.count ?? 0
}

type Near = {
  model: number
  code: string
  /** The maximum number of different bits. */
  farthest: number
  limit: number
  except: string | undefined
  /** Conditions on the table `conversations`. */
  within: Clause[]
}

export type StoredPassage = {
  conversationId: string
  vector: Buffer
  firstTurn: number
  lastTurn: number
}

const passageColumns = sql`p.conversation_id AS "conversationId", p.vector, p.first_turn AS "firstTurn",
  p.last_turn AS "lastTurn"`

const matching = (org: OrgId, within: Clause[]) =>
  sql`FROM conversations WHERE ${sql.join([sql`conversations.organization_id = ${org}`, ...within], sql` AND `)}`

/** Returns whether the conditions select at most this many conversations. */
export const areAtMost = async (db: Db, org: OrgId, within: Clause[], most: number): Promise<boolean> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM (SELECT 1 ${matching(org, within)} LIMIT ${most + 1}) AS found
    ${sql.raw(plannedEachTime)}`.execute(db)
  return (rows[0]?.count ?? 0) <= most
}

/**
 * Reads the passages with the most similar codes, and their vectors. Finds the codes first, because the index contains
 * codes but not vectors.
 */
const readNearest = async (
  db: Db,
  org: OrgId,
  { model, code, farthest, limit, except }: Near,
  { from, where }: { from: ReturnType<typeof sql>; where: ReturnType<typeof sql> },
): Promise<StoredPassage[]> => {
  const different = sql`bit_count(c.code # ${code}::bit(512))`
  const { rows } = await sql<StoredPassage>`
    WITH near AS MATERIALIZED (
      SELECT c.conversation_id, c.position FROM ${from}
      WHERE c.organization_id = ${org} AND c.model = ${model} AND ${different} <= ${farthest}
        AND (${except ?? null}::uuid IS NULL OR c.conversation_id <> ${except ?? null}::uuid) AND ${where}
      ORDER BY ${different} LIMIT ${limit})
    SELECT ${passageColumns} FROM near n
    JOIN conversation_passages p
      ON p.organization_id = ${org} AND p.conversation_id = n.conversation_id AND p.position = n.position
    ORDER BY p.conversation_id, p.position
    ${sql.raw(plannedEachTime)}`.execute(db)
  return rows
}

/** Compares the passages in these cells. */
export const listNearestInCells = (db: Db, org: OrgId, near: Near, cells: number[]): Promise<StoredPassage[]> => {
  const { within } = near
  const one = sql<boolean>`conversations.id = c.conversation_id`
  const satisfies = within.length > 0 ? sql`EXISTS (SELECT ${matching(org, [one, ...within])})` : sql`true`
  return readNearest(db, org, near, {
    from: sql`conversation_passages c`,
    where: sql`c.cell = ANY(${cells}::integer[]) AND ${satisfies}`,
  })
}

/**
 * Compares all passages of the conversations that satisfy the conditions. The primary key contains their codes. The
 * statement keeps PostgreSQL from reading the codes of all passages. The planner would prefer that, because it doesn't
 * know that conversations of the same time are next to each other in the primary key.
 */
export const listNearestWithin = (db: Db, org: OrgId, near: Near): Promise<StoredPassage[]> =>
  readNearest(db, org, near, {
    from: sql`(SELECT conversations.id ${matching(org, near.within)} ORDER BY conversations.id) AS selected
      CROSS JOIN LATERAL (
        SELECT p.organization_id, p.conversation_id, p.position, p.model, p.code FROM conversation_passages p
        WHERE p.organization_id = ${org} AND p.conversation_id = selected.id OFFSET 0) AS c`,
    where: sql`true`,
  })

/** Reads the passages of these conversations that any of these models embedded, with their vectors. */
export const listPassagesOf = async (db: Db, org: OrgId, ids: string[], models: number[]) => {
  const { rows } = await sql<StoredPassage & { model: number }>`
    SELECT ${passageColumns}, p.model FROM conversation_passages p
    WHERE p.organization_id = ${org} AND p.conversation_id = ANY(${ids}::uuid[]) AND p.model = ANY(${models}::integer[])
    ORDER BY p.conversation_id, p.position`.execute(db)
  return rows
}

/** Returns the first passage of a conversation if one of these models embedded it. */
export const findFirstPassage = (db: Db, org: OrgId, conversationId: string, models: number[]) =>
  db
    .selectFrom('conversation_passages')
    .select(['model', 'vector'])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', conversationId)
    .where('model', '=', sql<number>`ANY(${models}::integer[])`)
    .orderBy('position')
    .limit(1)
    .executeTakeFirst()

/** Returns which of these conversations a model has embedded. */
export const listEmbedded = async (db: Db, org: OrgId, ids: string[], model: number): Promise<Set<string>> => {
  const rows = await db
    .selectFrom('conversation_embeddings')
    .select('conversation_id as id')
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('model', '=', model)
    .execute()
  return new Set(rows.map(({ id }) => id))
}
