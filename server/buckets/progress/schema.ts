import Type from 'typebox'
import { Closed, Id } from '../../platform/http/schemas.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const done = {
  claimed: Count('Claimed now.'),
  completed: Count('Excluding adjudications.'),
  skipped: Count('In total.'),
  completedToday: Count('Of the completed reviews.'),
  skippedToday: Count('Of the skipped reviews.'),
}

export const Progress = Closed(
  {
    conversations: Closed({
      total: Count('In the bucket.'),
      waiting: Count('Waiting for reviews.'),
      adjudication: Count('With an open disagreement.'),
      completed: Count('With all reviews completed.'),
    }),
    reviews: Closed({ waiting: Count('Open and not claimed.'), ...done }),
    reviewers: Type.Array(Closed({ reviewerUserId: Id, ...done, adjudicated: Count('Adjudicated by this person.') }), {
      description: 'Up to 500 people who have started a review in this bucket, most completed reviews first.',
    }),
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
