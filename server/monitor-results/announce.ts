import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'

/** Informs the resources that depend on results, in the transaction that stores the results. */
export const announceResults = (
  { reactions }: Pick<Deps, 'reactions'>,
  trx: Db,
  org: OrgId,
  results: { conversationId: string }[],
): Promise<void> => {
  const conversationIds = [...new Set(results.map(({ conversationId }) => conversationId))]
  return reactions.resultsStored(trx, org, { conversationIds })
}
