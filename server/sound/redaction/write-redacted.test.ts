import type { FileHandle } from 'node:fs/promises'
import { expect, it, onTestFinished } from 'vitest'
import {
  speak,
  speechRate,
  toFlac,
  toMp3,
  toOggOpus,
  toVorbis,
  toWav,
  toWebM,
  wavFormats,
} from '../../../test/support/recordings.ts'
import { openNamelessFile } from '../../platform/nameless-file.ts'
import { decodeFile, Undecodable } from '../decoding/decode.ts'
import { measureFile } from '../measure-file.ts'
import { type RedactionOrder, writeRedacted } from './write-redacted.ts'

const { channels } = speak([
  { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 300 },
  { channel: 1, text: 'Please call me back. My number is five five five, oh one nine nine.', startMs: 3_900 },
  { channel: 0, text: 'Thank you. We will call you.', startMs: 9_000 },
])

const openFile = async (content?: Buffer): Promise<FileHandle> => {
  const file = await openNamelessFile()
  onTestFinished(() => file.close())
  if (content) await file.appendFile(content)
  return file
}

/** Returns all samples of an open file and its sample rate. */
const decode = async ({ fd }: FileHandle) => {
  const parts: Float32Array[][] = []
  let rate = 0
  for await (const block of decodeFile(fd)) {
    rate = block.sampleRate
    for (const [channel, samples] of block.channels.entries()) {
      parts[channel] = [...(parts[channel] ?? []), samples.slice()]
    }
  }
  return { rate, channels: parts.map((each) => Float32Array.from(each.flatMap((samples) => [...samples]))) }
}

const redact = async (content: Buffer, order: RedactionOrder) => {
  const [from, to] = [await openFile(content), await openFile()]
  await writeRedacted({ from: from.fd, to: to.fd }, order, { onBlock: () => {} })
  return { original: await decode(from), redacted: await decode(to), file: to }
}

const spans: RedactionOrder['spans'] = [
  [0, 250],
  [5_000, 8_500],
]

/** Calls a function with each sample, and whether it is within a span. */
const eachSample = (rate: number, length: number, check: (at: number, isWithin: boolean) => void): void => {
  for (let at = 0; at < length; at++) {
    const ms = (at * 1_000) / rate
    check(
      at,
      spans.some(([startMs, endMs]) => ms >= startMs && ms < endMs),
    )
  }
}

/** A 16-bit sample. */
const step = 1 / 0x8000

it.each([
  ['WAV', toWav(channels)],
  ['μ-law', toWav(channels, wavFormats.ulaw)],
  ['24 bits', toWav(channels, wavFormats.s24)],
  ['one channel', toWav(channels.slice(1))],
  ['MP3', await toMp3(channels)],
  ['FLAC', await toFlac(channels)],
  ['Vorbis', await toVorbis(channels)],
  ['Opus', await toOggOpus(channels)],
  ['WebM', await toWebM(channels)],
])('mutes the spans of a recording in %s, and keeps all other samples', async (_format, content) => {
  const { original, redacted } = await redact(content, { spans, sound: 'mute' })
  expect(redacted.rate).toBe(original.rate)
  expect(redacted.channels.length).toBe(original.channels.length)
  for (const [channel, samples] of original.channels.entries()) {
    const copy = redacted.channels[channel] ?? new Float32Array()
    expect(copy.length).toBe(samples.length)
    let [loudest, farthest] = [0, 0]
    eachSample(original.rate, samples.length, (at, isWithin) => {
      const value = copy[at] ?? Number.NaN
      if (isWithin) loudest = Math.max(loudest, Math.abs(value))
      else farthest = Math.max(farthest, Math.abs(value - (samples[at] ?? 0)))
    })
    expect(loudest).toBe(0)
    expect(farthest).toBeLessThanOrEqual(step)
  }
})

it('copies samples of 16 bits exactly', async () => {
  const { original, redacted } = await redact(toWav(channels), { spans: [], sound: 'mute' })
  expect(redacted).toEqual(original)
})

it('replaces the spans by a tone in all channels', async () => {
  const { original, redacted } = await redact(toWav(channels), { spans, sound: 'beep' })
  const [first, second] = redacted.channels
  const [from, to] = [5_000, 8_500].map((ms) => (ms * speechRate) / 1_000) as [number, number]
  const tone = first?.slice(from, to) ?? new Float32Array()
  expect(second?.slice(from, to)).toEqual(tone)
  // No speech is left: the spectrum has a single frequency.
  const [inPhase, quadrature] = [Math.cos, Math.sin].map((wave) =>
    tone.reduce((sum, value, at) => sum + value * wave((2 * Math.PI * 1_000 * (at + from)) / speechRate), 0),
  ) as [number, number]
  const energy = tone.reduce((sum, value) => sum + value * value, 0)
  expect((2 * (inPhase ** 2 + quadrature ** 2)) / (tone.length * energy)).toBeGreaterThan(0.99)
  expect(Math.max(...tone)).toBeLessThan(0.11)
  // The tone fades in and out.
  expect(Math.abs(tone[0] ?? 1)).toBe(0)
  expect(first?.slice(to)).toEqual(original.channels[0]?.slice(to))
})

it('leaves no speech in the spans', async () => {
  const { original, file } = await redact(toWav(channels), { spans, sound: 'mute' })
  const speechWithin = ({ channels: all }: Awaited<ReturnType<typeof measureFile>>) =>
    all.flatMap(({ segments }) => segments).filter(({ startMs, endMs }) => startMs < 8_400 && endMs > 5_100)
  const from = await openFile(toWav(original.channels))
  expect(speechWithin(await measureFile(from.fd, { onBlock: () => {} }))).not.toEqual([])
  expect(speechWithin(await measureFile(file.fd, { onBlock: () => {} }))).toEqual([])
})

it('copies nothing except samples', async () => {
  const secret = 'call 555-010-0199'
  const content = toWav(channels)
  const comment = Buffer.alloc(8 + secret.length + 1)
  comment.write('LIST')
  comment.writeUInt32LE(secret.length + 1, 4)
  comment.write(secret, 8)
  const { file } = await redact(Buffer.concat([content, comment]), { spans, sound: 'mute' })
  const copy = await file.readFile()
  expect(content.length).toBe(copy.length)
  expect(copy.includes(secret)).toBe(false)
})

it('refuses what cannot be decoded', async () => {
  const [from, to] = [await openFile(Buffer.from('no sound, but long enough to be read')), await openFile()]
  const writing = writeRedacted({ from: from.fd, to: to.fd }, { spans, sound: 'mute' }, { onBlock: () => {} })
  await expect(writing).rejects.toThrow(Undecodable)
})
