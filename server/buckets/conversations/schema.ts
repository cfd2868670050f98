import Type from 'typebox'
import { Choice, Closed, Id, PageQuery, Timestamp } from '../../platform/http/schemas.ts'

const Status = Choice(['waiting', 'adjudication', 'completed'], {
  description: '`waiting` for reviews, `adjudication` for an open disagreement, or `completed`.',
})

export const BucketConversation = Closed(
  {
    conversationId: Id,
    status: Status,
    reviewsWanted: Type.Integer({ minimum: 1, maximum: 5 }),
    reviewsCompleted: Type.Integer({ minimum: 0 }),
    addedAt: Timestamp,
  },
  { title: 'BucketConversation' },
)

export const BucketConversationQuery = Closed({ ...PageQuery.properties, status: Type.Optional(Status) })

export const BucketConversations = Closed({
  conversationIds: Type.Array(Id, { minItems: 1, maxItems: 1_000 }),
})

export const BucketConversationsAnswer = Closed({
  data: Type.Array(
    Closed({
      index: Type.Integer({ minimum: 0 }),
      status: Choice(['created', 'unchanged', 'rejected'], {
        description: '`unchanged`: the conversation was already in the bucket. `rejected`: it does not exist.',
      }),
    }),
  ),
})
