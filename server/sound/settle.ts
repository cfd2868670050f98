import { lockRecordedConversation, lockRecording } from '../conversations/recordings/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { type StoredSound, storeSound, updateMeasures } from './queries.ts'
import { readSound } from './read-sound.ts'

export type SoundOf = { organizationId: OrgId; conversationId: string }

/** Returns whether these measures belong to the recording. The measures of deleted files stay. */
export const isSoundOf = (
  { status, fileKey }: { status: string; fileKey: string | null },
  { blobKey }: Pick<StoredSound, 'blobKey'>,
): boolean => status === 'deleted' || fileKey === blobKey

/** Stores the measures of a conversation, and everything that depends on them. The caller has locked it. */
export const settle = async (deps: Deps, trx: Db, org: OrgId, id: string, { measured }: StoredSound): Promise<void> => {
  const measures = measured && (await readSound(deps, trx, org, { id, measured })).measures
  await updateMeasures(trx, org, id, measures ?? {})
  await deps.reactions.soundSettled(trx, org, { conversationIds: [id] })
}

/** Continues without measures if the organization doesn't measure recordings. */
export const settleWithout = async (
  deps: Deps,
  trx: Db,
  { organizationId, conversationId }: SoundOf,
): Promise<void> => {
  if (!(await lockRecordedConversation(trx, organizationId, conversationId))) return
  await deps.reactions.soundSettled(trx, organizationId, { conversationIds: [conversationId] })
}

/** Stores the measures of a recording, unless the conversation has another recording by now. */
export const storeOutcome = async (
  deps: Deps,
  trx: Db,
  { organizationId, conversationId }: SoundOf,
  sound: StoredSound,
): Promise<void> => {
  // If an erasure is in progress, the conversation is deleted afterwards.
  if (!(await lockRecordedConversation(trx, organizationId, conversationId))) return
  const recording = await lockRecording(trx, organizationId, conversationId)
  // Another recording has its own job.
  if (recording?.fileKey !== sound.blobKey) return
  await storeSound(trx, organizationId, conversationId, sound)
  await settle(deps, trx, organizationId, conversationId, sound)
}
