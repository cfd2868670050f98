import {
  attachConversations,
  countAttached,
  detachConversations,
  listAttachedAmong,
} from '../../findings/attachments/queries.ts'
import { mostAttached } from '../../findings/limits.ts'
import { lockUnmergedFinding } from '../../findings/lock.ts'
import { getFinding } from '../../findings/queries.ts'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import { ApiError, invalid } from '../../platform/errors.ts'
import type { ActionOf } from '../schema.ts'
import { type ActionKind, listOutcomes, without } from './kind.ts'

const publishFinding = (trx: Db, org: OrgId, id: string) =>
  publishChanges(trx, org, { resource: 'findings', kind: 'updated', ids: [id] })

export const attachToFinding: ActionKind<ActionOf<'attach_to_finding'>> = {
  role: 'member',
  targets: ({ findingId }) => [{ type: 'finding', id: findingId }],
  check: async (db, org, { findingId }) => {
    const finding = await getFinding(db, org, findingId).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      throw invalid('action.findingId', 'must be a finding of this organization')
    })
    if (finding.mergedIntoId !== null) {
      throw new ApiError(
        'conflict',
        `This finding was merged into ${finding.mergedIntoId}. Choose that finding instead.`,
      )
    }
  },
  apply: async (_deps, trx, org, { ids, now, action }) => {
    const { id } = await lockUnmergedFinding(trx, org, action.findingId)
    const attached = await listAttachedAmong(trx, org, id, ids)
    const room = Math.max(0, mostAttached - (await countAttached(trx, org, id)))
    const others = without(ids, attached)
    const added = await attachConversations(trx, org, id, others.slice(0, room), now)
    if (added.length > 0) await publishFinding(trx, org, id)
    return listOutcomes({ changed: added, unchanged: attached, failed: others.slice(room) })
  },
  undo: async (_deps, trx, org, { ids, action }) => {
    const { id } = await lockUnmergedFinding(trx, org, action.findingId)
    const detached = await detachConversations(trx, org, id, ids)
    if (detached.length > 0) await publishFinding(trx, org, id)
    return listOutcomes({ changed: detached, unchanged: without(ids, detached) })
  },
  reason: `A finding can have at most ${mostAttached} conversations.`,
}
