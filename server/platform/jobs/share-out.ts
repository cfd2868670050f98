import type { OrgId } from '../db/database.ts'
import type { Backlog } from './queries.ts'

/**
 * Returns how many jobs each organization may take. Organizations with the fewest running jobs come first, in the given
 * order, one job at a time. An organization only gets another slot if more slots are free than it uses. So a single
 * organization fills half of the slots, two fill two thirds, and another one always finds a free slot, no matter how
 * long jobs run.
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
