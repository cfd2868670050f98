import { join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import { recordingKind } from '../../conversations/recordings/jobs.ts'
import type { StoredFile } from '../../conversations/recordings/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { minuteMs } from '../../platform/durations.ts'
import { newId } from '../../platform/ids.ts'
import { openNamelessFile } from '../../platform/nameless-file.ts'
import { copyStored } from '../copy-stored.ts'
import { Undecodable } from '../decoding/decode.ts'
import { runProcess } from '../run-process.ts'
import type { RedactionOrder } from './write-redacted.ts'

const contentType = 'audio/wav'

/** The time limit for writing the file, without the time that the storage takes. */
const longestMs = 5 * minuteMs

type Work = Parameters<typeof runProcess>[0]

const runInTime = async (work: Work, signal: AbortSignal): Promise<void> => {
  const timeout = AbortSignal.timeout(longestMs)
  try {
    await runProcess(work, AbortSignal.any([signal, timeout]))
  } catch (error) {
    if (timeout.aborted && !signal.aborted) throw new Undecodable('Redacting it takes too long.')
    throw error
  }
}

/**
 * Writes and stores a redacted copy of a stored file. Throws Undecodable if that is impossible, and other errors if it
 * may be possible later, for example because the storage is unavailable.
 */
export const redactFile = async (
  { blobs }: Pick<Deps, 'blobs'>,
  org: OrgId,
  { fileKey, ...order }: RedactionOrder & { fileKey: string },
  signal: AbortSignal,
): Promise<StoredFile> => {
  const original = await copyStored(blobs, fileKey, signal)
  const redacted = await openNamelessFile()
  try {
    await runInTime({ file: join(import.meta.dirname, 'process.ts'), files: [original, redacted], order }, signal)
    const blobKey = `${org}/${recordingKind}/${newId()}`
    const content = addAbortSignal(signal, redacted.createReadStream({ start: 0, autoClose: false }))
    const { bytes } = await blobs.put(blobKey, content, { contentType })
    return { blobKey, contentType, bytes }
  } finally {
    await Promise.all([original.close(), redacted.close()])
  }
}
