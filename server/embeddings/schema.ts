import Type from 'typebox'
import { Closed, Nullable } from '../platform/http/schemas.ts'

const Count = Type.Integer({ minimum: 0 })

export const EmbeddingProgress = Closed(
  {
    enabled: Type.Boolean({ description: 'False if the operator has disabled embeddings on this server.' }),
    model: Nullable(
      Type.String({
        description: 'The model from the organization’s settings, as `providerId/model`. Null: the built-in models.',
      }),
    ),
    embedded: { ...Count, description: 'The conversations that this model has embedded.' },
    waiting: {
      ...Count,
      description: 'The ended conversations with a transcript that this model has not embedded yet.',
    },
  },
  { title: 'EmbeddingProgress' },
)
