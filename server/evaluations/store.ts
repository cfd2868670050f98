import { announceResults } from '../monitor-results/announce.ts'
import { type Evaluation, storeEvaluation } from '../monitor-results/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'

/** Stores what was found, and tells those who wait for it. */
export const storeResults = async (
  deps: Pick<Deps, 'reactions'>,
  trx: Db,
  org: OrgId,
  evaluation: Evaluation,
): Promise<void> => {
  await storeEvaluation(trx, org, evaluation)
  await announceResults(deps, trx, org, evaluation.rows)
}
