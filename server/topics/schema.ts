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
import { endings, type Facets } from './facets.ts'

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
  mergedIntoId: Nullable({
    ...Id,
    description:
      'The topic that a person merged it into or, if it ended, the topic that has most of its conversations.',
  }),
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
    trend: Type.Array(Count, { description: 'The number of conversations on each of the `days`.' }),
    monitors: Type.Array(Closed({ id: Id, name: Type.String() }), {
      description:
        'The monitors that cover the topic: of its 20 most typical conversations, they evaluated at least 5, and at least ' +
        'half of those are affected.',
    }),
  },
  { title: 'TopicFigures' },
)

const periodFields = {
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
  conversationsByDay: Type.Array(Count, { description: 'Their number on each of the `days`.' }),
}

export const TopicList = Closed(
  {
    ...periodFields,
    outliers: Closed(
      { conversations: Count, share: Share },
      { description: 'The conversations that belong to no topic.' },
    ),
    data: Type.Array(TopicFigures),
  },
  { title: 'TopicList' },
)

export const UncoveredTopics = Closed(
  {
    ...periodFields,
    uncovered: Closed(
      { conversations: Count, share: Share },
      { description: 'The conversations of all listed topics. Outliers and hidden topics don’t count.' },
    ),
    data: Type.Array(TopicFigures, { description: 'Most conversations first, without groups.' }),
  },
  { title: 'UncoveredTopics' },
)

export const PeriodQuery = Closed({
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
})

export const TopicQuery = Closed({
  ...PeriodQuery.properties,
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
    merged: Type.Array(Closed({ id: Id, label: Type.String() }), {
      description: 'The topics that people merged into this one.',
    }),
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

export const TopicMerge = Closed(
  {
    into: Nullable({
      ...Id,
      description: 'The topic that represents both from now on. Null lists a merged topic by itself again.',
    }),
  },
  { title: 'TopicMerge' },
)

export const TopicMonitor = Closed(
  { kind: Choice(['judge', 'rule'], { examples: ['rule'] }) },
  { title: 'TopicMonitor' },
)

const Examples = Type.Array(
  Closed({ conversationId: Id, text: Type.String({ description: 'What the customer asks for first.' }) }),
)

export const TopicMonitorDraft = Closed(
  {
    kind: Choice(['judge', 'rule']),
    name: Type.String(),
    description: Type.String(),
    definition: Type.Unsafe<{ expression: string } | { criteria: string; output: { type: 'boolean' } }>({
      type: 'object',
      additionalProperties: true,
      description: 'The definition of a judge or a rule, as in a monitor.',
    }),
    examples: Closed(
      { affected: Examples, notAffected: Examples },
      { description: 'Typical conversations of the topic, and of the most similar other topics.' },
    ),
  },
  { title: 'TopicMonitorDraft' },
)

export const TopicConversationQuery = Closed({
  ...PageQuery.properties,
  facets: Type.Boolean({
    default: false,
    description: 'Whether to include what happens in each conversation. This reads the transcripts.',
  }),
})

const Quote = Closed({
  turn: Type.Integer({ minimum: 0 }),
  text: Type.String({ description: 'A part of the turn.' }),
})
const NullableQuote = Type.Unsafe<{ turn: number; text: string } | null>({ ...Quote, type: ['object', 'null'] })
const Quotes = (description: string) => Type.Array(Quote, { description })

const FacetsOf = Closed(
  {
    request: { ...NullableQuote, description: 'What the customer asks for first.' },
    unanswered: Quotes('Questions that nobody answers, that the agent can’t answer, or that the customer asks again.'),
    complaints: Quotes('What the customer complains about.'),
    apologies: Quotes('What the agent apologizes for.'),
    toolFailures: Type.Array(
      Closed({
        turn: Type.Integer({ minimum: 0, description: 'The index of the turn with the tool’s result.' }),
        tool: Nullable(Type.String()),
        apology: { ...NullableQuote, description: 'What the agent says about the failure.' },
        isRetried: Type.Boolean({ description: 'Whether the agent calls the tool again later.' }),
      }),
    ),
    ending: Nullable(
      Choice(endings, {
        description:
          '`transferred` to a person; `gave_up`: the customer complains or gives up; `waiting`: the last ' +
          'message is a question from the customer; `thanked`; or `other`.',
      }),
    ),
  },
  { title: 'TopicFacets', description: 'Found with rules and English patterns. At most five of each kind.' },
)

export const TopicConversationPage = Page(
  Closed(
    {
      conversationId: Id,
      topicId: {
        ...Id,
        description:
          'The topic that the conversation is about: for a group or a topic with merged topics, one of these.',
      },
      similarity: Type.Number({ description: 'The cosine similarity to the center of the topic.' }),
      startedAt: Timestamp,
      facets: Type.Optional(
        Type.Unsafe<Facets | null>({
          ...FacetsOf,
          type: ['object', 'null'],
          description: 'Null without a transcript.',
        }),
      ),
    },
    { title: 'TopicConversation' },
  ),
)
