import Type from 'typebox'
import { CustomerId, Filter, SearchText } from '../../filters/filter.ts'
import { Choice, Closed, Id, PageQuery, Timestamp, TimestampInput } from '../../platform/http/schemas.ts'
import { ExternalId } from '../schema.ts'

export const mostPeriods = 1_000

const Several = (example: string) =>
  Type.Optional(
    Type.String({
      maxLength: 4_000,
      description: 'One or more, separated by commas; any of them matches.',
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
  since: Type.Optional({ ...TimestampInput, description: 'Started at or after this time.' }),
  until: Type.Optional({ ...TimestampInput, description: 'Started before this time.' }),
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

const Interval = Choice(['hour', 'day', 'week'])

export const ConversationCount = Closed(
  {
    filter: Filter,
    interval: Type.Optional({
      ...Interval,
      description:
        'Also counts by hour, day, or week of the start. Requires `filter.since` or `filter.period`. Weeks start on Monday.',
    }),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The IANA time zone of days and weeks. Default: UTC.',
        examples: ['Europe/Berlin'],
      }),
    ),
  },
  {
    examples: [
      { filter: { channels: ['call'], since: '2026-11-01T00:00:00Z' }, interval: 'day', timezone: 'Europe/Berlin' },
    ],
  },
)

const Count = Type.Integer({ minimum: 0 })

export const CountAnswer = Closed({
  count: Count,
  explanation: Type.String({
    description: 'Describes the filter in words.',
    examples: ['calls, mentioning “refund”, where plan is “gold”'],
  }),
  series: Type.Optional(
    Type.Array(
      Closed({
        start: Timestamp,
        end: { ...Timestamp, description: 'The end of the period, exclusive.' },
        count: Count,
      }),
      {
        description: `Counts by \`interval\`, if requested: oldest first without gaps, up to ${mostPeriods.toLocaleString('en')}. The first and last are clipped to the filter’s period, which ends now if it has no \`until\`.`,
      },
    ),
  ),
})
