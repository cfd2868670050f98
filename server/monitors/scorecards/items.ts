import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError, type Issue, invalidAll } from '../../platform/errors.ts'
import { listScorecardsOf, lockItems } from '../queries.ts'
import type { Scorecard, ScorecardItem } from './algebra.ts'
import { itemsOf } from './definition.ts'

type ItemMonitor = { kind: string; currentVersion: number }

const issueOf = (path: string, { version }: ScorecardItem, monitor: ItemMonitor | undefined): Issue[] => {
  if (!monitor) return [{ path: `${path}.monitorId`, message: 'must be a monitor of this organization' }]
  if (monitor.kind === 'scorecard') {
    return [{ path: `${path}.monitorId`, message: 'is a scorecard, which cannot be an item of another one' }]
  }
  // Version numbers start at 1 and have no gaps.
  if (version === undefined || version <= monitor.currentVersion) return []
  return [{ path: `${path}.version`, message: `does not exist; the newest version is ${monitor.currentVersion}` }]
}

/** Locks the monitors of a scorecard against deletion. Throws if one is missing or can't be an item. */
export const requireItems = async (trx: Db, org: OrgId, scorecard: Scorecard): Promise<void> => {
  const items = itemsOf(scorecard)
  const ids = items.map(({ item }) => item.monitorId)
  const known = new Map((await lockItems(trx, org, ids)).map((monitor) => [monitor.id, monitor]))
  const issues = items.flatMap(({ path, item }) => issueOf(path, item, known.get(item.monitorId)))
  if (issues.length > 0) throw invalidAll(issues)
}

const mostNamed = 10

/** Throws if the current version of a scorecard uses the monitor, because deleting it would break the scorecard. */
export const refuseWhileItem = async (trx: Db, org: OrgId, monitorId: string): Promise<void> => {
  const scorecards = await listScorecardsOf(trx, org, monitorId)
  if (scorecards.length === 0) return
  const listed = scorecards.slice(0, mostNamed)
  const others = scorecards.length - listed.length
  const names = [...listed.map(({ name }) => `“${name}”`), ...(others > 0 ? [`${others} more`] : [])]
  throw new ApiError('conflict', `Scorecards use this monitor: ${names.join(', ')}. Remove it from them first.`, {
    monitors: listed,
  })
}
