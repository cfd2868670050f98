// A finding that whoever changes it has alone until the transaction ends.

import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import { getStanding, lockFinding } from './queries.ts'

export type HeldFinding = Awaited<ReturnType<typeof lockFinding>>

/**
 * The finding, or the one that it was merged into. It alone is held: a merge of that one takes along what was merged
 * into it before, and would wait for whoever holds this and waits for that.
 */
export const followFinding = async (trx: Db, org: OrgId, id: string): Promise<HeldFinding> => {
  for (;;) {
    const held = await lockFinding(trx, org, await getStanding(trx, org, id))
    if (held.mergedIntoId === null) return held
  }
}

/** One that was merged stays as it is. */
export const holdFinding = async (trx: Db, org: OrgId, id: string): Promise<HeldFinding> => {
  const held = await lockFinding(trx, org, id)
  if (held.mergedIntoId === null) return held
  throw new ApiError('conflict', `This finding was merged into ${held.mergedIntoId}. Change that finding instead.`)
}
