import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Events } from '../platform/reactions.ts'
import { deleteViewsOf } from './queries.ts'

/** Deletes the personal views of a person who left the organization, because nobody else can see them. */
export const deletePersonalViews = (_: Deps, trx: Db, org: OrgId, { userId }: Events['memberRemoved']): Promise<void> =>
  deleteViewsOf(trx, org, userId)
