import { offerToBuckets } from '../buckets/arrivals/jobs.ts'
import { noteChanges } from '../experiments/observations/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'

/** In the transaction that stores results: experiments that measure these conversations, and buckets, look at them. */
export const tellOfResults = async (
  deps: Pick<Deps, 'clock' | 'jobs'>,
  trx: Db,
  org: OrgId,
  results: { conversationId: string }[],
): Promise<void> => {
  const ids = [...new Set(results.map(({ conversationId }) => conversationId))]
  await noteChanges(deps, trx, org, ids)
  await offerToBuckets(deps, trx, org, ids, 'results')
}
