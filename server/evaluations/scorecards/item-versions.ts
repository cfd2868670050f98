// Finds monitor versions that scorecards use, but that are no longer evaluated on their own. They must still be
// evaluated, because otherwise a pinned item would have no result after its monitor changes.

import { scorecardOf } from '../../monitors/definition.ts'
import {
  findMonitors,
  findMonitorsAtVersions,
  listActiveScorecards,
  type StoredMonitor,
} from '../../monitors/queries.ts'
import { itemsOf } from '../../monitors/scorecards/definition.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Pinned } from '../deps.ts'

type Version = Pick<StoredMonitor, 'id' | 'number'>
type Pin = Version & { scorecard: StoredMonitor; isMeasured: boolean }

const keyOf = ({ id, number }: Version) => `${id} ${number}`

const itemsIn = (scorecard: StoredMonitor) =>
  itemsOf(scorecardOf(scorecard) ?? { sections: [] }).map(({ item }) => item)

type ById = Map<string, StoredMonitor>

const byId = (monitors: StoredMonitor[]): ById => new Map(monitors.map((monitor) => [monitor.id, monitor]))

/** Returns the older versions that current scorecards use. Disabled monitors have none. */
const pinsOf = (scorecard: StoredMonitor, active: ById): Pin[] =>
  itemsIn(scorecard).flatMap(({ monitorId, version }) => {
    const monitor = active.get(monitorId)
    const isOlder = monitor !== undefined && monitor.number !== version
    return version !== undefined && isOlder ? [{ id: monitorId, number: version, scorecard, isMeasured: false }] : []
  })

/** Returns the versions that an experiment's scorecard uses, except those that are evaluated anyway. */
const measuredPinsOf = (scorecard: StoredMonitor, known: ById): Pin[] =>
  itemsIn(scorecard).flatMap(({ monitorId, version }) => {
    const monitor = known.get(monitorId)
    if (!monitor || monitor.kind === 'external') return []
    const number = version ?? monitor.number
    const isActive = monitor.enabled && number === monitor.number
    return isActive ? [] : [{ id: monitorId, number, scorecard, isMeasured: true }]
  })

/**
 * Returns these versions, each with the conversations for which scorecards use it. Experiments use them even if the
 * monitor is disabled.
 */
export const findItemVersions = async (db: Db, org: OrgId, active: StoredMonitor[], pinned: Pinned) => {
  const scorecards = active.length > 0 ? await listActiveScorecards(db, org) : []
  const measured = pinned.monitors.filter(({ kind }) => kind === 'scorecard')
  const measuredIds = [...new Set(measured.flatMap(itemsIn).map(({ monitorId }) => monitorId))]
  const known = byId(measuredIds.length > 0 ? await findMonitors(db, org, measuredIds) : [])
  const activeById = byId(active)
  const pins = [
    ...scorecards.flatMap((scorecard) => pinsOf(scorecard, activeById)),
    ...measured.flatMap((scorecard) => measuredPinsOf(scorecard, known)),
  ]
  const users = Map.groupBy(pins, keyOf)
  return {
    monitors: pins.length > 0 ? await findMonitorsAtVersions(db, org, pins) : [],
    scorecards,
    /** For current scorecards, `isInScope` determines whether the conversation is in scope. */
    isUsed: (conversationId: string, monitor: Version, isInScope: (scorecard: StoredMonitor) => boolean): boolean =>
      (users.get(keyOf(monitor)) ?? []).some(({ scorecard, isMeasured }) =>
        isMeasured ? pinned.asks(conversationId, scorecard) : isInScope(scorecard),
      ),
  }
}
