import Type from 'typebox'
import { Closed, Id } from '../../platform/http/schemas.ts'

const Count = (description: string) => Type.Integer({ minimum: 0, description })

const done = {
  claimed: Count('Held now.'),
  completed: Count('Those that decide between others apart.'),
  skipped: Count('Given back for somebody else.'),
  completedToday: Count('Of the completed.'),
  skippedToday: Count('Of the skipped.'),
}

export const Progress = Closed(
  {
    conversations: Closed({
      total: Count('In the bucket.'),
      waiting: Count('Wanting reviews.'),
      adjudication: Count('Whose reviewers differ, and nobody has decided.'),
      completed: Count('With all that is wanted.'),
    }),
    reviews: Closed({ waiting: Count('Wanted still, and held by nobody.'), ...done }),
    reviewers: Type.Array(Closed({ reviewerUserId: Id, ...done, adjudicated: Count('Decided by them.') }), {
      description: 'Those who have begun a review here, who has completed most first; at most 500.',
    }),
  },
  { title: 'BucketProgress' },
)

export const ProgressQuery = Closed({
  timezone: Type.String({
    minLength: 1,
    maxLength: 64,
    default: 'UTC',
    description: 'The IANA name of the zone whose day is today.',
    examples: ['Europe/Berlin'],
  }),
})
