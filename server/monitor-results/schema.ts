import Type from 'typebox'
import { CategoryKey, FieldKey, keyPattern, mostCategories } from '../filters/category.ts'
import { itemOutcomes } from '../monitors/scorecards/algebra.ts'
import { Choice, Closed, Id, Nullable, PageQuery, Timestamp, TimestampInput } from '../platform/http/schemas.ts'
import type { FieldValue } from './queries.ts'

/** The length in characters, as PostgreSQL counts them. */
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
    field: Type.Optional({ ...FieldKey, description: 'The field with the value that the quote contains.' }),
  }),
  { maxItems: 100 },
)

const Categories = Type.Array(CategoryKey, { maxItems: mostCategories, uniqueItems: true, examples: [['billing']] })

/** The maximum number of fields in a result. */
const mostFields = 50
export const longestValue = 1_000

const Fields = Type.Unsafe<Record<string, FieldValue>>({
  type: 'object',
  maxProperties: mostFields,
  propertyNames: { pattern: keyPattern },
  additionalProperties: {
    // The serializer writes a value as the first type that fits, and anything fits a string.
    type: ['array', 'number', 'boolean', 'string', 'null'],
    maxLength: longestValue,
    maxItems: 100,
    items: { type: 'string', maxLength: 200 },
  },
  examples: [{ amount: 24.5, reason: 'late delivery' }],
})

const Score = Type.Number({ examples: [0.8] })
const Version = Type.Integer({ minimum: 1, maximum: 2_147_483_647 })
const tokens = Type.Integer({ minimum: 0 })

const Points = Type.Number({ minimum: 0, examples: [10] })

const ScorecardItem = Closed({
  monitorId: Id,
  version: {
    ...Nullable(Version),
    description: 'The version with the result that counts. Null if there is no result.',
  },
  points: Points,
  earned: Points,
  outcome: Choice(itemOutcomes, {
    description: '`unscored` includes failed evaluations. `missing` means that there is no result.',
  }),
  reasoning: { ...Nullable(Reasoning), description: 'The reasoning of the item’s result, up to 1,000 characters.' },
  evidence: { ...Evidence, description: 'The first 5 quotes of the item’s result.' },
})

/**
 * The maximum number of characters of reasoning and quotes in all scorecards on a page. Everything beyond that is
 * shortened.
 */
export const mostReasons = 2_000_000

const Breakdown = Closed({
  band: Nullable(Type.String({ description: 'The name of the score’s band.', examples: ['Pass'] })),
  autoFailed: Type.Array(Id, { description: 'The items that failed the whole scorecard.' }),
  isShortened: Type.Boolean({
    description:
      'Whether `reasoning` and `evidence` are omitted from all items because earlier results on the page contain ' +
      'over 2,000,000 characters of them. The items’ own results have both.',
  }),
  sections: Type.Array(
    Closed({
      name: Type.String({ examples: ['Compliance'] }),
      earned: Points,
      possible: { ...Points, description: 'Items that are excluded because they are not applicable don’t count.' },
      items: Type.Array(ScorecardItem),
    }),
  ),
})

export const Result = Closed(
  {
    conversationId: Id,
    monitorId: Id,
    monitorVersion: Version,
    status: Choice(['scored', 'unscored', 'failed']),
    result: {
      ...Nullable(Choice(['affected', 'not_affected'])),
      description: 'Null if the monitor could not decide or the evaluation failed.',
    },
    score: Nullable(Score),
    reasoning: Nullable(Reasoning),
    evidence: Evidence,
    evaluatedAt: Timestamp,
    evaluator: Type.String({ description: 'What produced the result.', examples: ['external'] }),
    tokens: Nullable(Closed({ input: tokens, output: tokens })),
    cost: Nullable(Type.Number({ description: 'In US dollars.' })),
    categories: {
      ...Nullable(Categories),
      description: 'The categories that apply, if the monitor has categories. Null if none could be determined.',
    },
    fields: {
      ...Nullable(Fields),
      description: 'The values of the fields, if the monitor extracts any. A field is null if its value was not found.',
    },
    unsupportedFields: Type.Array(FieldKey, {
      description: 'Fields that are null because the quoted turn does not contain their value.',
    }),
    notApplicable: Type.Boolean({ description: 'Whether the monitor’s question does not apply to the conversation.' }),
    breakdown: {
      ...Nullable(Breakdown),
      description: 'The sections and items of a scorecard. Null for other monitors.',
    },
  },
  { title: 'MonitorResult' },
)

/** Exactly one of the two IDs must identify the conversation. */
export const ResultItem = Closed({
  monitorId: Id,
  conversationId: Type.Optional(Id),
  conversationExternalId: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ['call_8f2c1d'] })),
  result: Choice(['affected', 'not_affected', 'unscored']),
  score: Type.Optional(Nullable(Score)),
  reasoning: Type.Optional(Nullable(Reasoning)),
  evidence: Type.Optional(Evidence),
  categories: Type.Optional(Nullable(Categories)),
  fields: Type.Optional(Nullable(Fields)),
  evaluatedAt: Type.Optional(TimestampInput),
})

export const ResultBatch = Closed(
  {
    results: Type.Array(
      Type.Unsafe<unknown>({
        description:
          '`{monitorId, conversationId or conversationExternalId, result: affected | not_affected | unscored, ' +
          'score?, reasoning?, evidence?: [{turn, quote, field?}], categories?: [key], fields?: {key: value}, ' +
          'evaluatedAt?}`. Invalid results are rejected without affecting the others.',
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
  history: Type.Optional(Type.Boolean({ description: 'True includes results from older versions.' })),
})
