import { removeExamples } from '../destinations/deliveries/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { removeConversations } from './queries.ts'

/** Removes erased conversations from incidents and from the stored messages about them. */
export const removeErasedConversations = async (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => {
  const incidentIds = await removeConversations(trx, org, conversationIds)
  if (incidentIds.length > 0) await removeExamples(trx, org, incidentIds)
}
