import type { Db } from '../platform/db/database.ts'
import { ApiError } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { copyAttached, countAttached } from './attachments/queries.ts'
import { mostAttached, mostMerged } from './limits.ts'
import { lockUnmergedFinding } from './lock.ts'
import { listIdsWithMerged, moveFinding, redirectMerged, updateFinding } from './queries.ts'

type Merge = { intoId: string; now: Date }

/**
 * Merges a finding into another one. The source is resolved, and the target represents both. The conversations are
 * attached to the target. Comments and history stay with the source and are shown together with the target's.
 */
export const mergeFinding = async (trx: Db, { org, userId }: Actor, id: string, { intoId, now }: Merge) => {
  // The IDs are locked in a fixed order, so that two findings can be merged into each other at the same time without a
  // deadlock.
  const [first, second] = [id.toLowerCase(), intoId.toLowerCase()].sort()
  if (first === undefined || second === undefined) throw new Error('two were given')
  const both = [await lockUnmergedFinding(trx, org, first), await lockUnmergedFinding(trx, org, second)]
  if (first === second) throw new ApiError('conflict', 'A finding cannot be merged into itself.')
  const [from, into] = both[0]?.id === id.toLowerCase() ? both : both.reverse()
  if (!from || !into) throw new Error('two were held')

  const to = { status: 'resolved', priority: from.priority } as const
  await moveFinding(trx, org, {
    id: newId(),
    findingId: from.id,
    kind: 'merge',
    byUserId: userId,
    from,
    to,
    mergedIntoId: into.id,
    now,
  })
  await redirectMerged(trx, org, { from: from.id, into: into.id })
  await copyAttached(trx, org, { from: from.id, to: into.id })
  await updateFinding(trx, org, into.id, { now })
  const [merged, attached] = [await listIdsWithMerged(trx, org, into.id), await countAttached(trx, org, into.id)]
  if (merged.length > mostMerged + 1) {
    throw new ApiError('conflict', `At most ${mostMerged} findings can be merged into one.`)
  }
  if (attached > mostAttached) {
    throw new ApiError(
      'conflict',
      `A finding can have at most ${mostAttached} conversations. Together, these two have ${attached}.`,
    )
  }
  return { from: from.id, into: into.id }
}
