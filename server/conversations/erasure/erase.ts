import { noteChanges } from '../../experiments/observations/changes.ts'
import { expireExportsOfCalls } from '../../exports/expire.ts'
import { eraseWaiting } from '../../integrations/audio/waiting.ts'
import { deleteGapsOfCalls } from '../../integrations/sync/gaps/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { deleteDeliveriesOfReviews } from '../../webhooks/deliveries/queries.ts'
import { deleteRecording } from '../recordings/jobs.ts'
import { eraseMentions } from './mentions.ts'
import {
  deleteConversations,
  deleteDeliveriesOf,
  deleteResultsOf,
  deleteSpansOf,
  insertTombstones,
  listErasedFiles,
  lockErased,
} from './queries.ts'
import { tombstoneHash } from './tombstone.ts'

/**
 * Erases conversations with all that was told of them, in the caller's transaction, and leaves hashes of their external
 * ids so that a late part does not bring them back. Tells which there were. What holds more of a conversation than the
 * tables that go with it by their foreign keys has its line here.
 */
export const eraseConversations = async (deps: Deps, trx: Db, org: OrgId, ids: string[]): Promise<string[]> => {
  const erased = await lockErased(trx, org, ids)
  if (erased.length === 0) return []
  const erasedIds = erased.map(({ id }) => id)
  const externalIds = erased.flatMap(({ externalId }) => externalId ?? [])
  const hashes = externalIds.map((externalId) => tombstoneHash(org, externalId))

  const files = await listErasedFiles(trx, org, erasedIds)
  await deps.jobs.enqueueMany(
    trx,
    deleteRecording,
    files.map((key) => ({ key })),
    { org },
  )
  await noteChanges(deps, trx, org, erasedIds)
  await deleteDeliveriesOf(trx, org, erasedIds)
  await deleteResultsOf(trx, org, erased)
  await expireExportsOfCalls(deps, trx, org, erased)
  await deleteConversations(trx, org, erasedIds)
  // Now that no review of them can be completed any more.
  await deleteDeliveriesOfReviews(trx, org, erasedIds)
  if (externalIds.length > 0) {
    await insertTombstones(trx, org, hashes)
    await deleteSpansOf(trx, org, externalIds)
    await deleteGapsOfCalls(trx, org, externalIds)
    await eraseWaiting(deps, trx, org, externalIds)
    await deps.jobs.enqueue(trx, eraseMentions, { organizationId: org, hashes })
  }
  return erasedIds
}
