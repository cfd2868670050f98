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
import type { Mark, MarkKind } from './measures/marks.ts'
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

/** The maximum distance between a measured edge and the true one. */
const toleranceMs = 150

/** Expects the measured speech to begin and end with each line. */
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
  // A quarter of the waveform is loudest there.
  const peak = at(1) + Math.round(speechRate / 800)
  samples.fill(1, peak, peak + 20)
  samples.fill(0, at(2) + 25, at(2.1) + 25)
  const { channels } = await measure(toWav([samples]))
  const [measured] = channels
  expect(measured?.clippedSamples).toBe(20)
  const ofKind = (wanted: MarkKind) => measured?.marks.filter(({ kind }) => kind === wanted) ?? []
  const [clipping, ...otherClipping] = ofKind('clipping')
  expect(Math.round(clipping?.startMs ?? 0)).toBe(Math.round((peak / speechRate) * 1_000))
  expect(otherClipping).toEqual([])
  expect(measured?.peakDb).toBeCloseTo(0, 1)
  const [dropout, ...otherDropouts] = ofKind('dropout')
  expect(Math.abs((dropout?.startMs ?? 0) - 2_001)).toBeLessThan(3)
  expect(otherDropouts).toEqual([])
  expect(measured?.counts).toMatchObject({ clipping: 1, dropout: 1 })
  // The gap is already known as a dropout.
  expect(ofKind('packet_gap')).toEqual([])
})

/** Returns a sum of sines, each with the same amplitude. */
const tonesOf = (frequencies: number[], seconds: number, amplitude = 0.2): Float32Array =>
  Float32Array.from({ length: Math.round(seconds * speechRate) }, (_, at) =>
    frequencies.reduce((sum, frequency) => sum + amplitude * Math.sin((2 * Math.PI * frequency * at) / speechRate), 0),
  )

const silence = (seconds: number): Float32Array => new Float32Array(Math.round(seconds * speechRate))

const joined = (parts: Float32Array[]): Float32Array => Float32Array.from(parts.flatMap((part) => [...part]))

const [agentSpeech, customerSpeech] = call.channels as [Float32Array, Float32Array]

it('finds clipping in μ-law, which cannot hold the full scale', async () => {
  const samples = tonesOf([200], 1, 0.5)
  samples.fill(1, 6_000, 6_020)
  const { channels } = await measure(toWav([samples], wavFormats.ulaw))
  expect(channels[0]?.clippedSamples).toBe(20)
})

/** Returns the marks of a one-channel recording in each of these formats. */
const marksIn = async (samples: Float32Array): Promise<Mark[][]> => {
  const files = [toWav([samples]), toWav([samples], wavFormats.ulaw), await toMp3([samples])]
  const measured: Mark[][] = []
  for (const file of files) {
    const { channels } = await measure(file)
    measured.push(channels[0]?.marks.filter(({ kind }) => kind !== 'packet_gap') ?? [])
  }
  return measured
}

const expectNear = (mark: Mark | undefined, startSeconds: number, endSeconds: number, toleranceMs = 70) => {
  expect(Math.abs((mark?.startMs ?? 0) - startSeconds * 1_000)).toBeLessThan(toleranceMs)
  expect(Math.abs((mark?.endMs ?? 0) - endSeconds * 1_000)).toBeLessThan(toleranceMs)
}

describe('finds', () => {
  it('telephone keys, with their digits', async () => {
    const pressed = [
      [941, 1_209],
      [770, 1_477],
      [770, 1_477],
      [852, 1_209],
      [941, 1_477],
    ]
    const keys = pressed.flatMap((frequencies) => [tonesOf(frequencies, 0.08), silence(0.08)])
    for (const marks of await marksIn(joined([agentSpeech, ...keys, silence(1)]))) {
      expect(marks).toMatchObject([{ kind: 'dtmf', digits: '*667#' }])
      const startSeconds = agentSpeech.length / speechRate
      expectNear(marks[0], startSeconds, startSeconds + 0.72, 60)
    }
  })

  it('the beep of a mailbox', async () => {
    const greeting = agentSpeech.subarray(0, 4 * speechRate)
    for (const marks of await marksIn(joined([greeting, tonesOf([1_000], 0.4), silence(3)]))) {
      expect(marks).toMatchObject([{ kind: 'beep', confidence: 1 }])
      expectNear(marks[0], 4, 4.4)
    }
  })

  it.each([
    ['ringing', [440, 480], 2, 4],
    ['busy signals', [480, 620], 0.5, 0.5],
    ['European signals', [425], 0.4, 0.6],
  ])('%s', async (_name, frequencies, onSeconds, offSeconds) => {
    const signal = [tonesOf(frequencies, onSeconds), silence(offSeconds)]
    for (const marks of await marksIn(joined([...signal, ...signal, ...signal]))) {
      expect(new Set(marks.map(({ kind }) => kind))).toEqual(new Set(['tone']))
      expect(marks).toHaveLength(3)
      expectNear(marks[1], onSeconds + offSeconds, 2 * onSeconds + offSeconds)
    }
  })

  it('hold music', async () => {
    // A chord of four notes with three harmonics each that fade away, twice per second.
    const chords = [
      [262, 330, 392, 523],
      [294, 349, 440, 587],
      [247, 294, 392, 494],
    ]
    const played = Array.from({ length: 40 }, (_, beat) => {
      const notes = (chords[Math.floor(beat / 4) % chords.length] ?? []).flatMap((note) => [note, 2 * note, 3 * note])
      return tonesOf(notes, 0.5, 0.03).map((sample, at) => sample * Math.exp((-2 * at) / speechRate))
    })
    for (const marks of await marksIn(joined([agentSpeech.subarray(0, 4 * speechRate), ...played, silence(2)]))) {
      const music = marks.filter(({ kind }) => kind === 'hold_music')
      expect(music).toHaveLength(1)
      expectNear(music[0], 4, 24, 1_500)
      expect(music[0]?.confidence).toBeGreaterThan(0.6)
    }
  })

  it('speech that is cut off', async () => {
    const [line] = call.lines
    const middle = Math.round((((line?.startMs ?? 0) + 1_200) / 1_000) * speechRate)
    for (const marks of await marksIn(agentSpeech.subarray(0, middle))) {
      expect(marks.map(({ kind }) => kind)).toEqual(['cut_off'])
    }
  })

  it.each(['nothing', 'music'])('gaps of lost packets where a codec has filled them, before %s', async (after) => {
    const random = seededRandom(5)
    const tail = after === 'music' ? tonesOf([330, 415, 494], 8, 0.05) : silence(0)
    const noisy = joined([agentSpeech, silence(2), tail]).map((sample) => sample + noiseOf(random) * 0.003)
    const lost = Array.from({ length: 12 }, (_, index) => 0.8 + 0.2 * index)
    for (const seconds of lost) {
      const start = Math.round(seconds * speechRate)
      for (let at = start; at < start + 0.04 * speechRate; at++) noisy[at] = noiseOf(random) * 0.0003
    }
    const { channels } = await measure(toWav([noisy], wavFormats.ulaw))
    const gaps = channels[0]?.marks.filter(({ kind }) => kind === 'packet_gap') ?? []
    // The other dropouts are in quiet moments, where nobody hears them.
    expect(gaps.length).toBeGreaterThanOrEqual(3)
    for (const { startMs } of gaps) {
      expect(lost.some((seconds) => Math.abs(startMs - seconds * 1_000) < 20)).toBe(true)
    }
  })
})

it('finds no signals in speech', async () => {
  for (const samples of [agentSpeech, customerSpeech]) {
    for (const marks of await marksIn(samples)) {
      // Unlike the plosives of people, synthesized ones follow digital silence.
      expect(marks.filter(({ kind }) => kind !== 'dropout')).toEqual([])
    }
  }
})

it.each([-20, -30])('measures an echo of %d dB', async (levelDb) => {
  const delay = Math.round(0.12 * speechRate)
  const random = seededRandom(9)
  const share = 10 ** (levelDb / 20)
  const withEcho = customerSpeech.map(
    (sample, at) => sample + share * (agentSpeech[at - delay] ?? 0) + noiseOf(random) * 0.0003,
  )
  const { channels } = await measure(toWav([agentSpeech, withEcho]))
  expect(channels[0]?.echo).toBeNull()
  expect(Math.abs((channels[1]?.echo?.db ?? 0) - levelDb)).toBeLessThan(3)
})

it('measures no echo without one', async () => {
  const random = seededRandom(9)
  const noisy = call.channels.map((samples) => samples.map((sample) => sample + noiseOf(random) * 0.003))
  const { channels } = await measure(toWav(noisy))
  expect(channels.map(({ echo }) => echo)).toEqual([null, null])
})

it('measures the loudness of each channel and of both', async () => {
  const [loud, quiet] = [tonesOf([1_000], 5, 0.1), tonesOf([1_000], 5, 0.01)]
  const { channels, loudnessLufs, loudnessRangeLu } = await measure(toWav([loud, quiet]))
  // A sine of -20 dBFS in one of two channels.
  expect(channels[0]?.loudnessLufs).toBeCloseTo(-23, 1)
  expect(channels[1]?.loudnessLufs).toBeCloseTo(-43, 1)
  expect(loudnessLufs).toBeCloseTo(-22.97, 1)
  expect(loudnessRangeLu).toBeCloseTo(0, 1)
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
  // Decoders report damage at that position.
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
