import Type from 'typebox'
import { Choice, Closed, Id, Nullable, Timestamp } from '../../platform/http/schemas.ts'
import { Comment, Key, MetricInput, Value } from './metric.ts'

export const Metric = Closed(
  { key: Key, value: Value, comment: Nullable(Comment), updatedAt: Timestamp },
  { title: 'CustomerMetric' },
)

export const MetricUpdate = Closed({ value: Value, comment: Type.Optional(Nullable(Comment)) })

export const MetricParams = Closed({ id: Id, key: Key })

/** Exactly one of the two IDs must identify the conversation. */
export const MetricItem = Closed({
  conversationId: Type.Optional(Id),
  conversationExternalId: Type.Optional(Type.String({ minLength: 1, maxLength: 255, examples: ['call_8f2c1d'] })),
  ...MetricInput.properties,
})

export const MetricBatch = Closed(
  {
    metrics: Type.Array(
      Type.Unsafe<unknown>({
        description:
          '`{conversationId or conversationExternalId, key, value, comment?}`. Invalid metrics are rejected without ' +
          'affecting the others.',
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
