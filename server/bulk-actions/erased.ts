import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { deleteErased } from './queries.ts'

/** Removes erased conversations from all bulk actions, so that undoing an action does not look for them. */
export const removeErasedFromActions = (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => deleteErased(trx, org, conversationIds)
