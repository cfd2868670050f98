// Locks a finding for a change until the transaction ends.

import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import { getStanding, lockFinding } from './queries.ts'

export type LockedFinding = Awaited<ReturnType<typeof lockFinding>>

/**
 * Locks and returns the finding, or the finding that it was merged into. Never locks both: merging the target also
 * locks its earlier sources, which would cause a deadlock.
 */
export const lockStandingFinding = async (trx: Db, org: OrgId, id: string): Promise<LockedFinding> => {
  for (;;) {
    const locked = await lockFinding(trx, org, await getStanding(trx, org, id))
    if (locked.mergedIntoId === null) return locked
  }
}

/** Locks a finding. Throws if it was merged, because merged findings can't change. */
export const lockUnmergedFinding = async (trx: Db, org: OrgId, id: string): Promise<LockedFinding> => {
  const locked = await lockFinding(trx, org, id)
  if (locked.mergedIntoId === null) return locked
  throw new ApiError('conflict', `This finding was merged into ${locked.mergedIntoId}. Change that finding instead.`)
}
