import type { ReviewStatus } from '../buckets/review-status/queries.ts'

export const reviewStatuses = ['pending', 'in_progress', 'completed', 'skipped'] as const satisfies ReviewStatus[]

/**
 * Where a review may go from where it is. One in progress whose lease has ended is pending: somebody else may have its
 * place by now.
 */
const moves: Record<ReviewStatus, ReviewStatus[]> = {
  pending: ['in_progress', 'skipped'],
  in_progress: ['in_progress', 'pending', 'completed', 'skipped'],
  completed: [],
  skipped: [],
}

export const canMove = (from: ReviewStatus, to: ReviewStatus): boolean => moves[from].includes(to)
