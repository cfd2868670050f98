import { redactsMetrics } from '../conversations/metrics/queries.ts'
import { findRecordingSettings } from '../conversations/recordings/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { minuteMs } from '../platform/durations.ts'
import { copyStored } from './copy-stored.ts'
import { Undecodable } from './decoding/decode.ts'
import { measureRecording } from './measure.ts'
import type { MeasuredFile } from './measure-file.ts'
import type { StoredSound } from './queries.ts'

/** The time limit for measuring. Recordings within the limits take much less. */
const longestMs = 5 * minuteMs

/** The digits of a card number can be among telephone keys. */
const withoutDigits = (file: MeasuredFile): MeasuredFile => ({
  ...file,
  channels: file.channels.map((channel) => ({
    ...channel,
    marks: channel.marks.map((mark) => (mark.kind === 'dtmf' ? { ...mark, digits: null } : mark)),
  })),
})

const hidesDigits = async (db: Db, org: OrgId, conversationId: string): Promise<boolean> => {
  if (await redactsMetrics(db, org)) return true
  const settings = await findRecordingSettings(db, org, conversationId).executeTakeFirst()
  return settings?.redaction !== 'none'
}

type MeasuredRecording = { conversationId: string; fileKey: string }

/** Measures a stored file. Returns the measures, or the reason why there can't be any. */
export const measureStored = async (
  { db, blobs }: Pick<Deps, 'db' | 'blobs'>,
  org: OrgId,
  { conversationId, fileKey: blobKey }: MeasuredRecording,
  signal: AbortSignal,
): Promise<StoredSound> => {
  const file = await copyStored(blobs, blobKey, signal)
  const timeout = AbortSignal.timeout(longestMs)
  try {
    const measured = await measureRecording(file, AbortSignal.any([signal, timeout]))
    const hides = await hidesDigits(db, org, conversationId)
    return { blobKey, measured: hides ? withoutDigits(measured) : measured, reason: null }
  } catch (error) {
    if (timeout.aborted) return { blobKey, measured: null, reason: 'Measuring the recording takes too long.' }
    if (!(error instanceof Undecodable)) throw error
    return { blobKey, measured: null, reason: error.message }
  } finally {
    await file.close()
  }
}
