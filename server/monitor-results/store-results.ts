import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { type Evaluation, storeEvaluation } from './queries.ts'

/** Informs the resources that depend on results, in the transaction that stores the results. */
export const announceResults = (
  { reactions }: Pick<Deps, 'reactions'>,
  trx: Db,
  org: OrgId,
  results: { conversationId: string; monitorId: string }[],
): Promise<void> => {
  const conversationIds = [...new Set(results.map(({ conversationId }) => conversationId))]
  const monitorIds = [...new Set(results.map(({ monitorId }) => monitorId))]
  return reactions.resultsStored(trx, org, { conversationIds, monitorIds })
}

/** Stores the results of an evaluation, and informs the resources that depend on them. */
export const storeResults = async (
  deps: Pick<Deps, 'reactions'>,
  trx: Db,
  org: OrgId,
  evaluation: Evaluation,
): Promise<void> => {
  await storeEvaluation(trx, org, evaluation)
  await announceResults(deps, trx, org, evaluation.rows)
}
