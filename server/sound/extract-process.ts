// Decodes one recording in its own process and writes the samples of each channel to open files.

import { writeSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { decodeFile, Undecodable } from './decoding/decode.ts'
import { openResampler, type Resampler } from './decoding/resample.ts'
import { extractedRate } from './extracted-rate.ts'

export type ExtractionReply = { channels: number } | { undecodable: string } | { failed: string }

/** The file descriptor of the open recording. The descriptors of the channels follow. */
const recordingFd = 4
const mostChannels = 2

const memoryMb = 300

/** Nobody needs the samples if the parent process has exited. */
process.on('disconnect', () => process.exit(1))

const checkMemory = (): void => {
  if (process.memoryUsage.rss() > memoryMb * 1024 * 1024) {
    throw new Undecodable('Reading the recording takes too much memory.')
  }
}

/** Writes samples as 16-bit integers. */
const write = (channel: number, samples: Float32Array): void => {
  const bytes = Buffer.allocUnsafe(2 * samples.length)
  for (const [at, sample] of samples.entries()) {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 0x7fff), 2 * at)
  }
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(recordingFd + 1 + channel, bytes, written)
  }
}

const extract = async (): Promise<number> => {
  let resamplers: Resampler[] = []
  for await (const { channels, sampleRate } of decodeFile(recordingFd)) {
    checkMemory()
    // The process must notice when its parent has exited.
    await setImmediate()
    if ((channels[0]?.length ?? 0) === 0) continue
    if (resamplers.length === 0) resamplers = channels.map(() => openResampler(sampleRate, extractedRate))
    if (channels.length !== resamplers.length || channels.length > mostChannels) {
      throw new Undecodable('The recording has an unexpected number of channels.')
    }
    for (const [channel, samples] of channels.entries()) write(channel, resamplers[channel]?.push(samples) ?? samples)
  }
  for (const [channel, resampler] of resamplers.entries()) write(channel, resampler.end())
  return resamplers.length
}

const reply = (message: ExtractionReply): void => {
  process.send?.(message, () => process.exit(0))
}

extract().then(
  (channels) => reply({ channels }),
  (error: unknown) => {
    if (error instanceof Undecodable) return reply({ undecodable: error.message })
    return reply({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  },
)
