import Type from 'typebox'
import { Closed, Id } from '../../platform/http/schemas.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const done = {
  claimed: Count('Reviews that are currently claimed.'),
  completed: Count('Completed reviews, without adjudications.'),
  skipped: Count('Skipped reviews.'),
  completedToday: Count('Reviews completed today.'),
  skippedToday: Count('Reviews skipped today.'),
}

export const Progress = Closed(
  {
    conversations: Closed({
      total: Count('All conversations in the bucket.'),
      waiting: Count('Conversations that are waiting for reviews.'),
      adjudication: Count('Conversations with an open disagreement.'),
      completed: Count('Conversations with all reviews completed.'),
    }),
    reviews: Closed({ waiting: Count('Open reviews that nobody has claimed.'), ...done }),
    reviewers: Type.Array(
      Closed({ reviewerUserId: Id, ...done, adjudicated: Count('Conversations adjudicated by this person.') }),
      {
        description: 'Up to 500 people who have started a review in this bucket, most completed reviews first.',
      },
    ),
  },
  { title: 'BucketProgress' },
)

export const ProgressQuery = Closed({
  timezone: Type.String({
    minLength: 1,
    maxLength: 64,
    default: 'UTC',
    description: 'The IANA time zone that defines today.',
    examples: ['Europe/Berlin'],
  }),
})
