// Notes the hours of changed conversations, in the transaction of the change: until their sums are rebuilt, they are read
// from the conversations.

import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { newId } from '../../platform/ids.ts'
import { insertChanges } from './queries.ts'

type Changed = { conversationIds?: string[]; measured?: string[] }

/** Conversations that arrived, changed, got results or metrics, or are about to be erased. */
export const noteChangedHours = async (
  { clock }: Pick<Deps, 'clock'>,
  trx: Db,
  org: OrgId,
  { conversationIds = [], measured = [] }: Changed,
): Promise<void> => {
  const ids = [...new Set([...conversationIds, ...measured])]
  if (ids.length > 0) await insertChanges(trx, org, ids, { id: newId(), at: clock.now() })
}
