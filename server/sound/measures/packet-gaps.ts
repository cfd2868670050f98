import { sampleRate } from '../voice/network.ts'
import type { Segment } from '../voice/segments.ts'
import { decibels, openPowerMeter } from './levels.ts'
import { type Mark, mostMarks } from './marks.ts'

/** Finds gaps like those that lost packets leave: the sound stops and returns abruptly. */

const stepSamples = sampleRate / 200
const stepMs = 5

/** The sound before a gap is louder than this. */
const loudDb = -45
/** The level falls by this much within two steps, stays low, and returns almost to the level before the gap. */
const [fallDb, downDb, returnDb] = [25, 20, 12]
const [shortestSteps, longestSteps] = [3, 40]

type Gap = Segment & { floorDb: number }

/** A gap that has not ended yet. */
type Open = { startStep: number; beforeDb: number; power: number; steps: number; isReturning: boolean }

export const openPacketGapMeter = () => {
  const gaps: Gap[] = []
  let step = 0
  let [before, last] = [-120, -120]
  let open: Open | undefined

  const close = ({ startStep, power, steps }: Open): void => {
    if (steps < shortestSteps || gaps.length >= 10 * mostMarks) return
    const startMs = (startStep - 0.5) * stepMs
    gaps.push({ startMs, endMs: startMs + (steps + 0.5) * stepMs, floorDb: decibels(power / steps) })
  }

  const continueGap = (gap: Open, level: number, power: number): void => {
    if (level >= gap.beforeDb - returnDb) {
      close(gap)
      open = undefined
    } else if (gap.isReturning || gap.steps >= longestSteps) open = undefined
    else if (level > gap.beforeDb - downDb) gap.isReturning = true
    else {
      gap.steps++
      gap.power += power
    }
  }

  const readStep = (power: number): void => {
    const level = decibels(power)
    if (open) continueGap(open, level, power)
    else if (before > loudDb && level <= before - fallDb) {
      open = { startStep: step, beforeDb: before, power, steps: 1, isReturning: false }
    }
    before = last
    last = level
    step++
  }

  return { push: openPowerMeter(stepSamples, readStep), gaps }
}

/** In a gap, even the background is missing. Without a background, a plosive looks the same, so nothing is marked. */
const belowNoiseDb = 6
const cleanDb = -70

const confidenceOf = ({ floorDb }: Gap, quietDb: number | null): number => {
  if (quietDb === null || quietDb < cleanDb) return 0
  return floorDb < quietDb - belowNoiseDb ? 0.8 : 0
}

/**
 * Returns the gaps that are neither plosives nor known dropouts. `quietDb` is the level of the quietest background,
 * because the usual background can be music.
 */
export const markPacketGaps = (gaps: Gap[], quietDb: number | null, dropouts: Segment[]): Mark[] =>
  gaps.flatMap((gap): Mark[] => {
    const { startMs, endMs } = gap
    const confidence = confidenceOf(gap, quietDb)
    const isKnown = dropouts.some((dropout) => dropout.startMs < endMs && dropout.endMs > startMs)
    return confidence === 0 || isKnown ? [] : [{ kind: 'packet_gap', startMs, endMs, confidence }]
  })
