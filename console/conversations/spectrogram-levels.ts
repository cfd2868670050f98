/** Computes the levels of a spectrogram. */

const size = 256
/** The number of frequencies from 0 to half the sample rate. */
export const spectrogramBins = size / 2

const radians = (at: number): number => (2 * Math.PI * at) / size

/**
 * The number of windows in a column. The column shows the loudest window. More windows would take too long for long
 * recordings.
 */
const mostWindows = 4
const [quietestDb, loudestDb] = [-90, -20]

/** The order in which the transform reads its input: the bits of each index are reversed. */
const inputOrder = Uint8Array.from({ length: size }, (_, at) =>
  Number.parseInt(at.toString(2).padStart(8, '0').split('').reverse().join(''), 2),
)

/** Replaces values with their discrete Fourier transform. The values are in the order above. */
const transform = (real: Float64Array, imaginary: Float64Array): void => {
  for (let width = 1; width < size; width *= 2) {
    for (let at = 0; at < size / 2; at++) {
      const within = at % width
      const even = 2 * (at - within) + within
      const odd = even + width
      const angle = -radians((within * size) / (2 * width))
      const [cosine, sine] = [Math.cos(angle), Math.sin(angle)]
      const [oddReal, oddImaginary] = [real[odd] ?? 0, imaginary[odd] ?? 0]
      const turnedReal = oddReal * cosine - oddImaginary * sine
      const turnedImaginary = oddReal * sine + oddImaginary * cosine
      real[odd] = (real[even] ?? 0) - turnedReal
      imaginary[odd] = (imaginary[even] ?? 0) - turnedImaginary
      real[even] = (real[even] ?? 0) + turnedReal
      imaginary[even] = (imaginary[even] ?? 0) + turnedImaginary
    }
  }
}

/** Raises the levels, from 0 to 255, to those of this window where the window is louder. */
const addWindow = (samples: Float32Array, start: number, levels: Uint8Array): void => {
  const [real, imaginary] = [new Float64Array(size), new Float64Array(size)]
  inputOrder.forEach((from, at) => {
    real[at] = (samples[start + from] ?? 0) * (0.5 - 0.5 * Math.cos(radians(from)))
  })
  transform(real, imaginary)
  for (let bin = 0; bin < spectrogramBins; bin++) {
    // A sine at full scale has a magnitude of a quarter of the window.
    const magnitude = Math.hypot(real[bin] ?? 0, imaginary[bin] ?? 0) / (size / 4)
    const share = (20 * Math.log10(magnitude + 1e-9) - quietestDb) / (loudestDb - quietestDb)
    levels[bin] = Math.max(levels[bin] ?? 0, Math.round(255 * Math.min(1, Math.max(0, share))))
  }
}

/** Returns the level of each frequency in a column, from 0 (quiet) to 255 (loud). */
export const columnLevels = (samples: Float32Array, column: number, columns: number): Uint8Array => {
  const [from, to] = [(column * samples.length) / columns, ((column + 1) * samples.length) / columns]
  const windows = Math.min(mostWindows, Math.max(1, Math.ceil((to - from) / size)))
  const levels = new Uint8Array(spectrogramBins)
  const room = Math.max(0, to - from - size)
  for (let window = 0; window < windows; window++) {
    addWindow(samples, Math.floor(from + (window * room) / Math.max(1, windows - 1)), levels)
  }
  return levels
}
