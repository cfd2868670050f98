import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { minuteMs } from '../platform/durations.ts'
import { openNamelessFile } from '../platform/nameless-file.ts'
import { openTurns } from '../platform/turns.ts'
import { copyStored } from './copy-stored.ts'
import { extractedRate } from './extracted-rate.ts'
import { runProcess } from './run-process.ts'
import { wavOf } from './wav.ts'

/** Decodes stored recordings, so that models can hear them. */

export type SoundSpan = { startMs: number; endMs: number }

export type ExtractedSound = {
  channels: number
  /** Returns spans of a channel as a WAV file: one after the other, with silence between them. */
  readWav: (channel: number, spans: SoundSpan[], betweenMs: number) => Promise<Buffer>
  /** Returns a span of all channels mixed together as a WAV file. */
  readMix: (span: SoundSpan) => Promise<Buffer>
}

const empty = Buffer.alloc(0)

const bytesPerMs = (2 * extractedRate) / 1_000

/** `readBlocks` rejects recordings with more channels. */
const mostChannels = 2

/** The time limit for decoding. Recordings within the limits take much less. */
const longestMs = 5 * minuteMs

/** Decoding takes a core and up to 300 MB, so only a few recordings are decoded at once in each process. */
const decoding = openTurns(2)

/** Reads a span of samples. Omits everything beyond the end. */
const readSpan = async (file: FileHandle, { startMs, endMs }: SoundSpan): Promise<Buffer> => {
  const toByte = (ms: number) => 2 * Math.round((ms * bytesPerMs) / 2)
  const bytes = Buffer.alloc(Math.max(0, toByte(endMs) - toByte(startMs)))
  const { bytesRead } = await file.read(bytes, 0, bytes.length, toByte(startMs))
  return bytes.subarray(0, bytesRead)
}

/** Returns the average of several channels. */
const mix = ([first = Buffer.alloc(0), second]: Buffer[]): Buffer => {
  if (!second) return first
  const mixed = Buffer.alloc(Math.min(first.length, second.length))
  for (let at = 0; at + 1 < mixed.length; at += 2) {
    mixed.writeInt16LE(Math.round((first.readInt16LE(at) + second.readInt16LE(at)) / 2), at)
  }
  return mixed
}

const decodeFor = async <T>(
  blobs: Deps['blobs'],
  blobKey: string,
  { signal, onDecoded }: { signal: AbortSignal; onDecoded: () => void },
  use: (sound: ExtractedSound) => Promise<T>,
): Promise<T> => {
  const files = [await copyStored(blobs, blobKey, signal)]
  try {
    for (let channel = 0; channel < mostChannels; channel++) files.push(await openNamelessFile())
    const [, ...ofChannels] = files
    const channels = await runProcess<number>(
      { file: join(import.meta.dirname, 'extract-process.ts'), files },
      AbortSignal.any([signal, AbortSignal.timeout(longestMs)]),
    )
    onDecoded()
    const readWav: ExtractedSound['readWav'] = async (channel, spans, betweenMs) => {
      const file = ofChannels[channel]
      if (!file || channel >= channels) throw new Error(`The recording has no channel ${channel}`)
      const read: Buffer[] = []
      const silence = Buffer.alloc(2 * Math.round((betweenMs * bytesPerMs) / 2))
      for (const [at, span] of spans.entries()) read.push(at > 0 ? silence : empty, await readSpan(file, span))
      return wavOf(Buffer.concat(read), extractedRate)
    }
    const readMix = async (span: SoundSpan): Promise<Buffer> => {
      const read: Buffer[] = []
      for (const file of ofChannels.slice(0, channels)) read.push(await readSpan(file, span))
      return wavOf(mix(read), extractedRate)
    }
    return await use({ channels, readWav, readMix })
  } finally {
    await Promise.all(files.map((file) => file.close()))
  }
}

/**
 * Decodes a stored recording and passes its sound on. Memory use does not depend on the length, because the samples are
 * in temporary files. Throws Undecodable if the recording can't be read. Organizations take turns.
 */
export const withSound = async <T>(
  { blobs }: Pick<Deps, 'blobs'>,
  { owner, blobKey }: { owner: OrgId; blobKey: string },
  signal: AbortSignal,
  use: (sound: ExtractedSound) => Promise<T>,
): Promise<T> => {
  const leave = await decoding.enter(owner, { signal })
  try {
    return await decodeFor(blobs, blobKey, { signal, onDecoded: leave }, use)
  } finally {
    leave()
  }
}
