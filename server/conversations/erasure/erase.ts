import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { deleteDeliveriesOfReviews } from '../../webhooks/deliveries/queries.ts'
import { deleteRecording } from '../recordings/jobs.ts'
import { deleteConversations, insertTombstones, listErasedFiles, lockErased } from './queries.ts'
import { tombstoneHash } from './tombstone.ts'

/**
 * Erases conversations and all their data in the caller's transaction, and stores hashes of their external IDs so that
 * a late part does not bring them back. Returns the erased conversations. `server/reactions.ts` lists the resources
 * that delete data without a foreign key.
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
  await deps.reactions.conversationsErasing(trx, org, { conversationIds: erasedIds, conversations: erased })
  await deleteConversations(trx, org, erasedIds)
  // From this point on, nobody can complete a review of these conversations, so no new delivery appears.
  await deleteDeliveriesOfReviews(trx, org, erasedIds)
  if (externalIds.length > 0) await insertTombstones(trx, org, hashes)
  await deps.reactions.conversationsErased(trx, org, { externalIds })
  return erasedIds
}
