import type { Segment } from '../voice/segments.ts'
import { decibels } from './levels.ts'
import { mostMarks } from './marks.ts'

/** Finds clipping and dropouts while samples arrive at the rate of the file. */

/** This many consecutive samples at the limit of the format count as clipping. */
const clippedInARow = 3
const nearLimit = 0.999
/** Clipped stretches with a shorter gap between them are merged. */
const clippingGapMs = 50

/**
 * A dropout is digital silence that begins and ends in the middle of a sound. Neither speech nor room noise does that.
 */
const silent = 1.5 / 0x8000
const loud = 0.02
/** The length of the sound before and after a dropout that is checked. */
const edgeMs = 1
const [shortestDropoutMs, longestDropoutMs] = [20, 1_500]

export type Faults = {
  peakDb: number
  clippedSamples: number
  clipped: Segment[]
  dropoutCount: number
  dropouts: Segment[]
}

export type FaultMeter = {
  push: (samples: Float32Array) => void
  end: () => Faults
}

/** A silence that counts as a dropout if the sound after it is loud. */
type Silence = { startMs: number; endMs: number; samplesAfter: number }

export const openFaultMeter = (sampleRate: number, fullScale: number): FaultMeter => {
  const limit = nearLimit * fullScale
  const msOf = (samples: number) => (samples * 1_000) / sampleRate
  const edge = Math.max(1, Math.round((sampleRate * edgeMs) / 1_000))
  const clipped: Segment[] = []
  const dropouts: Segment[] = []
  let [read, peak, clippedSamples, dropoutCount] = [0, 0, 0, 0]
  let [atLimit, silentFor, sinceLoud] = [0, 0, Number.POSITIVE_INFINITY]
  let wasCut = false
  let silence: Silence | undefined

  const endClipping = (): void => {
    if (atLimit >= clippedInARow) {
      clippedSamples += atLimit
      const span = { startMs: msOf(read - atLimit), endMs: msOf(read) }
      const last = clipped.at(-1)
      if (last && span.startMs - last.endMs < clippingGapMs) last.endMs = span.endMs
      else if (clipped.length < mostMarks) clipped.push(span)
    }
    atLimit = 0
  }

  const endSilence = (): void => {
    const lengthMs = msOf(silentFor)
    if (wasCut && lengthMs >= shortestDropoutMs && lengthMs <= longestDropoutMs) {
      silence = { startMs: msOf(read - silentFor), endMs: msOf(read), samplesAfter: 0 }
    }
    silentFor = 0
  }

  /** Decides whether the last silence was a dropout. It was if the sound after it is loud immediately. */
  const decide = (size: number): void => {
    if (!silence) return
    if (size >= loud) {
      const { startMs, endMs } = silence
      dropoutCount++
      if (dropouts.length < mostMarks) dropouts.push({ startMs, endMs })
      silence = undefined
    } else if (++silence.samplesAfter >= edge) silence = undefined
  }

  const readSample = (size: number): void => {
    if (size > peak) peak = size
    if (size >= limit) atLimit++
    else if (atLimit > 0) endClipping()
    if (size <= silent) {
      if (silentFor === 0) wasCut = sinceLoud <= edge
      silentFor++
    } else if (silentFor > 0) endSilence()
    decide(size)
    sinceLoud = size >= loud ? 0 : sinceLoud + 1
    read++
  }

  return {
    push: (samples) => {
      for (const sample of samples) readSample(Math.abs(sample))
    },
    end: () => {
      endClipping()
      return { peakDb: decibels(peak * peak), clippedSamples, clipped, dropoutCount, dropouts }
    },
  }
}
