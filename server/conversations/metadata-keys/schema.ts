import Type from 'typebox'
import { Closed } from '../../platform/http/schemas.ts'

/** The number of newest conversations that are counted. */
export const sampled = 5_000
export const mostSuggested = 50

const sample = `Counted among the ${sampled.toLocaleString('en')} newest conversations.`
const Count = Type.Integer({ minimum: 1, description: sample, examples: [1_204] })
const Key = Type.String({ maxLength: 120, examples: ['plan'] })

const Prefix = Type.Optional(
  Type.String({
    maxLength: 120,
    description: 'Only entries that start with this text, ignoring case.',
    examples: ['pl'],
  }),
)

export const SuggestionQuery = Closed({ prefix: Prefix })
export const KeyParams = Closed({ key: Key })

export const MetadataKeys = Closed({ data: Type.Array(Closed({ key: Type.String(), count: Count })) })

export const MetadataValues = Closed({
  data: Type.Array(
    Closed({
      value: Type.String({ description: 'Numbers and booleans are JSON text, as in filters.', examples: ['gold'] }),
      count: Count,
    }),
  ),
})
