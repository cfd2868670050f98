import Type from 'typebox'
import { Closed, Nullable } from '../platform/http/schemas.ts'

/** The limits of the counts, because counting millions of conversations takes too long. */
export const [mostEmbedded, mostWaiting] = [1_000_000, 20_000]

const Count = Type.Integer({ minimum: 0 })

export const EmbeddingProgress = Closed(
  {
    enabled: Type.Boolean({ description: 'False if the operator has disabled embeddings on this server.' }),
    model: Nullable(
      Type.String({
        description: 'The model from the organization’s settings, as `providerId/model`. Null: the built-in models.',
      }),
    ),
    embedded: { ...Count, description: 'The conversations that this model has embedded, counted up to 1,000,000.' },
    waiting: {
      ...Count,
      description:
        'The ended conversations with a transcript that this model has not embedded yet, counted up to 20,000.',
    },
  },
  { title: 'EmbeddingProgress' },
)
