import { quantile } from '../quantile.ts'
import type { Segment } from '../voice/segments.ts'

/** Measures how loud a channel is, while its samples arrive. */

/** Levels are measured in frames of this length. */
export const frameMs = 10
/** The level of silence, and of everything below it. */
export const silentDb = -120

export const decibels = (power: number): number => (power <= 0 ? silentDb : Math.max(silentDb, 10 * Math.log10(power)))

/** A list of numbers that grows without copying each time. */
export const openNumbers = () => {
  let values = new Float32Array(4_096)
  let length = 0
  return {
    push: (value: number): void => {
      if (length === values.length) {
        const larger = new Float32Array(2 * length)
        larger.set(values)
        values = larger
      }
      values[length++] = value
    },
    all: (): Float32Array => values.subarray(0, length),
  }
}

export type FrameMeter = {
  push: (samples: Float32Array) => void
  /** The level of each frame in decibels below full scale. */
  levels: () => Float32Array
}

export const openFrameMeter = (sampleRate: number): FrameMeter => {
  const perFrame = Math.round((sampleRate * frameMs) / 1_000)
  const levels = openNumbers()
  let [sum, count] = [0, 0]
  return {
    push: (samples) => {
      for (const sample of samples) {
        sum += sample * sample
        if (++count < perFrame) continue
        levels.push(decibels(sum / perFrame))
        sum = 0
        count = 0
      }
    },
    levels: levels.all,
  }
}

/** Calls `visit` with each frame and whether it is within a segment. */
const visitFrames = (levels: Float32Array, segments: Segment[], visit: (level: number, isInside: boolean) => void) => {
  let at = 0
  levels.forEach((level, frame) => {
    const middle = (frame + 0.5) * frameMs
    while ((segments[at]?.endMs ?? Number.POSITIVE_INFINITY) <= middle) at++
    visit(level, (segments[at]?.startMs ?? Number.POSITIVE_INFINITY) <= middle)
  })
}

export type Levels = {
  /** The level of the speech, by its mean power. Null without speech. */
  speechDb: number | null
  /** The level of the background, by the median of the frames without speech. Null if there is nothing but speech. */
  noiseDb: number | null
}

export const measureLevels = (levels: Float32Array, segments: Segment[]): Levels => {
  let [power, frames] = [0, 0]
  const background: number[] = []
  visitFrames(levels, segments, (level, isSpeech) => {
    if (isSpeech) {
      power += 10 ** (level / 10)
      frames++
    } else background.push(level)
  })
  return {
    speechDb: frames === 0 ? null : decibels(power / frames),
    noiseDb: quantile(background, 0.5) ?? null,
  }
}
