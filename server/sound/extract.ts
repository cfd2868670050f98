import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { endOf, forkInBackground } from '../platform/background-process.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { minuteMs } from '../platform/durations.ts'
import { openNamelessFile } from '../platform/nameless-file.ts'
import { openTurns } from '../platform/turns.ts'
import { Undecodable } from './decoding/decode.ts'
import type { ExtractionReply } from './extract-process.ts'
import { extractedRate } from './extracted-rate.ts'
import { processOptions } from './run-process.ts'
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

/** Decoding is stopped after this time. Within the limits of recordings, it takes much less. */
const longestMs = 5 * minuteMs

/** Decoding takes a core and up to 300 MB, so only a few recordings are decoded at once in each process. */
const decoding = openTurns(2)

const decode = async (files: FileHandle[], signal: AbortSignal): Promise<number> => {
  signal.throwIfAborted()
  const child = forkInBackground(join(import.meta.dirname, 'extract-process.ts'), {
    execArgv: processOptions,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', ...files.map(({ fd }) => fd)],
  })
  let answer: ExtractionReply | undefined
  child.on('message', (message: ExtractionReply) => {
    answer = message
  })
  // The exit handler reports the same errors.
  child.on('error', () => {})
  const ending = await endOf(child, signal)
  if (answer === undefined) throw new Error(`The process of a recording ended with ${ending}`)
  if ('undecodable' in answer) throw new Undecodable(answer.undecodable)
  if ('failed' in answer) throw new Error(answer.failed)
  return answer.channels
}

const copyTo = async (file: FileHandle, stream: Readable, signal: AbortSignal): Promise<void> => {
  for await (const chunk of stream) {
    signal.throwIfAborted()
    await file.appendFile(chunk as Buffer)
  }
}

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
  const content = await blobs.get(blobKey)
  if (!content) throw new Error('The file of the recording is missing')
  const files: FileHandle[] = []
  try {
    for (let file = 0; file < 3; file++) files.push(await openNamelessFile())
    const [recording, ...ofChannels] = files
    if (recording) await copyTo(recording, content.stream, signal)
    const channels = await decode(files, AbortSignal.any([signal, AbortSignal.timeout(longestMs)]))
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
    content.stream.destroy()
    await Promise.all(files.map((file) => file.close()))
  }
}

/**
 * Decodes a stored recording and passes its sound on. Memory stays the same whatever the length, because the samples are in
 * files, which disappear afterwards. Throws Undecodable if the recording can't be read. Organizations take turns.
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
