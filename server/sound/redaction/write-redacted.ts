import { writeSync } from 'node:fs'
import type { RedactedSpan } from '../../conversations/recordings/queries.ts'
import { Undecodable } from '../decoding/decode.ts'
import { readBlocks } from '../decoding/read-blocks.ts'

/**
 * Writes a recording as a 16-bit WAV file. Only samples are copied, so nothing else from the original remains, such as
 * titles or comments. Samples outside the spans are those of the decoded original.
 */

export type RedactionOrder = {
  /** Sorted and without overlaps. */
  spans: RedactedSpan[]
  sound: 'mute' | 'beep'
}

const headerBytes = 44
const sampleBytes = 2
/** Sizes in the header have 32 bits. */
const mostBytes = 0xffff_ffff - headerBytes

const headerOf = (channels: number, rate: number, bytes: number): Buffer => {
  const frame = channels * sampleBytes
  const header = Buffer.alloc(headerBytes)
  header.write('RIFF', 0)
  header.writeUInt32LE(headerBytes - 8 + bytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(rate, 24)
  header.writeUInt32LE(rate * frame, 28)
  header.writeUInt16LE(frame, 32)
  header.writeUInt16LE(8 * sampleBytes, 34)
  header.write('data', 36)
  header.writeUInt32LE(bytes, 40)
  return header
}

/** A sample to replace: its distances from the start and the end of its span, in samples. */
type Redacted = { start: number; end: number }

/** Returns the span of each sample, if it has one. Samples must be given in order. */
const openSpans = (spans: RedactedSpan[], rate: number) => {
  const ranges = spans.map(([startMs, endMs]) => ({
    start: Math.floor((startMs * rate) / 1_000),
    end: Math.ceil((endMs * rate) / 1_000),
  }))
  let next = 0
  return (sample: number): Redacted | undefined => {
    while (sample >= (ranges[next]?.end ?? Number.POSITIVE_INFINITY)) next++
    const range = ranges[next]
    return range && sample >= range.start ? range : undefined
  }
}

const toneHz = 1_000
const toneLevel = 0.1
const fadeSeconds = 0.01

/** Returns a sample of a tone that fades in and out within its span, so that it doesn't click. */
const toneAt = (sample: number, { start, end }: Redacted, rate: number): number => {
  const edge = Math.min(sample - start, end - 1 - sample) / (fadeSeconds * rate)
  return toneLevel * Math.min(1, edge) * Math.sin((2 * Math.PI * toneHz * sample) / rate)
}

const toInt16 = (value: number): number => Math.max(-0x8000, Math.min(0x7fff, Math.round(value * 0x8000)))

export const writeRedacted = async (
  { from, to }: { from: number; to: number },
  { spans, sound }: RedactionOrder,
  options: { onBlock: () => void },
): Promise<void> => {
  let spanOf: ReturnType<typeof openSpans> | undefined
  let [channelCount, rate, bytes, sample] = [0, 0, 0, 0]
  const replacement = (range: Redacted) => (sound === 'mute' ? 0 : toInt16(toneAt(sample, range, rate)))

  for await (const { channels, sampleRate } of readBlocks(from, options)) {
    spanOf ??= openSpans(spans, sampleRate)
    channelCount = channels.length
    rate = sampleRate
    const length = channels[0]?.length ?? 0
    const samples = new Int16Array(length * channelCount)
    for (let at = 0; at < length; at++, sample++) {
      const range = spanOf(sample)
      const replaced = range && replacement(range)
      for (let channel = 0; channel < channelCount; channel++) {
        samples[at * channelCount + channel] = replaced ?? toInt16(channels[channel]?.[at] ?? 0)
      }
    }
    if (bytes + samples.byteLength > mostBytes) throw new Undecodable('The redacted recording would exceed 4 GiB.')
    writeAll(to, Buffer.from(samples.buffer), headerBytes + bytes)
    bytes += samples.byteLength
  }
  writeAll(to, headerOf(channelCount, rate, bytes), 0)
}

const writeAll = (fd: number, content: Buffer, position: number): void => {
  for (let written = 0; written < content.length; ) {
    written += writeSync(fd, content, written, content.length - written, position + written)
  }
}
