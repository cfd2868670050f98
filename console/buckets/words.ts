import { plural } from '../lib/format.ts'
import type { Bucket } from './queries.ts'

/** Returns a sentence on how conversations get into a bucket. */
export const describeType = ({ type, share, perWeek }: Bucket): string => {
  if (type === 'static') return 'Conversations added manually.'
  if (type === 'dynamic') return 'All new conversations that match the filter.'
  return share === null
    ? `Random sample: ${plural(perWeek ?? 0, 'conversation')} per week that match the filter.`
    : `Random sample: ${share}% of conversations that match the filter.`
}

export const describeReviewers = ({ reviewsPerConversation }: Bucket): string =>
  reviewsPerConversation === 1 ? 'one reviewer each' : `${plural(reviewsPerConversation, 'reviewer')} each`

export const typeWords = { static: 'Manual', dynamic: 'Filter', sampled: 'Random sample' } as const
