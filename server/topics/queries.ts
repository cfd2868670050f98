import { sql } from 'kysely'
import type { Db, OrgId } from '../platform/db/database.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../platform/http/paging.ts'

const columns = [
  'id',
  'group_id as groupId',
  'is_group as isGroup',
  'terms',
  'label',
  'hidden',
  'created_at as createdAt',
  'ended_at as endedAt',
  'merged_into_id as mergedIntoId',
] as const

/** Returns the topics that the newest build found, including those that people merged into others, and their groups. */
export const listTopics = (db: Db, org: OrgId) =>
  db
    .selectFrom('topics')
    .select(columns)
    .where('organization_id', '=', org)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .execute()

export type StoredTopic = Awaited<ReturnType<typeof listTopics>>[number]

export const getTopic = (db: Db, org: OrgId, id: string): Promise<StoredTopic> =>
  db
    .selectFrom('topics')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .executeTakeFirstOrThrow(notFound)

type TopicChange = { label?: string | null; hidden?: boolean }

/** Changes the properties of a topic that people choose. Builds don't change these. */
export const updateTopic = (trx: Db, org: OrgId, id: string, { label, hidden }: TopicChange): Promise<StoredTopic> =>
  trx
    .updateTable('topics')
    .set({ id, ...(label !== undefined && { label }), ...(hidden !== undefined && { hidden }) })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(notFound)

/** Lists what builds have changed about a topic, newest first. */
export const listChanges = (db: Db, org: OrgId, topicId: string) =>
  db
    .selectFrom('topic_changes')
    .select([sql<'created' | 'split' | 'merged' | 'ended'>`kind`.as('kind'), 'topic_ids as topicIds', 'at'])
    .where('organization_id', '=', org)
    .where('topic_id', '=', topicId)
    .orderBy('build', 'desc')
    .orderBy('kind')
    .execute()

type Periods = { previousSince: Date; bounds: Date[] }
export type TopicCount = { topicId: string | null; interval: number; conversations: number }

/**
 * Counts conversations by topic and interval. The interval -1 stands for the previous period, and the topic null for
 * outliers. Only reads the index on start times.
 */
export const countByTopic = async (db: Db, org: OrgId, { previousSince, bounds }: Periods): Promise<TopicCount[]> => {
  const { rows } = await sql<TopicCount>`
    SELECT topic_id AS "topicId", width_bucket(started_at, ${bounds}::timestamptz[]) - 1 AS interval,
      count(*) AS conversations
    FROM conversation_topics
    WHERE organization_id = ${org} AND started_at >= ${previousSince}::timestamptz
      AND started_at < ${bounds.at(-1)}::timestamptz
    GROUP BY 1, 2`.execute(db)
  return rows
}

/** The number of a topic's conversations that determine which monitors cover it. */
const comparedEach = 20

export type Covered = { topicId: string; monitorId: string; name: string; evaluated: number; affected: number }

/**
 * Counts the results of enabled monitors, in their current versions, for the most typical conversations of each topic.
 * For each conversation and monitor, this reads one entry of the results' primary key.
 */
export const countResultsByTopic = async (db: Db, org: OrgId): Promise<Covered[]> => {
  const { rows } = await sql<Covered>`
    WITH typical AS MATERIALIZED (
      SELECT t.id AS topic_id, c.conversation_id, c.started_at
      FROM topics t
      CROSS JOIN LATERAL (
        SELECT conversation_id, started_at FROM conversation_topics
        WHERE organization_id = ${org} AND topic_id = t.id
        ORDER BY similarity DESC, conversation_id LIMIT ${comparedEach}) c
      WHERE t.organization_id = ${org} AND t.ended_at IS NULL AND NOT t.is_group)
    SELECT y.topic_id AS "topicId", m.id AS "monitorId", m.name, count(*) AS evaluated,
      count(*) FILTER (WHERE r.result = 1) AS affected
    FROM typical y
    JOIN monitors m ON m.organization_id = ${org} AND m.deleted_at IS NULL AND m.enabled
    JOIN monitor_results r ON r.organization_id = ${org} AND r.monitor_id = m.id AND r.call_started_at = y.started_at
      AND r.conversation_id = y.conversation_id AND r.monitor_version = m.current_version AND r.result IS NOT NULL
    GROUP BY y.topic_id, m.id, m.name`.execute(db)
  return rows
}

/**
 * Lists the conversations of a topic, or of all topics of a group, most typical first. An index contains each topic's
 * conversations in this order, so at most a page per topic is read.
 */
export const listConversations = async (db: Db, org: OrgId, topicIds: string[], { limit, after }: Page) => {
  const [similarity, conversationId] = after?.split(' ') ?? []
  const isAfter =
    similarity === undefined
      ? sql`true`
      : sql`o.similarity <= ${similarity}::float8
          AND (o.similarity < ${similarity}::float8 OR o.conversation_id > ${conversationId}::uuid)`
  const { rows } = await sql<{ conversationId: string; topicId: string; similarity: number; startedAt: Date }>`
    SELECT p.conversation_id AS "conversationId", p.topic_id AS "topicId", p.similarity, p.started_at AS "startedAt"
    FROM unnest(${topicIds}::uuid[]) AS t(id)
    CROSS JOIN LATERAL (
      SELECT o.conversation_id, o.topic_id, o.similarity, o.started_at FROM conversation_topics o
      WHERE o.organization_id = ${org} AND o.topic_id = t.id AND ${isAfter}
      ORDER BY o.similarity DESC, o.conversation_id LIMIT ${limit + 1}) AS p
    ORDER BY p.similarity DESC, p.conversation_id LIMIT ${limit + 1}`.execute(db)
  return rows
}

/** Returns the IDs of a topic and those merged into it, or of the topics of a group. */
export const listTopicIdsWithin = async (db: Db, org: OrgId, id: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('topics')
    .select('id')
    .where('organization_id', '=', org)
    .where((of) =>
      of.or([
        of('id', '=', id),
        of('group_id', '=', id),
        of.and([of('merged_into_id', '=', id), of('ended_at', 'is', null)]),
      ]),
    )
    .execute()
  return rows.map((row) => row.id)
}

/** Lists the topics that people merged into a topic. */
export const listMergedInto = (db: Db, org: OrgId, id: string): Promise<StoredTopic[]> =>
  db
    .selectFrom('topics')
    .select(columns)
    .where('organization_id', '=', org)
    .where('merged_into_id', '=', id)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .execute()

/** Locks topics against changes until the transaction ends. */
export const lockTopics = (trx: Db, org: OrgId, ids: string[]): Promise<StoredTopic[]> =>
  trx
    .selectFrom('topics')
    .select(columns)
    .where('organization_id', '=', org)
    .where('id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .orderBy('id')
    .forUpdate()
    .execute()

/** Merges a topic, and the topics that were merged into it, into another one. */
export const mergeInto = async (trx: Db, org: OrgId, id: string, into: StoredTopic): Promise<void> => {
  await trx
    .updateTable('topics')
    .set({ merged_into_id: into.id, group_id: into.groupId })
    .where('organization_id', '=', org)
    .where('ended_at', 'is', null)
    .where((of) => of.or([of('id', '=', id), of('merged_into_id', '=', id)]))
    .execute()
}

/** Lists a topic by itself again. */
export const separateTopic = async (trx: Db, org: OrgId, id: string): Promise<void> => {
  await trx
    .updateTable('topics')
    .set({ merged_into_id: null })
    .where('organization_id', '=', org)
    .where('id', '=', id)
    .execute()
}

export type Build = { model: number; number: number; builtAt: Date }

/** Returns the newest build, with one row for each model that it used. */
export const listBuilds = (db: Db, org: OrgId): Promise<Build[]> =>
  db
    .selectFrom('topic_builds')
    .select(['model', 'number', 'built_at as builtAt'])
    .where('organization_id', '=', org)
    .orderBy('model')
    .execute()

/** Returns the number of the newest build. No other build replaces it until the transaction ends. */
export const lockBuild = async (trx: Db, org: OrgId): Promise<number | undefined> => {
  const row = await trx
    .selectFrom('topic_builds')
    .select('number')
    .where('organization_id', '=', org)
    .orderBy('model')
    .limit(1)
    .forShare()
    .executeTakeFirst()
  return row?.number
}

/** Lists the organizations that embed conversations. */
export const listEmbeddingAllOrgs = (db: Db) =>
  db.selectFrom('embedding_progress').select(sql<OrgId>`organization_id`.as('id')).execute()

/** Lists the organizations with topics, with the time of their newest build. */
export const listBuiltAllOrgs = (db: Db) =>
  db
    .selectFrom('topic_builds')
    .select([sql<OrgId>`organization_id`.as('id'), 'built_at as builtAt'])
    .execute()

/** Counts the conversations since a time that have a first passage embedded by a model. */
export const countFirstPassages = async (db: Db, org: OrgId, model: number, since: Date): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM conversation_passages p
    JOIN conversations c ON c.organization_id = ${org} AND c.id = p.conversation_id
      AND c.started_at >= ${since}::timestamptz
    WHERE p.organization_id = ${org} AND p.model = ${model} AND p.position = 0`.execute(db)
  return rows[0]?.count ?? 0
}

export type FirstPassage = { conversationId: string; vector: Buffer }

/**
 * Returns the first passages of a random sample of the conversations since a time, ordered by conversation. `share` is
 * the fraction of conversations to sample, from 0 to 1.
 */
export const sampleFirstPassages = async (
  db: Db,
  org: OrgId,
  { model, since, share, limit }: { model: number; since: Date; share: number; limit: number },
): Promise<FirstPassage[]> => {
  const { rows } = await sql<FirstPassage>`
    SELECT * FROM (
      SELECT p.conversation_id AS "conversationId", p.vector FROM conversation_passages p
      JOIN conversations c ON c.organization_id = ${org} AND c.id = p.conversation_id
        AND c.started_at >= ${since}::timestamptz
      WHERE p.organization_id = ${org} AND p.model = ${model} AND p.position = 0 AND random() < ${share}
      ORDER BY random() LIMIT ${limit}) AS sample
    ORDER BY "conversationId"`.execute(db)
  return rows
}

/** Returns the current topics of conversations. Omits outliers. */
export const listTopicsOf = async (db: Db, org: OrgId, conversationIds: string[]): Promise<Map<string, string>> => {
  const { rows } = await sql<{ conversationId: string; topicId: string }>`
    SELECT conversation_id AS "conversationId", topic_id AS "topicId" FROM conversation_topics
    WHERE organization_id = ${org} AND conversation_id = ANY(${conversationIds}::uuid[]) AND topic_id IS NOT NULL`.execute(
    db,
  )
  return new Map(rows.map(({ conversationId, topicId }) => [conversationId, topicId]))
}

export const listTexts = async (db: Db, org: OrgId, conversationIds: string[]) => {
  const { rows } = await sql<{ id: string; startedAt: Date; content: string; format: string }>`
    SELECT c.id, c.started_at AS "startedAt", t.content, t.format
    FROM conversations c
    JOIN transcripts t ON t.organization_id = ${org} AND t.conversation_id = c.id
    WHERE c.organization_id = ${org} AND c.id = ANY(${conversationIds}::uuid[]) AND t.format IS NOT NULL`.execute(db)
  return rows
}

type NewBuild = { number: number; builtAt: Date; models: { model: number; mean: Buffer }[] }

/** Replaces the newest build. Returns false if another process was faster. */
export const replaceBuild = async (trx: Db, org: OrgId, { number, builtAt, models }: NewBuild): Promise<boolean> => {
  for (const { model, mean } of models) {
    const { rows } = await sql<{ model: number }>`
      INSERT INTO topic_builds (organization_id, model, number, mean, built_at)
      VALUES (${org}, ${model}, ${number}, ${mean}, ${builtAt})
      ON CONFLICT ON CONSTRAINT topic_builds_pkey
      DO UPDATE SET number = excluded.number, mean = excluded.mean, built_at = excluded.built_at
      WHERE topic_builds.number < excluded.number RETURNING model`.execute(trx)
    if (rows.length === 0) return false
  }
  await trx.deleteFrom('topic_builds').where('organization_id', '=', org).where('number', '<', number).execute()
  return true
}

export type BuiltTopic = {
  id: string
  groupId: string | null
  /** The topic that a person merged this one into. */
  mergedIntoId: string | null
  isGroup: boolean
  terms: string[]
  model: number | null
  center: Buffer | null
  bound: number | null
}

/** Stores the topics of a build. Keeps the properties that people chose for existing topics. */
export const storeTopics = async (trx: Db, org: OrgId, topics: BuiltTopic[], at: Date): Promise<void> => {
  for (const { id, groupId, mergedIntoId, isGroup, terms, model, center, bound } of topics) {
    const found = { group_id: groupId, terms, model, center, bound, ended_at: null, merged_into_id: mergedIntoId }
    await trx
      .insertInto('topics')
      .values({ organization_id: org, id, is_group: isGroup, created_at: at, ...found })
      .onConflict((conflict) => conflict.constraint('topics_pkey').doUpdateSet(found))
      .execute()
  }
}

/** Ends topics that a build did not find again. */
export const endTopics = async (
  trx: Db,
  org: OrgId,
  ended: { id: string; mergedIntoId: string | null }[],
  at: Date,
): Promise<void> => {
  await sql`
    UPDATE topics t SET ended_at = ${at}::timestamptz, merged_into_id = e.merged_into_id, center = NULL
    FROM unnest(${ended.map(({ id }) => id)}::uuid[], ${ended.map(({ mergedIntoId }) => mergedIntoId)}::uuid[])
      AS e(id, merged_into_id)
    WHERE t.organization_id = ${org} AND t.id = e.id`.execute(trx)
}

/** Deletes topics that ended before a time, with their history. */
export const deleteEnded = (trx: Db, org: OrgId, before: Date) =>
  trx.deleteFrom('topics').where('organization_id', '=', org).where('ended_at', '<', before).execute()

export type Change = { topicId: string; kind: 'created' | 'split' | 'merged' | 'ended'; topicIds: string[] }

export const insertChanges = async (
  trx: Db,
  org: OrgId,
  changes: Change[],
  { number, builtAt }: Pick<NewBuild, 'number' | 'builtAt'>,
): Promise<void> => {
  if (changes.length === 0) return
  const rows = changes.map(({ topicId, kind, topicIds }) => ({
    organization_id: org,
    topic_id: topicId,
    build: number,
    kind,
    topic_ids: topicIds,
    at: builtAt,
  }))
  await trx.insertInto('topic_changes').values(rows).execute()
}

/** Returns the cluster centers with which the vectors of each model are compared. */
export const listCenters = async (db: Db, org: OrgId) => {
  const { rows } = await sql<{ model: number; mean: Buffer; id: string; center: Buffer; bound: number }>`
    SELECT b.model, b.mean, t.id, t.center, t.bound
    FROM topic_builds b
    JOIN topics t ON t.organization_id = ${org} AND t.model = b.model AND t.ended_at IS NULL
    WHERE b.organization_id = ${org} ORDER BY b.model, t.id`.execute(db)
  return rows
}

export type Assignment = { conversationId: string; topicId: string | null; similarity: number | null }

/**
 * Stores the topics of embedded conversations, unless they already have a topic from the same build. The caller has
 * locked the conversations.
 */
export const assignTopics = async (trx: Db, org: OrgId, build: number, assignments: Assignment[]): Promise<void> => {
  const column = <Name extends keyof Assignment>(name: Name) => assignments.map((one) => one[name])
  await sql`
    INSERT INTO conversation_topics (organization_id, conversation_id, topic_id, similarity, build, started_at)
    SELECT ${org}::uuid, c.id, a.topic_id, a.similarity, ${build}::integer, c.started_at
    FROM unnest(${column('conversationId')}::uuid[], ${column('topicId')}::uuid[], ${column('similarity')}::float8[])
      AS a(conversation_id, topic_id, similarity)
    JOIN conversations c ON c.organization_id = ${org} AND c.id = a.conversation_id
    JOIN conversation_embeddings e ON e.organization_id = ${org} AND e.conversation_id = a.conversation_id
    ON CONFLICT ON CONSTRAINT conversation_topics_pkey
    DO UPDATE SET topic_id = excluded.topic_id, similarity = excluded.similarity, build = excluded.build
    WHERE conversation_topics.build < excluded.build`.execute(trx)
}

type Position = { startedAt: Date; id: string }
export type Unassigned = Position & { model: number | null; vector: Buffer | null }

/**
 * Returns the next conversations in time order, newest first. Those that the build still has to assign come with the
 * vector of their first passage.
 */
export const listToAssign = async (
  db: Db,
  org: OrgId,
  build: number,
  { after, limit }: { after: Position | undefined; limit: number },
): Promise<Unassigned[]> => {
  const [startedAt, id] = [after?.startedAt ?? null, after?.id ?? null]
  const { rows } = await sql<Unassigned>`
    WITH page AS MATERIALIZED (
      SELECT id, started_at FROM conversations
      WHERE organization_id = ${org}
        AND (${startedAt}::timestamptz IS NULL OR (started_at, id) < (${startedAt}::timestamptz, ${id}::uuid))
      ORDER BY started_at DESC, id DESC LIMIT ${limit})
    SELECT g.id, g.started_at AS "startedAt", p.model, p.vector FROM page g
    LEFT JOIN conversation_passages p ON p.organization_id = ${org} AND p.conversation_id = g.id AND p.position = 0
      AND NOT EXISTS (
        SELECT FROM conversation_topics t
        WHERE t.organization_id = ${org} AND t.conversation_id = g.id AND t.build >= ${build})
    ORDER BY g.started_at DESC, g.id DESC`.execute(db)
  return rows
}
