import { openNumbers } from '../numbers.ts'
import { quantile } from '../quantile.ts'

/** Measures loudness according to EBU R 128, ITU-R BS.1770, and EBU Tech 3342, while samples arrive. */

/** A stage of a digital filter: the two previous values of the input and of the output. */
type Biquad = { b0: number; b1: number; b2: number; a1: number; a2: number }

/**
 * Boosts high frequencies, as a listener's head does. The standard's coefficients for 48 kHz follow from these numbers.
 */
const shelfOf = (sampleRate: number): Biquad => {
  const [frequency, gainDb, quality] = [1_681.974450955533, 3.999843853973347, 0.7071752369554196]
  const k = Math.tan((Math.PI * frequency) / sampleRate)
  const high = 10 ** (gainDb / 20)
  const middle = high ** 0.4996667741545416
  const a0 = 1 + k / quality + k * k
  return {
    b0: (high + (middle * k) / quality + k * k) / a0,
    b1: (2 * (k * k - high)) / a0,
    b2: (high - (middle * k) / quality + k * k) / a0,
    a1: (2 * (k * k - 1)) / a0,
    a2: (1 - k / quality + k * k) / a0,
  }
}

/** Attenuates low frequencies, which sound quieter than they are. */
const highPassOf = (sampleRate: number): Biquad => {
  const [frequency, quality] = [38.13547087602444, 0.5003270373238773]
  const k = Math.tan((Math.PI * frequency) / sampleRate)
  const a0 = 1 + k / quality + k * k
  return { b0: 1, b1: -2, b2: 1, a1: (2 * (k * k - 1)) / a0, a2: (1 - k / quality + k * k) / a0 }
}

const stepMs = 100
/** The lengths of gating blocks (400 ms) and short-term blocks (3 s), in steps. */
const [blockSteps, shortTermSteps] = [4, 30]

/** Smaller values are silence. Computing with much smaller ones is slow. */
const tiny = 1e-15
const flushed = (value: number): number => (Math.abs(value) < tiny ? 0 : value)

export type LoudnessMeter = {
  push: (samples: Float32Array) => void
  /** The weighted power of each step. An incomplete last step is omitted. */
  powers: () => Float32Array
}

export const openLoudnessMeter = (sampleRate: number): LoudnessMeter => {
  const perStep = Math.round((sampleRate * stepMs) / 1_000)
  const [shelf, highPass] = [shelfOf(sampleRate), highPassOf(sampleRate)]
  const powers = openNumbers()
  let state = { shelf1: 0, shelf2: 0, pass1: 0, pass2: 0, sum: 0, count: 0 }

  const push = (samples: Float32Array): void => {
    let { shelf1, shelf2, pass1, pass2, sum, count } = state
    for (let at = 0; at < samples.length; at++) {
      const sample = samples[at] as number
      const raised = shelf.b0 * sample + shelf1
      shelf1 = shelf.b1 * sample - shelf.a1 * raised + shelf2
      shelf2 = shelf.b2 * sample - shelf.a2 * raised
      const weighted = raised + pass1
      pass1 = highPass.b1 * raised - highPass.a1 * weighted + pass2
      pass2 = raised - highPass.a2 * weighted
      sum += weighted * weighted
      if (++count < perStep) continue
      powers.push(sum / perStep)
      sum = 0
      count = 0
      pass1 = flushed(pass1)
      pass2 = flushed(pass2)
    }
    state = { shelf1: flushed(shelf1), shelf2: flushed(shelf2), pass1, pass2, sum, count }
  }

  return { push, powers: powers.all }
}

/** Returns the sum of the channels' powers, which is the power of the recording. */
export const addPowers = ([first, ...others]: Float32Array[]): Float32Array =>
  (first ?? new Float32Array()).map((power, step) => others.reduce((sum, powers) => sum + (powers[step] ?? 0), power))

const lufsOf = (power: number): number => -0.691 + 10 * Math.log10(power)
const powerOf = (lufs: number): number => 10 ** ((lufs + 0.691) / 10)

const meanOf = (values: Float32Array): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Returns the mean of every sequence of this many steps. */
const blocksOf = (powers: Float32Array, steps: number): Float32Array => {
  const blocks = new Float32Array(Math.max(0, powers.length - steps + 1))
  for (let block = 0; block < blocks.length; block++) blocks[block] = meanOf(powers.subarray(block, block + steps))
  return blocks
}

const silenceLufs = -70

/**
 * Returns the blocks that are not silent and not more than this much quieter than the mean of the blocks with sound.
 */
const gate = (blocks: Float32Array, relativeLu: number): Float32Array => {
  const audible = blocks.filter((power) => power > powerOf(silenceLufs))
  const threshold = meanOf(audible) * 10 ** (relativeLu / 10)
  return audible.filter((power) => power > threshold)
}

/** Returns the integrated loudness, or null if everything is silent. */
export const integratedLufs = (powers: Float32Array): number | null => {
  const blocks = gate(blocksOf(powers, blockSteps), -10)
  return blocks.length === 0 ? null : lufsOf(meanOf(blocks))
}

/** Returns the difference between loud and quiet passages, or null if there are less than three seconds of sound. */
export const loudnessRangeLu = (powers: Float32Array): number | null => {
  const blocks = gate(blocksOf(powers, shortTermSteps), -20)
  const [quiet, loud] = [quantile(blocks, 0.1), quantile(blocks, 0.95)]
  return quiet === undefined || loud === undefined ? null : lufsOf(loud) - lufsOf(quiet)
}
