import { formatCount, plural } from '../lib/format.ts'
import type { Bucket } from './queries.ts'

/** How conversations come into a bucket, in a sentence. */
export const wayOf = ({ type, share, perWeek }: Bucket): string => {
  if (type === 'static') return 'Put in by hand.'
  if (type === 'dynamic') return 'All that its filter selects, as it arrives.'
  return share === null
    ? `A fair sample: ${formatCount(perWeek ?? 0)} of each week of what its filter selects.`
    : `A fair sample: ${share}% of what its filter selects.`
}

export const wantedOf = ({ reviewsPerConversation }: Bucket): string =>
  reviewsPerConversation === 1 ? 'one reviewer each' : `${plural(reviewsPerConversation, 'reviewer')} each`

export const typeWords = { static: 'By hand', dynamic: 'By a filter', sampled: 'A fair sample' } as const
