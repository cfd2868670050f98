import Type from 'typebox'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp, TimestampInput } from '../platform/http/schemas.ts'

/** The length is in characters as PostgreSQL counts them. */
export const longestReasoning = 65_536

const Reasoning = Type.String({ maxLength: longestReasoning, examples: ['A refund was promised in the third turn.'] })

const Evidence = Type.Array(
  Closed({
    turn: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'The index of the turn, starting at 0.',
      examples: [2],
    }),
    quote: Type.String({
      maxLength: 2_000,
      description: 'The quote from the turn.',
      examples: ['I will refund you today.'],
    }),
  }),
  { maxItems: 100 },
)

const Score = Type.Number({ examples: [0.8] })
const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const tokens = Type.Integer({ minimum: 0 })

export const Result = Closed(
  {
    conversationId: Id,
    monitorId: Id,
    monitorVersion: Version,
    status: Choice(['scored', 'unscored', 'failed']),
    result: {
      ...Nullable(Choice(['affected', 'not_affected'])),
      description: 'Null if it could not be decided or the evaluation failed.',
    },
    score: Nullable(Score),
    reasoning: Nullable(Reasoning),
    evidence: Evidence,
    evaluatedAt: Timestamp,
    evaluator: Type.String({ description: 'What produced the result.', examples: ['external'] }),
    tokens: Nullable(Closed({ input: tokens, output: tokens })),
    cost: Nullable(Type.Number({ description: 'In US dollars.' })),
  },
  { title: 'MonitorResult' },
)

/** Exactly one of the two IDs identifies the conversation. */
export const ResultItem = Closed({
  monitorId: Id,
  conversationId: Type.Optional(Id),
  conversationExternalId: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ['call_8f2c1d'] })),
  result: Choice(['affected', 'not_affected', 'unscored']),
  score: Type.Optional(Nullable(Score)),
  reasoning: Type.Optional(Nullable(Reasoning)),
  evidence: Type.Optional(Evidence),
  evaluatedAt: Type.Optional(TimestampInput),
})

export const ResultBatch = Closed(
  {
    results: Type.Array(
      Type.Unsafe<unknown>({
        description:
          '`{monitorId, conversationId or conversationExternalId, result: affected | not_affected | unscored, ' +
          'score?, reasoning?, evidence?: [{turn, quote}], evaluatedAt?}`. An invalid one is rejected without ' +
          'affecting the others.',
      }),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  {
    examples: [
      {
        results: [
          {
            monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f',
            conversationExternalId: 'call_8f2c1d',
            result: 'affected',
            score: 0.8,
          },
        ],
      },
    ],
  },
)

const ItemError = Closed({
  error: Type.String({ examples: ['not found'] }),
  message: Type.String(),
  details: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
})

export const ResultBatchAnswer = Closed({
  data: Type.Array(
    Closed({
      index: Type.Integer({ minimum: 0 }),
      status: Choice(['created', 'updated', 'unchanged', 'rejected']),
      error: Type.Optional(ItemError),
    }),
  ),
})

export const MonitorResultQuery = Closed({
  ...PageQuery.properties,
  result: Type.Optional(Choice(['affected', 'not_affected', 'unscored', 'failed'])),
  since: Type.Optional({ ...TimestampInput, description: 'Calls that started at or after this time.' }),
  until: Type.Optional({ ...TimestampInput, description: 'Calls that started before this time.' }),
  version: Type.Optional({ ...Version, description: 'Only this version of the monitor.' }),
})

export const ConversationResultQuery = Closed({
  ...PageQuery.properties,
  history: Type.Optional(Type.Boolean({ description: 'True includes results of older versions.' })),
})
