import type { OrgId } from '../db/database.ts'
import type { Backlog } from './queries.ts'

/**
 * How many jobs each organization may take now. Those with the fewest running come first, in the order given, and one job
 * at a time; and nobody takes a place unless, before it does, more are free than it holds. So one organization alone
 * fills half of the places, two fill two thirds, and whoever comes next finds one, however long the running jobs last.
 */
export const shareOut = (
  backlogs: readonly Backlog[],
  running: ReadonlyMap<OrgId, number>,
  free: number,
): Map<OrgId, number> => {
  const shares = new Map<OrgId, number>()
  const countHeld = (org: OrgId) => (running.get(org) ?? 0) + (shares.get(org) ?? 0)
  for (let left = free; left > 0; left--) {
    let next: OrgId | undefined
    for (const { org, waiting } of backlogs) {
      if ((shares.get(org) ?? 0) < waiting && countHeld(org) < (next === undefined ? left : countHeld(next))) next = org
    }
    if (next === undefined) break
    shares.set(next, (shares.get(next) ?? 0) + 1)
  }
  return shares
}
