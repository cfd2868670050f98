// Decodes one recording in its own process and writes the samples of each channel to open files.

import { writeSync } from 'node:fs'
import { readBlocks } from './decoding/read-blocks.ts'
import { openResampler, type Resampler } from './decoding/resample.ts'
import { extractedRate } from './extracted-rate.ts'
import { recordingFd, replyWith } from './reply.ts'

/** Writes samples as 16-bit integers. In the list of open files, those of the channels follow the recording. */
const write = (channel: number, samples: Float32Array): void => {
  const bytes = Buffer.allocUnsafe(2 * samples.length)
  for (const [at, sample] of samples.entries()) {
    bytes.writeInt16LE(Math.round(Math.max(-1, Math.min(1, sample)) * 0x7fff), 2 * at)
  }
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(recordingFd + 1 + channel, bytes, written)
  }
}

/** Returns the number of channels. */
const extract = async (options: { onBlock: () => void }): Promise<number> => {
  let resamplers: Resampler[] = []
  for await (const { channels, sampleRate } of readBlocks(recordingFd, options)) {
    if (resamplers.length === 0) resamplers = channels.map(() => openResampler(sampleRate, extractedRate))
    for (const [channel, samples] of channels.entries()) write(channel, resamplers[channel]?.push(samples) ?? samples)
  }
  for (const [channel, resampler] of resamplers.entries()) write(channel, resampler.end())
  return resamplers.length
}

replyWith(extract)
