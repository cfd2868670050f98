import { tombstoneHash } from '../../conversations/erasure/tombstone.ts'
import { findTombstones, lockConversationsByExternalId } from '../../conversations/ingest/queries.ts'
import { deleteRecording, hasFile } from '../../conversations/recordings/jobs.ts'
import {
  getRecordingSettings,
  lockRecording,
  type StoredFile,
  storeUploaded,
} from '../../conversations/recordings/queries.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { updateDelivery } from '../deliveries/queries.ts'
import type { SettledDelivery } from '../deliveries/status.ts'
import { deleteDeliveriesById } from '../erasure/queries.ts'
import { findWaiting, insertWaiting, takeWaiting } from './queries.ts'

/** Connects recordings with their conversations. The two arrive separately, in either order. */

type JobDeps = Pick<Deps, 'jobs'>
type AttachDeps = Pick<Deps, 'jobs' | 'reactions'>

/** The maximum number of waiting recordings in an organization. Concurrent requests can exceed it slightly. */
const mostWaiting = { count: 1_000, bytes: 8 * 1024 ** 3 }

const unfound = (status: SettledDelivery['status'], reason: string | null = null): SettledDelivery => ({
  status,
  reason,
  conversationId: null,
})

export const dropFile = (deps: JobDeps, trx: Db, org: OrgId, { blobKey }: Pick<StoredFile, 'blobKey'>) =>
  deps.jobs.enqueue(trx, deleteRecording, { key: blobKey }, { org })

/**
 * Attaches the recording, unless the conversation already has one or the agent doesn't keep recordings. The caller has
 * locked the conversation.
 */
const attach = async (deps: AttachDeps, trx: Db, org: OrgId, conversationId: string, file: StoredFile) => {
  if ((await getRecordingSettings(trx, org, conversationId)).keep === 'nothing') {
    await dropFile(deps, trx, org, file)
    return { status: 'ignored', reason: 'The agent keeps no recordings.', conversationId } satisfies SettledDelivery
  }
  const stored = await lockRecording(trx, org, conversationId)
  const isNew = !hasFile(stored)
  if (isNew) {
    await storeUploaded(trx, org, conversationId, file)
    await deps.reactions.recordingStored(trx, org, { conversationId })
  } else await dropFile(deps, trx, org, file)
  return { status: isNew ? 'applied' : 'unchanged', reason: null, conversationId } satisfies SettledDelivery
}

const wait = async (
  trx: Db,
  org: OrgId,
  { externalId, file, ...delivery }: Parameters<typeof insertWaiting>[2],
): Promise<SettledDelivery> => {
  const [isErased] = await findTombstones(trx, org, [tombstoneHash(org, externalId)])
  if (isErased) return unfound('erased')
  const { count, bytes, isWaiting } = await findWaiting(trx, org, externalId)
  if (isWaiting) return unfound('unchanged')
  if (count >= mostWaiting.count || bytes + file.bytes > mostWaiting.bytes) {
    return unfound('rejected', 'Too many recordings are waiting for their transcripts.')
  }
  return unfound((await insertWaiting(trx, org, { externalId, file, ...delivery })) ? 'pending' : 'unchanged')
}

/** Attaches the recording to its conversation, or stores it until the conversation arrives. */
export const attachOrWait = async (
  deps: AttachDeps,
  trx: Db,
  org: OrgId,
  audio: Parameters<typeof insertWaiting>[2],
): Promise<SettledDelivery> => {
  const [conversation] = await lockConversationsByExternalId(trx, org, [audio.externalId])
  if (conversation) return attach(deps, trx, org, conversation.id, audio.file)
  const settled = await wait(trx, org, audio)
  if (settled.status !== 'pending') await dropFile(deps, trx, org, audio.file)
  return settled
}

/** Attaches a recording that was waiting for this conversation. The caller has locked the conversation. */
export const attachWaiting = async (
  deps: AttachDeps,
  trx: Db,
  org: OrgId,
  { externalId, conversationId }: { externalId: string; conversationId: string },
): Promise<void> => {
  for (const { deliveryId, file } of await takeWaiting(trx, org, [externalId])) {
    await updateDelivery(trx, org, deliveryId, await attach(deps, trx, org, conversationId, file), 'pending')
  }
}

/** Deletes recordings that are waiting for calls that are being erased. */
export const eraseWaiting = async (deps: JobDeps, trx: Db, org: OrgId, externalIds: string[]): Promise<void> => {
  const erased = await takeWaiting(trx, org, externalIds)
  for (const { file } of erased) await dropFile(deps, trx, org, file)
  await deleteDeliveriesById(
    trx,
    org,
    erased.map(({ deliveryId }) => deliveryId),
  )
}
