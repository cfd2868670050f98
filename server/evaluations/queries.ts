import { sql } from 'kysely'
import { type Resolved, whereSelected } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { plannedEachTime } from '../platform/db/naming-client.ts'

/** Reads conversations for evaluation. All of them are completed. */

/**
 * A conversation's fixed position in samples, from 0 to 100. A rate includes all conversations below it, so the sample
 * at a lower rate is a subset of the sample at a higher one.
 */
export const samplePosition = sql<number>`(
  ('x' || left(md5(conversations.id::text), 8))::bit(32)::bigint * (100.0::float8 / 4294967296))`

/** Selects the input of rules without the turns, as JSON text that is not parsed here. */
const factsOf = (org: OrgId) => sql<string>`json_build_object(
  'conversation', json_build_object(
    'id', conversations.id, 'externalId', conversations.external_id, 'agentId', conversations.agent_id,
    'agentVersionId', conversations.agent_version_id, 'companyId', conversations.company_id,
    'channel', conversations.channel, 'direction', conversations.direction, 'status', conversations.status,
    'startedAt', conversations.started_at, 'endedAt', conversations.ended_at,
    'durationSeconds', conversations.duration_seconds, 'endReason', conversations.end_reason,
    'customerId', conversations.customer_id),
  'metadata', conversations.metadata,
  'signals', conversations.signals,
  'sound', coalesce(conversations.sound, '{}'),
  'metrics', coalesce((
    SELECT jsonb_object_agg(m.key, m.value) FROM customer_metrics m
    WHERE m.organization_id = ${org} AND m.conversation_id = conversations.id), '{}'))::text`

/** Whether the recording still has to be stored or measured. */
const awaitsSoundOf = (org: OrgId) => sql<boolean>`(
  conversations.sound IS NULL
  AND coalesce(conversations.recording_status IN ('pending', 'processing', 'stored'), false)
  AND EXISTS (SELECT 1 FROM organizations o WHERE o.id = ${org} AND o.measure_sound))`

/** Returns conversations with the length of their transcripts, in time order. */
export const listSubjects = (db: Db, org: OrgId, ids: string[]) =>
  db
    .selectFrom('conversations')
    .leftJoin('transcripts as t', (join) =>
      join
        .onRef('t.organization_id', '=', 'conversations.organization_id')
        .onRef('t.conversation_id', '=', 'conversations.id'),
    )
    .select([
      'conversations.id',
      'conversations.started_at as startedAt',
      samplePosition.as('samplePosition'),
      factsOf(org).as('facts'),
      awaitsSoundOf(org).as('awaitsSound'),
      sql<boolean>`coalesce(conversations.recording_status = 'processing', false)`.as('awaitsRecording'),
      't.content_length as length',
      't.format',
      't.unreadable',
    ])
    .where('conversations.organization_id', '=', org)
    .where('conversations.id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .where('conversations.status', '=', 'completed')
    .orderBy('conversations.started_at')
    .orderBy('conversations.id')
    .execute()

/** Returns the times when the recordings and transcripts of conversations were last stored. */
export const listInputTimes = async (db: Db, org: OrgId, ids: string[]): Promise<Map<string, Date>> => {
  const { rows } = await sql<{ id: string; at: Date }>`
    SELECT c.id, greatest(r.updated_at, t.updated_at, c.created_at) AS at FROM conversations c
    LEFT JOIN recordings r ON r.organization_id = ${org} AND r.conversation_id = c.id
    LEFT JOIN transcripts t ON t.organization_id = ${org} AND t.conversation_id = c.id
    WHERE c.organization_id = ${org} AND c.id = ANY(${ids}::uuid[])`.execute(db)
  return new Map(rows.map(({ id, at }) => [id, at]))
}

export const listContents = (db: Db, org: OrgId, ids: string[]) =>
  db
    .selectFrom('transcripts')
    .select(['conversation_id as id', 'content'])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

/** Returns, for each selection, which of the conversations match it. */
export const listSelectedAmong = async (db: Db, org: OrgId, ids: string[], selections: Resolved[]) => {
  const taken = selections.map(() => new Set<string>())
  if (selections.length === 0) return taken
  const parts = selections.map(
    (selection, at) =>
      sql`(${whereSelected(db.selectFrom('conversations'), org, selection)
        .select([sql<number>`${sql.lit(at)}::integer`.as('at'), 'conversations.id'])
        .where('conversations.id', '=', sql<string>`ANY(${ids}::uuid[])`)})`,
  )
  const { rows } = await sql<{ at: number; id: string }>`
    ${sql.join(parts, sql` UNION ALL `)} ${sql.raw(plannedEachTime)}`.execute(db)
  for (const { at, id } of rows) taken[at]?.add(id)
  return taken
}

type Pair = { conversationId: string; monitorId: string; monitorVersion: number }

/** The results that count: successful ones that were read after a time, or all except failures from before a time. */
type Since = { answeredAfter: Date } | { failedSince: Date }

/** Returns the pairs with a result that counts according to `since`. */
export const listAnswered = async (db: Db, org: OrgId, pairs: Pair[], since: Since): Promise<Pair[]> => {
  const isAnswer =
    'answeredAfter' in since
      ? sql`r.status < 2 AND r.evaluated_at > ${since.answeredAfter}`
      : sql`r.status < 2 OR r.evaluated_at >= ${since.failedSince}`
  const { rows } = await sql<Pair>`
    SELECT r.conversation_id AS "conversationId", r.monitor_id AS "monitorId", r.monitor_version AS "monitorVersion"
    FROM unnest(${pairs.map(({ conversationId }) => conversationId)}::uuid[],
      ${pairs.map(({ monitorId }) => monitorId)}::uuid[], ${pairs.map(({ monitorVersion }) => monitorVersion)}::integer[])
      AS p(conversation_id, monitor_id, monitor_version)
    JOIN conversations c ON c.organization_id = ${org} AND c.id = p.conversation_id
    JOIN monitor_results r ON r.organization_id = ${org} AND r.monitor_id = p.monitor_id
      AND r.call_started_at = c.started_at AND r.conversation_id = p.conversation_id
      AND r.monitor_version = p.monitor_version
    WHERE ${isAnswer}`.execute(db)
  return rows
}
