import Type from 'typebox'
import { Closed, Nullable } from '../../platform/http/schemas.ts'

/** The schema of a metric, which can be sent on its own, in a batch, or with its conversation. */

/** The maximum number of metrics in a conversation. */
export const maxKeys = 200

/** The maximum number of characters in a value. */
export const longestValue = 10_000
export const longestComment = 2_000

export const Key = Type.String({
  minLength: 1,
  maxLength: 120,
  // The pattern excludes control characters.
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]+$',
  examples: ['csat'],
})

export const Value = Type.Unsafe<number | boolean | string>({
  type: ['number', 'boolean', 'string'],
  maxLength: longestValue,
  description: 'A number, a boolean, or a string of up to 10,000 characters.',
  examples: [4.5],
})

export const Comment = Type.String({ maxLength: longestComment, examples: ['Asked by SMS after the call'] })

export const MetricInput = Closed({ key: Key, value: Value, comment: Type.Optional(Nullable(Comment)) })
