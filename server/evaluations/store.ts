import { offerToBuckets } from '../buckets/arrivals/jobs.ts'
import type { Deps } from '../deps.ts'
import { noteChanges } from '../experiments/observations/changes.ts'
import { type Evaluation, storeEvaluation } from '../monitor-results/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'

/** Stores what was found, and tells the experiments that measure it. */
export const storeResults = async (
  deps: Pick<Deps, 'clock' | 'jobs'>,
  trx: Db,
  org: OrgId,
  evaluation: Evaluation,
): Promise<void> => {
  await storeEvaluation(trx, org, evaluation)
  const ids = new Set(evaluation.rows.map(({ conversationId }) => conversationId))
  await noteChanges(deps, trx, org, [...ids])
  await offerToBuckets(deps, trx, org, [...ids], 'results')
}
