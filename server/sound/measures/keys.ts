import { sampleRate } from '../voice/network.ts'
import { type Mark, mostMarks } from './marks.ts'

/** Finds the tones of telephone keys (DTMF, ITU-T Q.23) with Goertzel filters for their eight frequencies. */

const rows = [697, 770, 852, 941]
const columns = [1_209, 1_336, 1_477, 1_633]
const keys = ['123A', '456B', '789C', '*0#D']

const stepSamples = 80
const windowSamples = 2 * stepSamples
const stepMs = (stepSamples * 1_000) / sampleRate

/** Quieter windows are silent. */
const silent = 10 ** (-50 / 10)
/** The two frequencies of a key have at least this share of the energy. */
const pure = 0.7
/** The levels of the two frequencies differ by at most 8 dB, and exceed the others in their group by this factor. */
const [mostTwist, leastLead] = [10 ** (8 / 10), 10 ** (6 / 10)]
/** A key is pressed for at least this many windows in a row, which is 40 ms. */
const shortestRun = 3

const coefficients = [...rows, ...columns].map((frequency) => 2 * Math.cos((2 * Math.PI * frequency) / sampleRate))

/** Returns a frequency's share of the energy. */
const shareOf = (window: Float32Array, coefficient: number, energy: number): number => {
  let [last, before] = [0, 0]
  for (let at = 0; at < windowSamples; at++) {
    const next = (window[at] as number) + coefficient * last - before
    before = last
    last = next
  }
  return (2 * (last * last + before * before - coefficient * last * before)) / (windowSamples * energy)
}

/** Returns the index of the largest share, if it is clearly the largest. */
const leading = (shares: number[]): number | undefined => {
  const most = Math.max(...shares)
  const isClear = shares.filter((share) => share * leastLead > most).length === 1
  return isClear ? shares.indexOf(most) : undefined
}

const keyOf = (window: Float32Array): string | undefined => {
  let energy = 0
  for (let at = 0; at < windowSamples; at++) energy += (window[at] as number) ** 2
  if (energy <= silent * windowSamples) return undefined
  const shares = coefficients.map((coefficient) => shareOf(window, coefficient, energy))
  const [ofRows, ofColumns] = [shares.slice(0, rows.length), shares.slice(rows.length)]
  const [row, column] = [leading(ofRows), leading(ofColumns)]
  if (row === undefined || column === undefined) return undefined
  const [low, high] = [ofRows[row] as number, ofColumns[column] as number]
  if (low + high < pure || low > high * mostTwist || high > low * mostTwist) return undefined
  return keys[row]?.[column]
}

/** Keys that follow each other within this time are one mark. */
const sameMarkMs = 3_000
/** A mark has at most this many keys. */
const longestMark = 64

type Keys = { pressed: number; marks: Mark[] }

/** A pressed key, with the first and the last window that contain it. */
type Press = { key: string; first: number; last: number }

export const openKeyMeter = () => {
  const window = new Float32Array(windowSamples)
  const marks: Mark[] = []
  let filled = 0
  let [step, pressed] = [0, 0]
  let press: Press | undefined

  const endPress = (): void => {
    if (!press || press.last - press.first + 1 < shortestRun) return
    pressed++
    const span = { startMs: press.first * stepMs, endMs: (press.last + 2) * stepMs }
    const last = marks.at(-1)
    if (last?.digits && span.startMs - last.endMs < sameMarkMs && last.digits.length < longestMark) {
      last.digits += press.key
      last.endMs = span.endMs
    } else if (marks.length < mostMarks) marks.push({ kind: 'dtmf', ...span, digits: press.key })
  }

  const readWindow = (): void => {
    const key = keyOf(window)
    if (press && key === press.key) press.last = step
    // A single window without the key does not end the key.
    else if (!press || key !== undefined || step - press.last > 1) {
      endPress()
      press = key === undefined ? undefined : { key, first: step, last: step }
    }
    step++
  }

  return {
    push: (samples: Float32Array): void => {
      for (let at = 0; at < samples.length; ) {
        const part = samples.subarray(at, at + windowSamples - filled)
        window.set(part, filled)
        filled += part.length
        at += part.length
        if (filled < windowSamples) return
        readWindow()
        window.copyWithin(0, stepSamples)
        filled = stepSamples
      }
    },
    end: (): Keys => {
      endPress()
      return { pressed, marks }
    },
  }
}
