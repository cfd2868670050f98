import Type, { type Static, type TSchema } from 'typebox'
import { CustomerId, Filter, SearchText } from '../../filters/filter.ts'
import { Sort } from '../../filters/sort.ts'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp, TimestampInput } from '../../platform/http/schemas.ts'
import { SoundMeasures } from '../../sound-measures/measures.ts'
import { Conversation, ExternalId } from '../schema.ts'
import { includable } from './included/include.ts'

export const mostPeriods = 1_000

const Several = (example: string) =>
  Type.Optional(
    Type.String({
      maxLength: 4_000,
      description: 'One or more values, separated by commas. Any of them matches.',
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
  tag: Several('escalated'),
  since: Type.Optional({ ...TimestampInput, description: 'Started at or after this time.' }),
  until: Type.Optional({ ...TimestampInput, description: 'Started before this time.' }),
  customerId: Type.Optional(CustomerId),
  externalId: Type.Optional(ExternalId),
  text: Type.Optional(SearchText),
  reviewStatus: Type.Optional(Type.String({ maxLength: 20, examples: ['pending'] })),
  bucketId: Type.Optional(Id),
})

export const ConversationSearch = Closed(
  {
    filter: Filter,
    sort: Type.Optional(Sort),
    include: Type.Optional(
      Type.Array(Choice(includable), {
        uniqueItems: true,
        maxItems: includable.length,
        description: 'Adds these properties to each conversation.',
      }),
    ),
    limit: PageQuery.properties.limit,
    cursor: PageQuery.properties.cursor,
  },
  {
    examples: [
      {
        filter: { channels: ['call'], text: 'refund' },
        sort: { by: 'durationSeconds' },
        include: ['results', 'excerpt'],
        limit: 50,
      },
    ],
  },
)

const NullableList = <T extends TSchema>(items: T, description: string) =>
  Type.Unsafe<Static<T>[] | null>({ type: ['array', 'null'], items, description })

/** Measures that were added to Earshot later are missing until a recording is measured again. */
const FoundSound = Type.Unsafe<Partial<SoundMeasures> | null>({
  ...SoundMeasures,
  type: ['object', 'null'],
  required: [],
  title: 'FoundSound',
  description: 'The recording’s measures. Null without a measured recording.',
})

const FoundTopic = Type.Unsafe<{ id: string; label: string } | null>({
  ...Closed({ id: Id, label: Type.String() }),
  type: ['object', 'null'],
  description: 'What the customer asks for first. Null if the conversation belongs to no topic.',
})

export const FoundConversation = Closed(
  {
    ...Conversation.properties,
    results: Type.Optional(
      NullableList(
        Closed({
          monitorId: Id,
          version: Type.Integer({ minimum: 1 }),
          status: Choice(['scored', 'unscored', 'failed']),
          result: Nullable(Choice(['not_affected', 'affected'])),
          score: Nullable(Type.Number()),
          categories: Nullable(Type.Array(Type.String())),
          fields: Nullable(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
        }),
        'The newest version’s result for each of the 100 newest monitors. Null while you have a blind review of the ' +
          'conversation.',
      ),
    ),
    metrics: Type.Optional(
      Type.Array(
        Closed({
          key: Type.String(),
          value: Type.Unsafe<number | boolean | string>({ type: ['number', 'boolean', 'string'] }),
        }),
        { description: 'Up to 50 customer metrics, sorted by key. Strings are cut at 200 characters.' },
      ),
    ),
    findings: Type.Optional(
      NullableList(
        Closed({ id: Id, title: Type.String(), status: Type.String(), priority: Type.String() }),
        'The 20 newest findings that the conversation is attached to. Null while you have a blind review of it.',
      ),
    ),
    tags: Type.Optional(
      Type.Array(Type.String(), { description: 'In alphabetical order.', examples: [['escalated']] }),
    ),
    topic: Type.Optional(FoundTopic),
    excerpt: Type.Optional({
      ...Nullable(Type.String()),
      description: 'The start of the customer’s first message or, without one, of the first message.',
    }),
    cost: Type.Optional({
      ...Nullable(Type.Number()),
      description: 'The cost of the conversation’s results in US dollars. Null if unknown.',
    }),
    sound: Type.Optional(FoundSound),
    similarPassage: Type.Optional(
      Closed(
        {
          similarity: Type.Number({ description: 'From -1 to 1, where 1 means identical.', examples: [0.71] }),
          firstTurn: Type.Integer({ minimum: 0, description: 'The index of the first turn.' }),
          lastTurn: Type.Integer({ minimum: 0, description: 'The index of the last turn.' }),
        },
        { description: 'The passage that is nearest to the filter’s `similarTo`, if it has one.' },
      ),
    ),
  },
  { title: 'FoundConversation' },
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
        description: 'The IANA time zone for days and weeks. Default: UTC.',
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
