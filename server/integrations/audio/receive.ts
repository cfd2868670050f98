import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { Integration } from '../apply-payload.ts'
import { insertDelivery } from '../deliveries/queries.ts'
import type { SettledDelivery } from '../deliveries/status.ts'
import { audioEvent, type StreamedBody } from './read-body.ts'
import { attachOrWait, dropFile } from './waiting.ts'

/** The largest value that the column can store. */
const mostCounted = 2 ** 31 - 1

type ReadAudio = Extract<StreamedBody, { audio: object }>

/**
 * Attaches a verified recording, or stores it until its conversation arrives. Also stores its delivery in the same
 * transaction. The delivery can't be replayed.
 */
export const receiveAudio = async (
  deps: Deps,
  { org, id: integrationId }: Integration,
  { audio, bytes }: ReadAudio,
  contentType: string | null,
): Promise<SettledDelivery & { deliveryId: string }> => {
  const deliveryId = newId()
  const receive = deps.db.transaction().execute(async (trx) => {
    const settled: SettledDelivery =
      'unreadable' in audio
        ? { status: 'unreadable', reason: audio.unreadable, conversationId: null }
        : await attachOrWait(deps, trx, org, { ...audio, integrationId, deliveryId })
    await insertDelivery(trx, org, {
      ...settled,
      id: deliveryId,
      integrationId,
      contentType,
      payload: null,
      event: settled.status === 'erased' ? null : audioEvent,
      bytes: Math.min(bytes, mostCounted),
      receivedAt: deps.clock.now(),
    })
    return { ...settled, deliveryId }
  })
  return receive.catch(async (error: unknown) => {
    // The integration was deleted in the meantime. After any other error, the transaction may have been committed, so
    // the file must stay.
    if (error instanceof ApiError && 'file' in audio) await dropFile(deps, deps.db, org, audio.file)
    throw error
  })
}
