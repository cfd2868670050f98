import { openResampler } from '../../server/sound/decoding/resample.ts'
import { type SeededRandom, seededRandom } from '../../test/malformed.ts'
import { speechRate, toMp3, toOggOpus, toWav, wavFormats } from '../../test/support/recordings.ts'
import type { Call } from './corpus.ts'

/** Simulates what happens to the sound of calls between a speaker and a file. */

type Channels = Call['channels']

/** Returns a normally distributed number, from the sum of uniform ones. */
const normal = (random: SeededRandom): number => {
  let sum = 0
  for (let count = 0; count < 12; count++) sum += random.below(65_536) / 65_536
  return sum - 6
}

/** Returns the mean power of speech, without the silence between lines. */
const powerOf = (samples: Float32Array): number => {
  const heard = samples.filter((sample) => sample !== 0)
  return heard.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, heard.length)
}

const withNoise =
  (ratioDb: number) =>
  (channels: Channels): Float32Array[] => {
    const random = seededRandom(ratioDb)
    return channels.map((samples) => {
      const amplitude = Math.sqrt(powerOf(samples) / 10 ** (ratioDb / 10))
      return samples.map((sample) => sample + amplitude * normal(random))
    })
  }

const echoMs = 120

/** Adds the other channel to each channel, later and quieter. */
const withEcho =
  (levelDb: number) =>
  ([first, second]: Channels): Float32Array[] => {
    const share = 10 ** (levelDb / 20)
    const delay = Math.round((echoMs * speechRate) / 1_000)
    const add = (own: Float32Array, other: Float32Array) =>
      own.map((sample, at) => sample + share * (other[at - delay] ?? 0))
    return [add(first, second), add(second, first)]
  }

const packetMs = 20

const withLoss =
  (share: number) =>
  (channels: Channels): Float32Array[] => {
    const random = seededRandom(5)
    const packet = Math.round((packetMs * speechRate) / 1_000)
    return channels.map((samples) => {
      const damaged = samples.slice()
      for (let at = 0; at < damaged.length; at += packet) if (random.chance(share)) damaged.fill(0, at, at + packet)
      return damaged
    })
  }

const clipped = (channels: Float32Array[]): Float32Array[] =>
  channels.map((samples) => samples.map((sample) => Math.max(-1, Math.min(1, sample))))

const telephone = (channels: Float32Array[]): Buffer =>
  toWav(clipped(channels.map((samples) => openResampler(speechRate, 8_000).push(samples))), wavFormats.ulaw, 8_000)

type Condition = { name: string; encode: (channels: Channels) => Promise<Buffer> | Buffer }

const damaged = (name: string, damage: (channels: Channels) => Float32Array[]): Condition => ({
  name,
  encode: (channels) => telephone(damage(channels)),
})

/** Sound that arrives as it was spoken. */
export const codings: Condition[] = [
  { name: 'clean', encode: (channels) => toWav(channels) },
  { name: 'μ-law, 8 kHz', encode: telephone },
  { name: 'MP3, 64 kb/s', encode: toMp3 },
  { name: 'Opus', encode: toOggOpus },
]

/** All of these are also telephone calls (μ-law, 8 kHz). */
export const damages: Condition[] = [
  ...[20, 10, 5].map((ratio) => damaged(`noise, ${ratio} dB below speech`, withNoise(ratio))),
  ...[-40, -20].map((level) => damaged(`echo, ${level} dB`, withEcho(level))),
  damaged('5% of packets lost', withLoss(0.05)),
]
