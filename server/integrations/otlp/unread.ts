import Type from 'typebox'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Closed, Page, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { tracesOf } from './conversation.ts'
import { listUnread, listUnreadSpans, type Unread } from './queries.ts'

/** Traces that follow no known convention: they become no conversation, and their spans are kept for a week. */

const positionOf = ({ key, lastReceivedAt }: Unread): string => JSON.stringify([lastReceivedAt.toISOString(), key])

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
