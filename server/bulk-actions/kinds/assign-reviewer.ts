import { findReviewers } from '../../buckets/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import { assignReviews, unassignReviews } from '../../reviews/lifecycle.ts'
import type { ActionOf } from '../schema.ts'
import { type ActionKind, listOutcomes, without } from './kind.ts'

const canReview = async (db: Db, org: OrgId, userId: string): Promise<boolean> =>
  (await findReviewers(db, org, [userId])).length > 0

export const assignReviewer: ActionKind<ActionOf<'assign_reviewer'>> = {
  role: 'member',
  targets: () => [],
  check: async (db, org, { userId }) => {
    if (!(await canReview(db, org, userId))) throw invalid('action.userId', 'must be a member who can review')
  },
  apply: async (_deps, trx, org, { ids, now, action }) => {
    if (!(await canReview(trx, org, action.userId)))
      throw new ApiError('conflict', 'The reviewer can no longer review.')
    const assignment = { conversationIds: ids, reviewerUserId: action.userId, now }
    const { assigned, kept, full } = await assignReviews(trx, org, assignment)
    return listOutcomes({ changed: assigned, unchanged: kept, failed: full })
  },
  undo: async (_deps, trx, org, { ids, now, action }) => {
    const assignment = { conversationIds: ids, reviewerUserId: action.userId, now }
    const unassigned = await unassignReviews(trx, org, assignment)
    return listOutcomes({ changed: unassigned, unchanged: without(ids, unassigned) })
  },
  announce: ({ reactions }, trx, org, { id, action, byUserId }) =>
    reactions.reviewsAssigned(trx, org, { bulkActionId: id, userId: action.userId, byUserId }),
  reason: 'Some conversations have too many reviews.',
}
