import { sql } from 'kysely'
import type { Db, OrgId } from '../../platform/db/database.ts'

/**
 * Lists the generations of a model's cells, oldest first. There are two only while vectors are being sorted into new
 * cells.
 */
export const listGenerations = async (db: Db, org: OrgId, model: number): Promise<number[]> => {
  const rows = await db
    .selectFrom('embedding_cells')
    .select('generation')
    .where('organization_id', '=', org)
    .where('model', '=', model)
    .orderBy('generation')
    .execute()
  return rows.map(({ generation }) => generation)
}

export const findCenters = async (
  db: Db,
  org: OrgId,
  model: number,
  generation: number,
): Promise<Buffer | undefined> => {
  const row = await db
    .selectFrom('embedding_cells')
    .select('centers')
    .where('organization_id', '=', org)
    .where('model', '=', model)
    .where('generation', '=', generation)
    .executeTakeFirst()
  return row?.centers
}

/** Stores new cells, unless another process has just stored some. */
export const insertCells = (
  trx: Db,
  org: OrgId,
  model: number,
  { generation, centers }: { generation: number; centers: Buffer },
) =>
  trx
    .insertInto('embedding_cells')
    .values({ organization_id: org, model, generation, centers })
    .onConflict((conflict) => conflict.constraint('embedding_cells_pkey').doNothing())
    .execute()

export const deleteOlderCells = (trx: Db, org: OrgId, model: number, generation: number) =>
  trx
    .deleteFrom('embedding_cells')
    .where('organization_id', '=', org)
    .where('model', '=', model)
    .where('generation', '<', generation)
    .execute()

/** Locks a generation to keep its cells. Returns false if it was deleted. */
export const lockGeneration = async (trx: Db, org: OrgId, model: number, generation: number): Promise<boolean> => {
  const row = await trx
    .selectFrom('embedding_cells')
    .select('generation')
    .where('organization_id', '=', org)
    .where('model', '=', model)
    .where('generation', '=', generation)
    .forShare()
    .executeTakeFirst()
  return row !== undefined
}

/** Returns whether a model has more unsorted vectors than a limit. */
export const hasMoreUnsorted = async (db: Db, org: OrgId, model: number, limit: number): Promise<boolean> => {
  const { rows } = await sql<{ one: number }>`
    SELECT 1 AS one FROM conversation_passages
    WHERE organization_id = ${org} AND model = ${model} AND cell = 0
    LIMIT 1 OFFSET ${limit}`.execute(db)
  return rows.length > 0
}

export const countVectors = async (db: Db, org: OrgId, model: number): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM conversation_passages
    WHERE organization_id = ${org} AND model = ${model}`.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Returns a random sample of vectors in random order. `share` is the fraction of all vectors to sample, from 0 to 1.
 */
export const sampleVectors = async (
  db: Db,
  org: OrgId,
  model: number,
  { share, limit }: { share: number; limit: number },
): Promise<Buffer[]> => {
  const { rows } = await sql<{ vector: Buffer }>`
    SELECT vector FROM (
      SELECT vector FROM conversation_passages
      WHERE organization_id = ${org} AND model = ${model} AND random() < ${share}) AS sample
    ORDER BY random() LIMIT ${limit}`.execute(db)
  return rows.map(({ vector }) => vector)
}

export type UnsortedVector = { conversationId: string; position: number; cell: number; code: string; vector: Buffer }

/** Returns vectors in a range of cells, `from` included and `below` excluded. */
export const listToSort = async (
  db: Db,
  org: OrgId,
  model: number,
  { from, below, limit }: { from: number; below: number; limit: number },
): Promise<UnsortedVector[]> => {
  const { rows } = await sql<UnsortedVector>`
    SELECT conversation_id AS "conversationId", position, cell, code::text AS code, vector FROM conversation_passages
    WHERE organization_id = ${org} AND model = ${model} AND cell >= ${from} AND cell < ${below}
    ORDER BY cell LIMIT ${limit}`.execute(db)
  return rows
}

type SortedVector = Omit<UnsortedVector, 'vector'>

/**
 * Moves vectors to their cells, unless they have changed. Skips vectors that another transaction is changing or
 * deleting, because waiting for it could cause a deadlock.
 */
export const moveToCells = async (trx: Db, org: OrgId, model: number, sorted: SortedVector[]): Promise<void> => {
  await sql`
    WITH locked AS (
      SELECT p.conversation_id, p.position, s.cell
      FROM unnest(${sorted.map(({ conversationId }) => conversationId)}::uuid[],
        ${sorted.map(({ position }) => position)}::smallint[], ${sorted.map(({ cell }) => cell)}::integer[],
        ${sorted.map(({ code }) => code)}::text[]) AS s(conversation_id, position, cell, code)
      JOIN conversation_passages p
        ON p.organization_id = ${org} AND p.conversation_id = s.conversation_id AND p.position = s.position
      WHERE p.model = ${model} AND p.code = s.code::bit(512)
      FOR NO KEY UPDATE OF p SKIP LOCKED)
    UPDATE conversation_passages p SET cell = l.cell FROM locked l
    WHERE p.organization_id = ${org} AND p.conversation_id = l.conversation_id AND p.position = l.position`.execute(trx)
}

/** Returns whether a model has vectors in cells below a number, apart from unsorted ones. */
export const hasOlderCells = async (db: Db, org: OrgId, model: number, below: number): Promise<boolean> => {
  const row = await db
    .selectFrom('conversation_passages')
    .select('position')
    .where('organization_id', '=', org)
    .where('model', '=', model)
    .where('cell', '>', 0)
    .where('cell', '<', below)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
