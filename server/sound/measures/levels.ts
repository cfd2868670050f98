import { openNumbers } from '../numbers.ts'
import { quantile } from '../quantile.ts'
import { type Frames, splitLevels } from '../voice/frames.ts'
import type { Segment } from '../voice/segments.ts'

/** Measures the level of a channel while its samples arrive. */

/** Levels are measured in frames of this length. */
export const frameMs = 10
/** The level of silence, and of everything below it. */
export const silentDb = -120

export const decibels = (power: number): number => (power <= 0 ? silentDb : Math.max(silentDb, 10 * Math.log10(power)))

/** Calls `read` with the mean power of each block of this many samples. */
export const openPowerMeter = (length: number, read: (power: number) => void) => {
  let rest = { sum: 0, count: 0 }
  return (samples: Float32Array): void => {
    let { sum, count } = rest
    for (let at = 0; at < samples.length; at++) {
      const sample = samples[at] as number
      sum += sample * sample
      if (++count < length) continue
      read(sum / length)
      sum = 0
      count = 0
    }
    rest = { sum, count }
  }
}

export type FrameMeter = {
  push: (samples: Float32Array) => void
  /** The level of each frame in decibels below full scale. */
  levels: () => Float32Array
}

export const openFrameMeter = (sampleRate: number): FrameMeter => {
  const levels = openNumbers()
  const push = openPowerMeter(Math.round((sampleRate * frameMs) / 1_000), (power) => levels.push(decibels(power)))
  return { push, levels: levels.all }
}

export type Levels = {
  /** The mean power of the speech, as a level. Null without speech. */
  speechDb: number | null
  /** The median level of the frames without speech. Null if there is nothing but speech. */
  noiseDb: number | null
  /** The level of the quietest background: a fifth of the frames without speech are at most this loud. */
  quietDb: number | null
}

export const measureLevels = (frames: Frames, segments: Segment[]): Levels => {
  const { speech, background } = splitLevels(frames, segments)
  const power = speech.reduce((sum, level) => sum + 10 ** (level / 10), 0)
  return {
    speechDb: speech.length === 0 ? null : decibels(power / speech.length),
    noiseDb: quantile(background, 0.5) ?? null,
    quietDb: quantile(background, 0.2) ?? null,
  }
}
