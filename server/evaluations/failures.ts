import type { Deps } from '../deps.ts'
import { storeEvaluation } from '../monitor-results/queries.ts'
import type { StoredMonitor } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'

const failure = 'the evaluation went wrong, time and again'

type Failed = { monitors: StoredMonitor[]; conversationId: string }

/** So that nobody waits for a result for ever, and one conversation holds up no other. */
export const storeFailures = (
  { clock }: Pick<Deps, 'clock'>,
  trx: Db,
  org: OrgId,
  { monitors, conversationId }: Failed,
) => {
  const nothing = { result: null, score: null, evidence: [], tokens: null, cost: null }
  const rows = monitors.map(({ id: monitorId, number: monitorVersion }) => {
    return { conversationId, monitorId, monitorVersion, ...nothing, status: 'failed' as const, reasoning: failure }
  })
  return storeEvaluation(trx, org, { evaluator: 'none', evaluatedAt: clock.now(), rows })
}
