/** Converts a stream of samples to another rate, with a windowed sinc filter. */

/** The filter extends this many periods of the lower rate before and after each sample. */
const reach = 8

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b))

/** Returns the Blackman window at a position from -1 to 1. */
const windowed = (x: number): number => 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x)

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x))

/** Returns the filter for each position that an output sample can have between two input samples. */
const makeFilters = (phases: number, half: number, cutoff: number): Float32Array[] =>
  Array.from({ length: phases }, (_, phase) => {
    const taps = Float32Array.from({ length: 2 * half }, (_, tap) => {
      const distance = tap - half + 1 - phase / phases
      return Math.abs(distance) < half ? cutoff * sinc(cutoff * distance) * windowed(distance / half) : 0
    })
    const sum = taps.reduce((total, tap) => total + tap, 0)
    return taps.map((tap) => tap / sum)
  })

export type Resampler = {
  /** Returns the output samples that are complete after this input. */
  push: (samples: Float32Array) => Float32Array
  /** Returns the remaining output samples. */
  end: () => Float32Array
}

export const openResampler = (from: number, to: number): Resampler => {
  if (from === to) return { push: (samples) => samples, end: () => new Float32Array() }
  const divisor = greatestDivisor(from, to)
  const [phases, step] = [to / divisor, from / divisor]
  const scale = Math.min(1, to / from)
  const half = Math.ceil(reach / scale)
  const filters = makeFilters(phases, half, scale * 0.95)
  // The input starts with silence, because the filter also reads samples before the first one.
  let input: Float32Array = new Float32Array(half - 1)
  let [position, phase] = [0, 0]

  const push = (samples: Float32Array): Float32Array => {
    const joined = new Float32Array(input.length + samples.length)
    joined.set(input)
    joined.set(samples, input.length)
    const output = new Float32Array(Math.max(0, Math.ceil(((joined.length - position) * phases) / step)))
    let written = 0
    while (position + 2 * half <= joined.length) {
      const filter = filters[phase] as Float32Array
      let sum = 0
      for (let tap = 0; tap < filter.length; tap++) sum += (filter[tap] as number) * (joined[position + tap] as number)
      output[written++] = sum
      phase += step
      position += Math.floor(phase / phases)
      phase %= phases
    }
    const read = Math.min(position, joined.length)
    input = joined.slice(read)
    position -= read
    return output.subarray(0, written)
  }

  return { push, end: () => push(new Float32Array(half)) }
}
