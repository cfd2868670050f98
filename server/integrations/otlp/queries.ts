import { sql } from 'kysely'
import { batchesOfSize } from '../../platform/batches.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { type DueRows, daysBefore } from '../../platform/db/due-rows.ts'
import type { Page } from '../../platform/http/paging.ts'

type NewSpan = { traceId: string; spanId: string; conversationKey: string | null; text: string }

/** The maximum number of characters in one statement. Writing more would block other requests. */
const statementLength = 1024 * 1024

const insertSome = async (db: Db, org: OrgId, spans: NewSpan[], receivedAt: Date): Promise<string[]> => {
  const { rows } = await sql<{ traceId: string }>`
    WITH inserted AS (
      INSERT INTO otel_spans (organization_id, trace_id, span_id, conversation_key, span, received_at)
      SELECT ${org}::uuid, given.*, ${receivedAt}::timestamptz FROM unnest(
        ${spans.map(({ traceId }) => traceId)}::text[], ${spans.map(({ spanId }) => spanId)}::text[],
        ${spans.map(({ conversationKey }) => conversationKey)}::text[], ${spans.map(({ text }) => text)}::text[]) AS given
      ON CONFLICT ON CONSTRAINT otel_spans_pkey DO NOTHING
      RETURNING trace_id)
    SELECT DISTINCT trace_id AS "traceId" FROM inserted`.execute(db)
  return rows.map(({ traceId }) => traceId)
}

/**
 * Inserts spans in the given order. All callers use the same order to avoid deadlocks. Returns the traces that have new
 * spans.
 */
export const insertSpans = async (db: Db, org: OrgId, spans: NewSpan[], receivedAt: Date): Promise<string[]> => {
  const grown = new Set<string>()
  for (const some of batchesOfSize(spans, statementLength, ({ text }) => text.length)) {
    for (const traceId of await insertSome(db, org, some, receivedAt)) grown.add(traceId)
  }
  return [...grown]
}

/** Returns the conversations in the spans of these traces. */
export const listConversationKeys = async (db: Db, org: OrgId, traceIds: string[]) => {
  const { rows } = await sql<{ traceId: string; key: string }>`
    SELECT DISTINCT trace_id AS "traceId", conversation_key AS key FROM otel_spans
    WHERE organization_id = ${org} AND trace_id = ANY(${traceIds}::text[]) AND conversation_key IS NOT NULL
    ORDER BY 1, 2`.execute(db)
  return rows
}

/** Lists all traces with a span of this conversation. */
export const listTracesOf = async (db: Db, org: OrgId, key: string): Promise<string[]> => {
  const { rows } = await sql<{ traceId: string }>`
    SELECT DISTINCT trace_id AS "traceId" FROM otel_spans
    WHERE organization_id = ${org} AND conversation_key = ${key} ORDER BY 1`.execute(db)
  return rows.map(({ traceId }) => traceId)
}

/** Lists spans in order of arrival, within the limits. */
export const listSpans = async (db: Db, org: OrgId, traceIds: string[], limits: { count: number; bytes: number }) => {
  const { rows } = await sql<{
    traceId: string
    spanId: string
    conversationKey: string | null
    text: string
    receivedAt: Date
  }>`
    SELECT trace_id AS "traceId", span_id AS "spanId", conversation_key AS "conversationKey", span AS text,
      received_at AS "receivedAt"
    FROM (
      SELECT *, sum(octet_length(span)) OVER (ORDER BY received_at, trace_id, span_id) AS bytes FROM otel_spans
      WHERE organization_id = ${org} AND trace_id = ANY(${traceIds}::text[])) AS counted
    WHERE bytes <= ${limits.bytes}
    ORDER BY received_at, trace_id, span_id LIMIT ${limits.count}`.execute(db)
  return rows
}

export const findLastArrival = async (db: Db, org: OrgId, traceIds: string[]): Promise<Date | null> => {
  const { rows } = await sql<{ receivedAt: Date | null }>`
    SELECT max(received_at) AS "receivedAt" FROM otel_spans
    WHERE organization_id = ${org} AND trace_id = ANY(${traceIds}::text[])`.execute(db)
  return rows[0]?.receivedAt ?? null
}

type SpanId = { traceId: string; spanId: string }

/** Deletes spans, and returns the number of deleted spans. */
export const deleteSpans = async (db: Db, org: OrgId, spans: SpanId[]): Promise<number> => {
  const { rows } = await sql`
    DELETE FROM otel_spans s USING unnest(
      ${spans.map(({ traceId }) => traceId)}::text[], ${spans.map(({ spanId }) => spanId)}::text[]) AS gone(trace_id, span_id)
    WHERE s.organization_id = ${org} AND s.trace_id = gone.trace_id AND s.span_id = gone.span_id
    RETURNING 1`.execute(db)
  return rows.length
}

/** Returns the immutable data of a conversation, as first received. */
export const findStoredFacts = (db: Db, org: OrgId, externalId: string) =>
  db
    .selectFrom('conversations')
    .select(['agent_id as agentId', 'started_at as startedAt', 'ended_at as endedAt'])
    .where('organization_id', '=', org)
    .where('external_id', '=', externalId)
    .executeTakeFirst()

/**
 * Selects whole traces that received no spans for a day, including the other traces of their conversations. Also
 * selects everything older than a week, for conversations that never end and for unreadable spans.
 */
export const oldSpans: DueRows = {
  listOrganizationsAllOrgs: (db, now) =>
    db
      .selectFrom('otel_spans')
      .select(sql<OrgId>`organization_id`.as('id'))
      .distinct()
      .where('received_at', '<', daysBefore(now, 1))
      .execute(),
  sweep: async (db, org, { now, limit }) => {
    const [before, longBefore] = [daysBefore(now, 1), daysBefore(now, 7)]
    const { rows: due } = await sql<SpanId>`
      SELECT trace_id AS "traceId", span_id AS "spanId" FROM otel_spans s
      WHERE organization_id = ${org} AND received_at < ${before} AND (received_at < ${longBefore} OR NOT (
        unread_key IS NOT NULL
        OR EXISTS (SELECT FROM otel_spans t WHERE t.organization_id = ${org} AND t.trace_id = s.trace_id
          AND t.received_at >= ${before})
        OR EXISTS (SELECT FROM otel_spans k JOIN otel_spans n ON n.organization_id = ${org}
          AND n.conversation_key = k.conversation_key AND n.received_at >= ${before}
          WHERE k.organization_id = ${org} AND k.trace_id = s.trace_id)))
      ORDER BY received_at LIMIT ${limit}`.execute(db)
    return due.length === 0 ? 0 : deleteSpans(db, org, due)
  },
}

/** Deletes the stored reason why this conversation's spans could not be read. */
export const clearUnread = async (db: Db, org: OrgId, key: string): Promise<void> => {
  await sql`
    UPDATE otel_spans SET unread_key = NULL, unread_reason = NULL
    WHERE organization_id = ${org} AND unread_key = ${key}`.execute(db)
}

export const markUnread = async (db: Db, org: OrgId, key: string, reason: string, spans: SpanId[]): Promise<void> => {
  await sql`
    UPDATE otel_spans s SET unread_key = ${key}, unread_reason = ${reason} FROM unnest(
      ${spans.map(({ traceId }) => traceId)}::text[], ${spans.map(({ spanId }) => spanId)}::text[]) AS read(trace_id, span_id)
    WHERE s.organization_id = ${org} AND s.trace_id = read.trace_id AND s.span_id = read.span_id`.execute(db)
}

export type Unread = {
  key: string
  reason: string
  spans: number
  traceIds: string[]
  firstReceivedAt: Date
  lastReceivedAt: Date
}

export const listUnread = async (db: Db, org: OrgId, { limit, after }: Page): Promise<Unread[]> => {
  const [receivedAt, key] = after === undefined ? [null, null] : (JSON.parse(after) as [string, string])
  const { rows } = await sql<Unread>`
    SELECT unread_key AS key, max(unread_reason) AS reason, count(*)::int AS spans,
      (array_agg(DISTINCT trace_id))[1:20] AS "traceIds",
      min(received_at) AS "firstReceivedAt", max(received_at) AS "lastReceivedAt"
    FROM otel_spans WHERE organization_id = ${org} AND unread_key IS NOT NULL
    GROUP BY unread_key
    HAVING ${receivedAt}::timestamptz IS NULL OR (max(received_at), unread_key) < (${receivedAt}::timestamptz, ${key}::text)
    ORDER BY max(received_at) DESC, unread_key DESC LIMIT ${limit + 1}`.execute(db)
  return rows
}

const mostSpans = 200
const mostCharacters = 4 * 1024 * 1024

export const listUnreadSpans = async (db: Db, org: OrgId, key: string): Promise<{ text: string }[]> => {
  const { rows } = await sql<{ text: string }>`
    SELECT text FROM (
      SELECT span AS text, received_at, trace_id, span_id,
        sum(length(span)) OVER (ORDER BY received_at, trace_id, span_id) AS characters
      FROM otel_spans WHERE organization_id = ${org} AND unread_key = ${key}) AS counted
    WHERE characters <= ${mostCharacters}
    ORDER BY received_at, trace_id, span_id LIMIT ${mostSpans}`.execute(db)
  return rows
}
