import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp } from '../platform/http/schemas.ts'

export const findingStatuses = ['open', 'acknowledged', 'resolved', 'ignored'] as const
export const findingPriorities = ['none', 'low', 'medium', 'high', 'urgent'] as const

export const Finding = Closed(
  {
    id: Id,
    title: Type.String(),
    status: Choice(findingStatuses),
    priority: Choice(findingPriorities),
    tags: Type.Array(Type.String()),
    description: Type.Optional(
      Type.Unsafe<object>({
        type: 'object',
        additionalProperties: true,
        description: 'Rich text: a TipTap document.',
        examples: [{ type: 'doc', content: [] }],
      }),
    ),
    findingType: Type.Integer({ minimum: 0, maximum: 32_767, description: '1 is the spike of a monitor.' }),
    assigneeUserId: Type.Optional(Id),
    conversationCount: Type.Integer({ minimum: 0 }),
    createdByUserId: { ...Nullable(Id), description: 'Null when the service filed it.' },
    source: Closed({
      kind: Choice(['manual', 'monitor', 'experiment']),
      id: { ...Nullable(Id), description: 'Of the monitor or the experiment.' },
    }),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Finding' },
)

const list = (what: string, examples: string[]) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 1_100, description: what, examples }))

export const FindingQuery = Closed({
  ...PageQuery.properties,
  status: list(`Any of these, separated by commas: ${findingStatuses.join(', ')}.`, ['open,acknowledged']),
  priority: list(`Any of these, separated by commas: ${findingPriorities.join(', ')}.`, ['high,urgent']),
  tags: list('All of these, separated by commas, in upper or lower case.', ['refund']),
})

export const FindingConversation = Closed(
  { findingId: Id, conversationId: Id, createdAt: Timestamp },
  { title: 'AttachedConversation' },
)
