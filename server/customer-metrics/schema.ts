import Type from 'typebox'
import { Choice, Closed, Id, Nullable, Timestamp } from '../platform/http/schemas.ts'

/** How many keys a conversation may have. */
export const maxKeys = 200

const Key = Type.String({
  minLength: 1,
  maxLength: 120,
  // No control characters.
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
  examples: ['csat'],
})

const Value = Type.Unsafe<number | boolean | string>({
  type: ['number', 'boolean', 'string'],
  maxLength: 10_000,
  description: 'A number, a boolean, or a text of at most 10,000 characters.',
  examples: [4.5],
})

const Comment = Type.String({ maxLength: 2_000, examples: ['Asked by SMS after the call'] })

export const Metric = Closed(
  { key: Key, value: Value, comment: Nullable(Comment), updatedAt: Timestamp },
  { title: 'CustomerMetric' },
)

export const MetricUpdate = Closed({ value: Value, comment: Type.Optional(Nullable(Comment)) })

export const MetricParams = Closed({ id: Id, key: Key })

/** Either of the two names the conversation. */
export const MetricItem = Closed({
  conversationId: Type.Optional(Id),
  conversationExternalId: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ['call_8f2c1d'] })),
  key: Key,
  value: Value,
  comment: Type.Optional(Nullable(Comment)),
})

export const MetricBatch = Closed(
  {
    metrics: Type.Array(
      Type.Unsafe<unknown>({
        description:
          '`{conversationId or conversationExternalId, key, value, comment?}`. One that does not fit is rejected alone.',
      }),
      { minItems: 1, maxItems: 1_000 },
    ),
  },
  { examples: [{ metrics: [{ conversationExternalId: 'call_8f2c1d', key: 'csat', value: 4.5 }] }] },
)

const ItemError = Closed({
  error: Type.String({ examples: ['not found'] }),
  message: Type.String(),
  details: Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true })),
})

export const MetricBatchAnswer = Closed({
  data: Type.Array(
    Closed({
      index: Type.Integer({ minimum: 0 }),
      status: Choice(['created', 'updated', 'unchanged', 'rejected']),
      error: Type.Optional(ItemError),
    }),
  ),
})
