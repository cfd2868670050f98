import { join } from 'node:path'
import { recordingKind } from '../../conversations/recordings/jobs.ts'
import type { StoredFile } from '../../conversations/recordings/queries.ts'
import type { OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { newId } from '../../platform/ids.ts'
import { openNamelessFile } from '../../platform/nameless-file.ts'
import { copyStored } from '../copy-stored.ts'
import { runProcess } from '../run-process.ts'
import type { RedactionOrder } from './write-redacted.ts'

const contentType = 'audio/wav'

/** Writes and stores a redacted copy of a stored file. Throws Undecodable if that is impossible. */
export const redactFile = async (
  { blobs }: Pick<Deps, 'blobs'>,
  org: OrgId,
  { fileKey, ...order }: RedactionOrder & { fileKey: string },
  signal: AbortSignal,
): Promise<StoredFile> => {
  const original = await copyStored(blobs, fileKey, signal)
  const redacted = await openNamelessFile()
  try {
    await runProcess({ file: join(import.meta.dirname, 'process.ts'), files: [original, redacted], order }, signal)
    const blobKey = `${org}/${recordingKind}/${newId()}`
    const content = redacted.createReadStream({ start: 0, autoClose: false })
    const { bytes } = await blobs.put(blobKey, content, { contentType })
    return { blobKey, contentType, bytes }
  } finally {
    await Promise.all([original.close(), redacted.close()])
  }
}
