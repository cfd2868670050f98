import Type from 'typebox'
import type { Deps } from '../../platform/deps.ts'
import type { App } from '../../platform/http/http.ts'
import { answers, Closed, Page, PageQuery, Timestamp } from '../../platform/http/schemas.ts'
import { tracesOf } from './conversation.ts'
import { listUnread, listUnreadSpans, type Unread } from './queries.ts'

/** Lists traces without a supported format. They don't become conversations, and their spans are stored for a week. */

const positionOf = ({ key, lastReceivedAt }: Unread): string => JSON.stringify([lastReceivedAt.toISOString(), key])

const UnreadTraces = Closed(
  {
    key: Type.String({
      description: 'The conversation ID in the spans, or the trace ID.',
      examples: ['chat-81'],
    }),
    reason: Type.String({
      description: 'Why no turn could be read, with the attribute names.',
      examples: ['No messages in a supported format: the transcript contains no turns. Attributes: my.prompt'],
    }),
    spans: Type.Integer({ minimum: 1 }),
    traceIds: Type.Array(Type.String(), { description: 'At most 20 trace IDs.' }),
    firstReceivedAt: Timestamp,
    lastReceivedAt: Timestamp,
  },
  { title: 'UnreadTraces' },
)

const KeyQuery = Closed({
  key: Type.String({ minLength: 1, maxLength: 255, description: 'The `key` from the list.', examples: ['chat-81'] }),
})

const OtlpTraces = Closed({
  resourceSpans: Type.Array(Type.Object({}, { additionalProperties: true }), {
    description: 'The spans in OTLP’s JSON format.',
  }),
})

export const unreadTraces = (app: App, { db }: Deps): void => {
  app.get(
    '/v1/otlp/unread-traces',
    {
      config: { access: { role: 'member' } },
      schema: {
        tags: ['Integrations'],
        operationId: 'listUnreadTraces',
        summary: 'List traces without a readable conversation',
        description:
          'Newest first. Spans that follow no known convention are kept for a week, or until readable spans ' +
          'arrive for the same conversation.',
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
        summary: 'Get the spans of an unreadable trace',
        description: 'Returns up to 200 spans and 4 MiB. Empty if none are stored for this key.',
        querystring: KeyQuery,
        response: answers({ 200: OtlpTraces }, 400, 401, 403),
      },
    },
    async ({ actor, query }) => ({
      resourceSpans: tracesOf(await listUnreadSpans(db, actor.org, query.key)).resourceSpans as object[],
    }),
  )
}
