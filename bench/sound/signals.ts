// Plants faults and signals in calls: clipping, dropouts, keys, tones, beeps, hold music, and ends that are cut off.

import type { Mark, MarkKind } from '../../server/sound/measures/marks.ts'
import { type SeededRandom, seededRandom } from '../../test/malformed.ts'
import { speechRate } from '../../test/support/recordings.ts'
import type { Call, Utterance } from './corpus.ts'

type Planted = { kind: MarkKind; channel: 0 | 1; startMs: number; endMs: number; digits?: string }
type Marked = { channels: Call['channels']; planted: Planted[]; minutes: number }

const samplesOf = (ms: number): number => Math.round((ms * speechRate) / 1_000)

const sines = (frequencies: number[], ms: number, amplitude: number): Float32Array =>
  Float32Array.from({ length: samplesOf(ms) }, (_, at) =>
    frequencies.reduce((sum, frequency) => sum + amplitude * Math.sin((2 * Math.PI * frequency * at) / speechRate), 0),
  )

const add = (channel: Float32Array, sound: Float32Array, startMs: number): void => {
  const start = samplesOf(startMs)
  sound.forEach((sample, at) => {
    if (start + at < channel.length) channel[start + at] = (channel[start + at] as number) + sample
  })
}

const keys = '123A456B789C*0#D'
const [rows, columns] = [
  [697, 770, 852, 941],
  [1_209, 1_336, 1_477, 1_633],
]
const pair = (key: number): number[] => [rows?.[Math.floor(key / 4)] ?? 0, columns?.[key % 4] ?? 0]

type Plant = (context: {
  own: Float32Array
  random: SeededRandom
  /** When the channel speaks, and when only the other one does. */
  speaking: Utterance
  listening: Utterance
}) => Omit<Planted, 'channel'> | undefined

/** The middle of the other side's utterance. */
const middleOf = ({ startMs, endMs }: Utterance): number => (startMs + endMs) / 2

const plantKeys: Plant = ({ own, random, listening }) => {
  const [onMs, offMs, count] = [60 + random.below(60), 60 + random.below(60), 4]
  const startMs = middleOf(listening) - 450
  let digits = ''
  for (let index = 0; index < count; index++) {
    const key = random.below(16)
    digits += keys[key]
    add(own, sines(pair(key), onMs, 0.15), startMs + index * (onMs + offMs))
  }
  return { kind: 'dtmf', startMs, endMs: startMs + count * (onMs + offMs), digits }
}

const plantBeep: Plant = ({ own, random, listening }) => {
  const [startMs, lengthMs] = [middleOf(listening) - 300, 200 + random.below(600)]
  add(own, sines([400 + random.below(1_600)], lengthMs, 0.2), startMs)
  return { kind: 'beep', startMs, endMs: startMs + lengthMs }
}

const signals: [frequencies: number[], onMs: number, offMs: number][] = [
  [[480, 620], 500, 500],
  [[440, 480], 800, 400],
  [[425], 400, 400],
]

const plantTone: Plant = ({ own, random, listening }) => {
  const [frequencies, onMs, offMs] = random.pick(signals)
  const startMs = middleOf(listening) - 700
  for (let index = 0; index < 2; index++) add(own, sines(frequencies, onMs, 0.12), startMs + index * (onMs + offMs))
  return { kind: 'tone', startMs, endMs: startMs + 2 * onMs + offMs }
}

const plantClipping: Plant = ({ own, speaking }) => {
  const [startMs, lengthMs] = [middleOf(speaking), 300]
  for (let at = samplesOf(startMs); at < samplesOf(startMs + lengthMs); at++) {
    own[at] = Math.max(-1, Math.min(1, 12 * (own[at] as number)))
  }
  return { kind: 'clipping', startMs, endMs: startMs + lengthMs }
}

/** A gap that begins and ends in loud speech, because other gaps can't be heard. */
const loud = 0.06

const plantDropout: Plant = ({ own, random, speaking }) => {
  const length = samplesOf(30 + random.below(150))
  for (let start = samplesOf(speaking.startMs + 200); start < samplesOf(speaking.endMs - 400); start += 7) {
    const isLoud = (at: number) => Math.abs(own[at] ?? 0) > loud
    if (!isLoud(start - 1) || !isLoud(start + length)) continue
    own.fill(0, start, start + length)
    return { kind: 'dropout', startMs: (start * 1_000) / speechRate, endMs: ((start + length) * 1_000) / speechRate }
  }
  return undefined
}

const plants: Plant[] = [plantKeys, plantBeep, plantTone, plantClipping, plantDropout]

const chords = [
  [262, 330, 392, 523],
  [220, 262, 330, 440],
  [247, 294, 392, 494],
  [175, 262, 349, 440],
]

/** Music of chords with three harmonics that fade away. */
const music = (seconds: number): Float32Array => {
  const beats = Array.from({ length: seconds * 2 }, (_, beat) => {
    const notes = (chords[Math.floor(beat / 4) % chords.length] ?? []).flatMap((note) => [note, 2 * note, 3 * note])
    return sines(notes, 500, 0.02).map((sample, at) => sample * Math.exp((-2 * at) / speechRate))
  })
  return Float32Array.from(beats.flatMap((beat) => [...beat]))
}

const musicSeconds = 15

/**
 * Synthesized speech contains digital silence within words, which no microphone records. This noise is 65 dB below full
 * scale.
 */
const microphoneNoise = 1e-3

const powerOf = (samples: Float32Array): number =>
  samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length)

/** Returns where a line is cut off: after its middle, and in a loud sound, because a cut in a pause can't be heard. */
const cutOf = (line: Float32Array): number => {
  const window = samplesOf(100)
  for (let end = Math.round(line.length / 2); end < line.length; end += window) {
    if (powerOf(line.subarray(end - window, end)) >= powerOf(line)) return end
  }
  return line.length
}

/** Plants one of each kind in both channels, with music in only one of them, and cuts off half of the calls. */
export const plant = (call: Call, seed: number): Marked => {
  const random = seededRandom(seed)
  const musicChannel = (seed % 2) as 0 | 1
  const isCut = seed % 4 < 2
  const length = (call.channels[0]?.length ?? 0) + samplesOf((musicSeconds + 4) * 1_000)
  const channels = call.channels.map((samples) => {
    const longer = new Float32Array(length)
    longer.set(samples)
    return longer.map((sample) => sample + microphoneNoise * (random.below(2_001) / 1_000 - 1))
  }) as Call['channels']
  const planted: Planted[] = []
  for (const channel of [0, 1] as const) {
    const said = call.utterances.filter((utterance) => utterance.channel === channel)
    const heard = call.utterances.filter((utterance) => utterance.channel !== channel)
    plants.forEach((plantOne, index) => {
      const [speaking, listening] = [said[index], heard[index]]
      if (!speaking || !listening) return
      const made = plantOne({ own: channels[channel], random, speaking, listening })
      if (made) planted.push({ ...made, channel })
    })
  }
  const startMs = ((call.channels[0]?.length ?? 0) * 1_000) / speechRate
  const endMs = startMs + musicSeconds * 1_000
  add(channels[musicChannel], music(musicSeconds), startMs)
  planted.push({ kind: 'hold_music', channel: musicChannel, startMs, endMs })
  const last = call.utterances.at(-1)
  if (last) {
    // The last line is repeated after the music, and cut off.
    const line = call.channels[last.channel].slice(samplesOf(last.startMs), samplesOf(last.endMs))
    const kept = isCut ? line.slice(0, cutOf(line)) : line
    const lineMs = (kept.length * 1_000) / speechRate
    add(channels[last.channel], kept, endMs + 500)
    const total = samplesOf(endMs + 500 + lineMs + (isCut ? 0 : 1_000))
    if (isCut) {
      planted.push({ kind: 'cut_off', channel: last.channel, startMs: endMs + 500, endMs: endMs + 500 + lineMs })
    }
    const cut = channels.map((samples) => samples.subarray(0, total)) as Call['channels']
    return { channels: cut, planted, minutes: total / speechRate / 60 }
  }
  return { channels, planted, minutes: length / speechRate / 60 }
}

export type Detection = { planted: number; found: number; wrongDigits: number; invented: number }

const touches = (mark: Mark, { startMs, endMs }: Planted): boolean =>
  mark.startMs < endMs + 100 && mark.endMs > startMs - 100

/** Counts the planted signals of a kind that were found, and the marks that match none of them. */
export const detect = (kind: MarkKind, planted: Planted[], marks: Mark[][], detection: Detection): void => {
  for (const channel of [0, 1] as const) {
    const truth = planted.filter((each) => each.kind === kind && each.channel === channel)
    const found = (marks[channel] ?? []).filter((mark) => mark.kind === kind)
    detection.planted += truth.length
    for (const each of truth) {
      const near = found.filter((mark) => touches(mark, each))
      if (near.length > 0) detection.found++
      if (each.digits !== undefined && near.map(({ digits }) => digits).join('') !== each.digits)
        detection.wrongDigits++
    }
    detection.invented += found.filter((mark) => !truth.some((each) => touches(mark, each))).length
  }
}
