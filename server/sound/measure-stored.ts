import type { FileHandle } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { redactsMetrics } from '../conversations/metrics/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { minuteMs } from '../platform/durations.ts'
import { openNamelessFile } from '../platform/nameless-file.ts'
import { Undecodable } from './decoding/decode.ts'
import { measureRecording } from './measure.ts'
import type { MeasuredFile } from './measure-file.ts'
import type { StoredSound } from './queries.ts'

const copyTo = async (file: FileHandle, source: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<void> => {
  const writing = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      file.appendFile(chunk).then(() => done(), done)
    },
  })
  await pipeline(source, writing, { signal })
}

/** Measuring is stopped after this time. Within the limits of recordings, it takes much less. */
const longestMs = 5 * minuteMs

/** Telephone keys can be those of a card number. */
const withoutDigits = (file: MeasuredFile): MeasuredFile => ({
  ...file,
  channels: file.channels.map((channel) => ({
    ...channel,
    marks: channel.marks.map((mark) => (mark.kind === 'dtmf' ? { ...mark, digits: null } : mark)),
  })),
})

/** Measures a stored file. Returns the measures, or why there can't be any. */
export const measureStored = async (
  { db, blobs }: Pick<Deps, 'db' | 'blobs'>,
  org: OrgId,
  blobKey: string,
  signal: AbortSignal,
): Promise<StoredSound> => {
  const content = await blobs.get(blobKey)
  if (!content) throw new Error('The file of the recording is missing')
  const file = await openNamelessFile()
  const timeout = AbortSignal.timeout(longestMs)
  try {
    await copyTo(file, content.stream, signal)
    const measured = await measureRecording(file, AbortSignal.any([signal, timeout]))
    return { blobKey, measured: (await redactsMetrics(db, org)) ? withoutDigits(measured) : measured, reason: null }
  } catch (error) {
    if (timeout.aborted) return { blobKey, measured: null, reason: 'Measuring the recording takes too long.' }
    if (!(error instanceof Undecodable)) throw error
    return { blobKey, measured: null, reason: error.message }
  } finally {
    content.stream.destroy()
    await file.close()
  }
}
