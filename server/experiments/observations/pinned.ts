// Finds the pinned versions that running experiments need for conversations, even if the monitor was deleted.

import type { Pinned } from '../../evaluations/deps.ts'
import { enqueueEvaluation } from '../../evaluations/lifecycle.ts'
import { findMonitorsAtVersions } from '../../monitors/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { getExperiment, listPinned } from '../queries.ts'
import { assignToArms } from './assign-to-arms.ts'
import { listPresent, listRunningOf } from './queries.ts'

const nothing: Pinned = { monitors: [], asks: () => false }

export const findPinned = async (db: Db, org: OrgId, ids: string[]): Promise<Pinned> => {
  const experimentIds = await listRunningOf(db, org, ids)
  if (experimentIds.length === 0) return nothing
  const asked = new Set<string>()
  const versions = new Map<string, { id: string; number: number }>()
  for (const experimentId of experimentIds) {
    const experiment = await getExperiment(db, org, experimentId)
    const outcomes = (await listPinned(db, org, experimentId)).filter(({ monitorKind }) => monitorKind !== 'external')
    const present = await listPresent(db, org, ids, experiment.assignmentUnit)
    const places = await assignToArms(db, org, { ...experiment, outcomes }, present)
    for (const [id, { arm, applies }] of places) {
      if (arm === null) continue
      for (const [at, { monitorId, monitorVersion }] of outcomes.entries()) {
        if (!applies[at]) continue
        versions.set(`${monitorId} ${monitorVersion}`, { id: monitorId, number: monitorVersion })
        asked.add(`${id} ${monitorId} ${monitorVersion}`)
      }
    }
  }
  return {
    monitors: await findMonitorsAtVersions(db, org, [...versions.values()]),
    asks: (conversationId, { id, number }) => asked.has(`${conversationId} ${id} ${number}`),
  }
}

/**
 * Queues the evaluation of completed conversations after changes to anything but their transcripts, in the transaction
 * of the change. The conversations may have joined the arm of an experiment or the scope of an outcome.
 */
export const evaluatePinned = async (
  deps: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { changedOtherwise: ids }: { changedOtherwise: string[] },
): Promise<void> => {
  if (ids.length === 0 || (await listRunningOf(trx, org, ids)).length === 0) return
  await enqueueEvaluation(deps, trx, org, ids, { lacks: 'pinned' })
}
