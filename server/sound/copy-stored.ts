import type { FileHandle } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Deps } from '../platform/deps.ts'
import { openNamelessFile } from '../platform/nameless-file.ts'

const copyTo = async (file: FileHandle, source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> => {
  const writing = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      file.appendFile(chunk).then(() => done(), done)
    },
  })
  await pipeline(source, writing, { signal })
}

/** Returns an unlinked copy of a stored file, which the caller closes. */
export const copyStored = async (blobs: Deps['blobs'], blobKey: string, signal: AbortSignal): Promise<FileHandle> => {
  const content = await blobs.get(blobKey)
  if (!content) throw new Error('The file of the recording is missing')
  const file = await openNamelessFile()
  try {
    await copyTo(file, content.stream, signal)
    return file
  } catch (error) {
    await file.close()
    throw error
  } finally {
    content.stream.destroy()
  }
}
