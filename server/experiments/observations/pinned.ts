// What running experiments have conversations asked, in the versions that they pinned, whatever became of the monitors.

import { findMonitorsAtVersions, type StoredMonitor } from '../../monitors/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { getExperiment, listPinned } from '../queries.ts'
import { placeConversations } from './population.ts'
import { listPresent, listRunningOf } from './queries.ts'

export type Pinned = {
  monitors: StoredMonitor[]
  asks: (conversationId: string, monitor: Pick<StoredMonitor, 'id' | 'number'>) => boolean
}

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
    const places = await placeConversations(db, org, { ...experiment, outcomes }, present)
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

/** Whether a running experiment may look at one of them. */
export const areMeasured = async (db: Db, org: OrgId, ids: string[]): Promise<boolean> =>
  ids.length > 0 && (await listRunningOf(db, org, ids)).length > 0

/** Lists in which each monitor is once: what one evaluation finds is of one version each. */
export const oneVersionEach = (monitors: StoredMonitor[]): StoredMonitor[][] => {
  const lists: StoredMonitor[][] = []
  for (const monitor of monitors) {
    const free = lists.find((list) => list.every(({ id }) => id !== monitor.id))
    if (free) free.push(monitor)
    else lists.push([monitor])
  }
  return lists
}
