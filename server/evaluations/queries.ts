import { sql } from 'kysely'
import { type Selection, whereSelected } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { plannedEachTime } from '../platform/db/naming-client.ts'

/** Conversations as they are evaluated. Only completed ones are. */

/**
 * Where a conversation stands among all, from 0 to 100 and for ever: a share takes those below it, so that a lower one
 * takes a part of what a higher one takes.
 */
export const samplePosition = sql<number>`(
  ('x' || left(md5(conversations.id::text), 8))::bit(32)::bigint * (100.0::float8 / 4294967296))`

/** What a rule may look at beside the turns, as one text of JSON, which nobody reads on the way. */
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
  'metrics', coalesce((
    SELECT jsonb_object_agg(m.key, m.value) FROM customer_metrics m
    WHERE m.organization_id = ${org} AND m.conversation_id = conversations.id), '{}'))::text`

/** Without their transcripts, of which they tell the length. In the order of time. */
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

export const listContents = (db: Db, org: OrgId, ids: string[]) =>
  db
    .selectFrom('transcripts')
    .select(['conversation_id as id', 'content'])
    .where('organization_id', '=', org)
    .where('conversation_id', '=', sql<string>`ANY(${ids}::uuid[])`)
    .execute()

/** For each of the selections, which of the conversations it takes. */
export const listSelectedAmong = async (db: Db, org: OrgId, ids: string[], selections: Selection[]) => {
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

/** A failure is an answer only where it says from when on. */
type Since = { answeredAfter: Date } | { failedSince: Date }

/** Which of the pairs have an answer: one that was read after an instant, or any, and a failure since an instant. */
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
