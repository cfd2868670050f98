// Deletes the data that integrations have about erased conversations.

import { tombstoneHash } from '../../conversations/erasure/tombstone.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { eraseWaiting } from '../audio/waiting.ts'
import { deleteGapsOfCalls } from '../sync/gaps/queries.ts'
import { eraseMentions } from './mentions.ts'
import { deleteDeliveriesOfConversations, deleteSpansOf } from './queries.ts'

/** Deletes the webhooks that contained these conversations. */
export const eraseDeliveries = (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { conversationIds }: { conversationIds: string[] },
): Promise<void> => deleteDeliveriesOfConversations(trx, org, conversationIds)

/** Deletes all data with these external IDs: spans, gaps, waiting recordings, and webhooks without a conversation. */
export const eraseProviderData = async (
  deps: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { externalIds }: { externalIds: string[] },
): Promise<void> => {
  if (externalIds.length === 0) return
  await deleteSpansOf(trx, org, externalIds)
  await deleteGapsOfCalls(trx, org, externalIds)
  await eraseWaiting(deps, trx, org, externalIds)
  const hashes = externalIds.map((externalId) => tombstoneHash(org, externalId))
  await deps.jobs.enqueue(trx, eraseMentions, { organizationId: org, hashes })
}
