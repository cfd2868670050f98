import Type from 'typebox'
import { CustomerId, Filter, SearchText } from '../../filters/filter.ts'
import { Choice, Closed, Id, PageQuery, Timestamp, TimestampInput } from '../../platform/http/schemas.ts'
import { ExternalId } from '../schema.ts'

export const mostPeriods = 1_000

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

const Interval = Choice(['hour', 'day', 'week'])

export const ConversationCount = Closed(
  {
    filter: Filter,
    interval: Type.Optional({
      ...Interval,
      description:
        'Also counts by the hour, day or week in which the conversations started. Needs `filter.since`. Weeks begin on Monday.',
    }),
    timezone: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The IANA name of the time zone of the days and weeks; UTC if left out.',
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
    description: 'What the filter selects, in words.',
    examples: ['calls, that mention “refund”, where plan is “gold”'],
  }),
  series: Type.Optional(
    Type.Array(
      Closed({
        start: Timestamp,
        end: { ...Timestamp, description: 'The instant after the last that belongs to it.' },
        count: Count,
      }),
      {
        description: `The counts by \`interval\`, if you ask for them: oldest first, none left out, at most ${mostPeriods.toLocaleString('en')}. The first and the last are cut to the window of the filter, which ends now if it has no \`until\`.`,
      },
    ),
  ),
})
