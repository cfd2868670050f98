import Type from 'typebox'
import { CustomerId, Filter, SearchText } from '../../filters/filter.ts'
import { Closed, Id, PageQuery, TimestampInput } from '../../platform/http/schemas.ts'
import { ExternalId } from '../schema.ts'

const Several = (example: string) =>
  Type.Optional(
    Type.String({
      maxLength: 4_000,
      description: 'One, or several separated by commas: any of them.',
      examples: [example],
    }),
  )

const SeveralIds = Several('0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f')

export const ConversationQuery = Closed({
  ...PageQuery.properties,
  agentId: SeveralIds,
  agentVersionId: SeveralIds,
  agentGroupId: SeveralIds,
  companyId: SeveralIds,
  channel: Several('call,voicemail'),
  direction: Several('inbound'),
  status: Several('completed'),
  since: Type.Optional({ ...TimestampInput, description: 'Started at this instant or later.' }),
  until: Type.Optional({ ...TimestampInput, description: 'Started before this instant.' }),
  customerId: Type.Optional(CustomerId),
  externalId: Type.Optional(ExternalId),
  text: Type.Optional(SearchText),
  reviewStatus: Type.Optional(Type.String({ maxLength: 20, examples: ['pending'] })),
  bucketId: Type.Optional(Id),
})

export const ConversationSearch = Closed(
  { filter: Filter, limit: PageQuery.properties.limit, cursor: PageQuery.properties.cursor },
  { examples: [{ filter: { channels: ['call'], text: 'refund' }, limit: 50 }] },
)

export const ConversationCount = Closed({ filter: Filter })

export const CountAnswer = Closed({
  count: Type.Integer({ minimum: 0 }),
  explanation: Type.String({
    description: 'What the filter selects, in words.',
    examples: ['calls, that mention “refund”, where plan is “gold”'],
  }),
})
