import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'

/** Notifies the followers of results of conversations with new ones, in the transaction that stores them. */
export const announceResults = (
  { reactions }: Pick<Deps, 'reactions'>,
  trx: Db,
  org: OrgId,
  results: { conversationId: string }[],
): Promise<void> => {
  const conversationIds = [...new Set(results.map(({ conversationId }) => conversationId))]
  return reactions.resultsStored(trx, org, { conversationIds })
}
