import { noResult } from '../monitor-results/no-result.ts'
import { storeResults } from '../monitor-results/store-results.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'

const failure = 'the evaluation failed repeatedly'

type Failed = { monitors: StoredMonitor[]; conversationId: string }

/** Stores failures, so that no reader waits forever for a result and no conversation blocks others. */
export const storeFailures = async (
  deps: Pick<Deps, 'clock' | 'reactions'>,
  trx: Db,
  org: OrgId,
  { monitors, conversationId }: Failed,
) => {
  const rows = monitors.map(({ id: monitorId, number: monitorVersion }) => {
    return { conversationId, monitorId, monitorVersion, ...noResult, status: 'failed' as const, reasoning: failure }
  })
  await storeResults(deps, trx, org, { evaluator: 'none', evaluatedAt: deps.clock.now(), rows })
  await publishChanges(trx, org, { resource: 'health', kind: 'updated' })
}
