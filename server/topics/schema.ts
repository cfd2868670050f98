import Type from 'typebox'
import {
  Choice,
  Closed,
  Id,
  Name,
  Nullable,
  Page,
  PageQuery,
  Timestamp,
  TimestampInput,
} from '../platform/http/schemas.ts'

const Count = Type.Integer({ minimum: 0 })
const ShareOf = Type.Number({ minimum: 0, maximum: 1 })

const topicFields = {
  id: Id,
  label: Type.String({
    description: 'The name that a person chose or, by default, the terms. Empty if the topic has no typical terms.',
    examples: ['refund, money back, waiting'],
  }),
  terms: Type.Array(Type.String(), {
    description: 'Terms that are frequent in the topic and rare in others. Each occurs in at least two conversations.',
  }),
  hasOwnLabel: Type.Boolean({ description: 'Whether a person chose the label. New builds don’t change it.' }),
  isGroup: Type.Boolean({ description: 'Whether this is a group of related topics.' }),
  groupId: Nullable({
    ...Id,
    description: 'The group of the topic. Null for groups, and for topics without related ones.',
  }),
  hidden: Type.Boolean({ description: 'Whether lists leave out the topic.' }),
  createdAt: { ...Timestamp, description: 'When a build first found the topic.' },
}

const endFields = {
  endedAt: Nullable({ ...Timestamp, description: 'When builds stopped finding the topic.' }),
  mergedIntoId: Nullable({ ...Id, description: 'The topic that has most of the ended topic’s conversations.' }),
}

export const Topic = Closed({ ...topicFields, ...endFields }, { title: 'Topic' })

const Share = Type.Unsafe<{ value: number; low: number; high: number } | null>({
  ...Closed({
    value: ShareOf,
    low: { ...ShareOf, description: 'Lower end of the 95% interval.' },
    high: { ...ShareOf, description: 'Upper end of the 95% interval.' },
  }),
  type: ['object', 'null'],
})

const TopicFigures = Closed(
  {
    ...topicFields,
    conversations: { ...Count, description: 'The conversations of the topic that started in the period.' },
    share: { ...Share, description: 'Their share of all conversations that contain words. Null if there are none.' },
    previousShare: { ...Nullable(ShareOf), description: 'The share in the preceding period of the same length.' },
    surprise: {
      ...Nullable(Type.Number()),
      description:
        'The change in the share since the previous period, in standard errors. Positive if it has grown. Null if one of ' +
        'the periods has no conversations.',
    },
    trend: Type.Array(Count, { description: 'The number of conversations on each day of `days`.' }),
  },
  { title: 'TopicFigures' },
)

export const TopicList = Closed(
  {
    builtAt: Nullable({ ...Timestamp, description: 'When topics were last built. Null before the first build.' }),
    missing: {
      ...Count,
      description:
        'How many more conversations have to be embedded before topics are built for the first time. 0 if there are enough.',
    },
    since: Timestamp,
    until: Timestamp,
    days: Type.Array(Timestamp, { description: 'The starts of the days in the period.' }),
    conversations: { ...Count, description: 'All conversations that contain words and started in the period.' },
    outliers: Closed(
      { conversations: Count, share: Share },
      { description: 'The conversations that belong to no topic.' },
    ),
    data: Type.Array(TopicFigures),
  },
  { title: 'TopicList' },
)

export const TopicQuery = Closed({
  since: Type.Optional({
    ...TimestampInput,
    description: 'The start of the period. Default: 30 local days before `until`.',
  }),
  until: Type.Optional({ ...TimestampInput, description: 'The end of the period, exclusive. Default: now.' }),
  timezone: Type.String({
    minLength: 1,
    maxLength: 64,
    default: 'UTC',
    examples: ['Europe/Berlin'],
    description: 'The IANA time zone for days.',
  }),
  sort: Choice(['surprise', 'size'], {
    default: 'surprise',
    description: '`surprise`: the largest changes first, up or down. `size`: most conversations first.',
  }),
  hidden: Type.Boolean({ default: false, description: 'Whether to include hidden topics.' }),
})

export const TopicDetail = Closed(
  {
    ...topicFields,
    ...endFields,
    history: Type.Array(
      Closed({
        kind: Choice(['created', 'split', 'merged', 'ended']),
        topicIds: Type.Array(Id, {
          description:
            'After a split, the topics it was split into, starting with itself. After a merge, the topics that were merged into it.',
        }),
        at: Timestamp,
      }),
      { description: 'Changes made by builds, newest first. The audit log contains the changes made by people.' },
    ),
  },
  { title: 'TopicDetail' },
)

export const TopicUpdate = Closed(
  {
    label: Type.Optional(Nullable({ ...Name, description: 'A name for the topic. Null uses its terms.' })),
    hidden: Type.Optional(Type.Boolean()),
  },
  { title: 'TopicUpdate', minProperties: 1, examples: [{ label: 'Late refunds' } satisfies object] },
)

export const TopicConversationQuery = PageQuery

export const TopicConversationPage = Page(
  Closed(
    {
      conversationId: Id,
      topicId: { ...Id, description: 'The topic. For a group, one of its topics.' },
      similarity: Type.Number({ description: 'The cosine similarity to the center of the topic.' }),
      startedAt: Timestamp,
    },
    { title: 'TopicConversation' },
  ),
)
