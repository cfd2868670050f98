import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type SeededRandom, seededRandom } from '../../test/malformed.ts'
import {
  type Spoken,
  speak,
  speechRate,
  toFlac,
  toMp3,
  toOggOpus,
  toVorbis,
  toWav,
  toWebM,
  wavFormats,
} from '../../test/support/recordings.ts'
import { openNamelessFile } from '../platform/nameless-file.ts'
import { Undecodable } from './decoding/decode.ts'
import { type MeasuredFile, measureFile } from './measure-file.ts'
import { findTurnTaking } from './measures/turn-taking.ts'

const measure = async (content: Buffer): Promise<MeasuredFile> => {
  const file = await openNamelessFile()
  try {
    await file.appendFile(content)
    return await measureFile(file.fd, { onBlock: () => {} })
  } finally {
    await file.close()
  }
}

const call = speak([
  { channel: 0, text: 'Hello, this is the clinic, how can I help you today?', startMs: 500 },
  { channel: 1, text: 'I would like to move my appointment to next Friday please.', startMs: 5_000 },
  { channel: 0, text: 'I can offer you ten thirty in the morning.', startMs: 9_700 },
  { channel: 1, text: 'That works. Thank you.', startMs: 13_000 },
])

/** Returns a number between -1 and 1. */
const noiseOf = (random: SeededRandom): number => random.below(2_001) / 1_000 - 1

/** The maximum distance of an edge from the true one. */
const toleranceMs = 150

/** Expects that the measured speech begins and ends with each line. */
const expectSpeech = ({ channels }: MeasuredFile, { lines }: Spoken) => {
  for (const { channel, startMs, endMs } of lines) {
    const inside = channels[channel]?.segments.filter((segment) => segment.endMs > startMs && segment.startMs < endMs)
    expect(Math.abs((inside?.[0]?.startMs ?? 0) - startMs)).toBeLessThan(toleranceMs)
    expect(Math.abs((inside?.at(-1)?.endMs ?? 0) - endMs)).toBeLessThan(toleranceMs)
  }
}

const formats: [name: string, encode: (channels: Float32Array[]) => Promise<Buffer> | Buffer][] = [
  ...Object.entries(wavFormats).map(([name, format]): (typeof formats)[number] => [
    `WAV (${name})`,
    (channels) => toWav(channels, format),
  ]),
  ['MP3', toMp3],
  ['FLAC', toFlac],
  ['Ogg Vorbis', toVorbis],
  ['Ogg Opus', toOggOpus],
  ['WebM Opus', toWebM],
]

describe('finds the same speech in', () => {
  it.each(formats)('%s', async (_name, encode) => {
    const measured = await measure(await encode(call.channels))
    expect(measured.channels).toHaveLength(2)
    expect(Math.abs(measured.durationMs - call.durationMs)).toBeLessThan(100)
    expectSpeech(measured, call)
  })

  it('a recording with one channel', async () => {
    const [first, second] = call.channels as [Float32Array, Float32Array]
    const measured = await measure(toWav([first.map((sample, at) => sample + (second[at] as number))]))
    expect(measured.channels).toHaveLength(1)
    const both = { ...call, lines: call.lines.map((line) => ({ ...line, channel: 0 as const })) }
    expectSpeech(measured, both)
  })

  it.each([0.002, 0.01, 0.03])('noise of amplitude %s', async (amplitude) => {
    const random = seededRandom(7)
    const noisy = call.channels.map((samples) => samples.map((sample) => sample + noiseOf(random) * amplitude))
    const measured = await measure(
      toWav(noisy.map((samples) => samples.map((sample) => Math.max(-1, Math.min(1, sample))))),
    )
    expectSpeech(measured, call)
  })
})

it('measures the silence before each response', async () => {
  const { channels } = await measure(toWav(call.channels))
  const [first, second] = channels.map(({ segments }) => segments)
  const { gaps, talkOver } = findTurnTaking([first ?? [], second ?? []])
  const truth = call.lines.slice(1).map((line, index) => line.startMs - (call.lines[index]?.endMs ?? 0))
  expect(talkOver).toEqual([])
  expect(gaps).toHaveLength(truth.length)
  for (const [index, { startMs, endMs }] of gaps.entries()) {
    expect(Math.abs(endMs - startMs - (truth[index] ?? 0))).toBeLessThan(toleranceMs)
  }
})

it.each([-20, -40])('does not take an echo of %s dB for speech', async (levelDb) => {
  const delay = Math.round(0.12 * speechRate)
  const share = 10 ** (levelDb / 20)
  const [first, second] = call.channels as [Float32Array, Float32Array]
  const add = (own: Float32Array, other: Float32Array) =>
    own.map((sample, at) => sample + share * (other[at - delay] ?? 0))
  const measured = await measure(toWav([add(first, second), add(second, first)]))
  expectSpeech(measured, call)
  const spokenMs = (channel: 0 | 1) =>
    call.lines.reduce((total, line) => total + (line.channel === channel ? line.endMs - line.startMs : 0), 0)
  for (const channel of [0, 1] as const) {
    const foundMs = measured.channels[channel]?.segments.reduce(
      (total, { startMs, endMs }) => total + endMs - startMs,
      0,
    )
    expect(Math.abs((foundMs ?? 0) - spokenMs(channel))).toBeLessThan(800)
  }
})

it('finds no speech in noise, tones, and silence', async () => {
  const random = seededRandom(3)
  const seconds = 10
  const noise = Float32Array.from({ length: seconds * speechRate }, () => noiseOf(random) * 0.1)
  const tone = noise.map((_, at) => 0.3 * Math.sin((2 * Math.PI * 440 * at) / speechRate))
  for (const samples of [noise, tone, new Float32Array(noise.length)]) {
    const { channels } = await measure(toWav([samples]))
    expect(channels[0]?.segments).toEqual([])
    expect(channels[0]?.speechDb).toBeNull()
  }
})

it('finds clipping and dropouts at their places', async () => {
  const tone = (at: number) => 0.5 * Math.sin((2 * Math.PI * 200 * at) / speechRate)
  const samples = Float32Array.from({ length: 4 * speechRate }, (_, at) => tone(at))
  const at = (seconds: number) => Math.round(seconds * speechRate)
  // A quarter of the wave is loudest there.
  const peak = at(1) + Math.round(speechRate / 800)
  samples.fill(1, peak, peak + 20)
  samples.fill(0, at(2) + 25, at(2.1) + 25)
  const { channels } = await measure(toWav([samples]))
  const [measured] = channels
  expect(measured?.clippedSamples).toBe(20)
  expect(measured?.clipped).toHaveLength(1)
  expect(Math.round(measured?.clipped[0]?.startMs ?? 0)).toBe(Math.round((peak / speechRate) * 1_000))
  expect(measured?.peakDb).toBeCloseTo(0, 1)
  expect(measured?.dropouts).toHaveLength(1)
  expect(Math.abs((measured?.dropouts[0]?.startMs ?? 0) - 2_001)).toBeLessThan(3)
})

describe('says why a file cannot be measured:', () => {
  it.each([
    ['text', Buffer.from('this is not audio at all')],
    ['nothing', Buffer.alloc(0)],
    ['a header without samples', toWav([new Float32Array(), new Float32Array()])],
    ['more than two channels', toWav([1, 2, 3].map(() => new Float32Array(800)))],
    ['an impossible sample rate', toWav([new Float32Array(800)], wavFormats.s16, 100)],
  ])('%s', async (_name, content) => {
    await expect(measure(content)).rejects.toThrow(Undecodable)
  })
})

it('survives damaged files', { timeout: 120_000 }, async () => {
  // Decoders report damage there.
  const report = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => report.mockRestore())
  const random = seededRandom(11)
  const short = call.channels.map((samples) => samples.subarray(0, 2 * speechRate))
  for (const [, encode] of formats) {
    const content = await encode(short)
    for (let damage = 0; damage < 6; damage++) {
      const damaged = Buffer.from(content.subarray(0, random.below(content.length)))
      for (let byte = 0; byte < 20; byte++) damaged[random.below(damaged.length)] = random.below(256)
      const outcome = await measure(damaged).catch((error: unknown) => error)
      if (outcome instanceof Error) expect(outcome).toBeInstanceOf(Undecodable)
      else expect(outcome).toMatchObject({ durationMs: expect.any(Number) })
    }
  }
})
