import { sql } from 'kysely'
import Type from 'typebox'
import type { Deps } from '../../deps.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { App } from '../../platform/http/http.ts'
import type { Page as PageOf } from '../../platform/http/paging.ts'
import { answers, Closed, Page, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { tracesOf } from './conversation.ts'

/** Traces that follow no known convention: they become no conversation, and their spans are kept for a week. */

type SpanId = { traceId: string; spanId: string }

/** Forgets why spans of this conversation could not be read. */
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

type Unread = {
  key: string
  reason: string
  spans: number
  traceIds: string[]
  firstReceivedAt: Date
  lastReceivedAt: Date
}

const positionOf = ({ key, lastReceivedAt }: Unread): string => JSON.stringify([lastReceivedAt.toISOString(), key])

const listUnread = async (db: Db, org: OrgId, { limit, after }: PageOf): Promise<Unread[]> => {
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

const listUnreadSpans = async (db: Db, org: OrgId, key: string): Promise<{ text: string }[]> => {
  const { rows } = await sql<{ text: string }>`
    SELECT text FROM (
      SELECT span AS text, received_at, trace_id, span_id,
        sum(length(span)) OVER (ORDER BY received_at, trace_id, span_id) AS characters
      FROM otel_spans WHERE organization_id = ${org} AND unread_key = ${key}) AS counted
    WHERE characters <= ${mostCharacters}
    ORDER BY received_at, trace_id, span_id LIMIT ${mostSpans}`.execute(db)
  return rows
}

const UnreadTraces = Closed(
  {
    key: Type.String({
      description: 'The ID of the conversation in its spans, or else the ID of the trace.',
      examples: ['chat-81'],
    }),
    reason: Type.String({
      description: 'Why no turn could be read, with the names of the attributes.',
      examples: ['No messages of a known convention: the transcript holds no turns. Attributes: my.prompt'],
    }),
    spans: Type.Integer({ minimum: 1 }),
    traceIds: Type.Array(Type.String(), { description: 'At most 20 of them.' }),
    firstReceivedAt: Timestamp,
    lastReceivedAt: Timestamp,
  },
  { title: 'UnreadTraces' },
)

const KeyQuery = Closed({
  key: Type.String({ minLength: 1, maxLength: 255, description: '`key` of the list.', examples: ['chat-81'] }),
})

const OtlpTraces = Closed({
  resourceSpans: Type.Array(Type.Object({}, { additionalProperties: true }), { description: 'As OTLP writes them.' }),
})

export const unreadTraces = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/otlp/unread-traces',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Integrations'],
        operationId: 'listUnreadTraces',
        summary: 'List OpenTelemetry traces without a readable conversation, newest first',
        description:
          'Spans that follow no known convention become no conversation. They are listed here for a week, until spans ' +
          'that can be read arrive for the same conversation.',
        querystring: PageQuery,
        response: answers({ 200: Page(UnreadTraces) }, 400, 401, 403),
      },
    },
    ({ actor, query }) =>
      app.paging.page(query, ['unread-traces', actor.org], (page) => listUnread(db, actor.org, page), positionOf),
  )

  app.get(
    '/v1/otlp/unread-traces/spans',
    {
      config: { access: { role: 'admin' } },
      schema: {
        tags: ['Integrations'],
        operationId: 'getUnreadSpans',
        summary: 'Get the spans of unread traces',
        description: 'The first 200, in at most 4 MiB. Empty when none are stored for this key.',
        querystring: KeyQuery,
        response: answers({ 200: OtlpTraces }, 400, 401, 403),
      },
    },
    async ({ actor, query }) => ({
      resourceSpans: tracesOf(await listUnreadSpans(db, actor.org, query.key)).resourceSpans as object[],
    }),
  )
}
