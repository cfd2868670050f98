/** Computes the spectra of windows of 256 samples. */

const spectrumSamples = 256
/** The number of frequencies from 0 to half the sample rate, without the last one. */
export const spectrumBins = spectrumSamples / 2

const radians = (at: number): number => (2 * Math.PI * at) / spectrumSamples

const hann = Float64Array.from({ length: spectrumSamples }, (_, at) => 0.5 - 0.5 * Math.cos(radians(at)))
const cosines = Float64Array.from({ length: spectrumBins }, (_, at) => Math.cos(radians(at)))
const sines = Float64Array.from({ length: spectrumBins }, (_, at) => Math.sin(radians(at)))

/** The order in which the transform reads its input: the bits of each index are reversed. */
const inputOrder = Uint8Array.from({ length: spectrumSamples }, (_, at) =>
  Number.parseInt(at.toString(2).padStart(8, '0').split('').reverse().join(''), 2),
)

/** Replaces values with their discrete Fourier transform. The values are in the order above. */
const transform = (real: Float64Array, imaginary: Float64Array): void => {
  for (let width = 1; width < spectrumSamples; width *= 2) {
    const turn = spectrumBins / width
    for (let at = 0; at < spectrumBins; at++) {
      const within = at % width
      const even = 2 * (at - within) + within
      const odd = even + width
      const [cosine, sine] = [cosines[within * turn] as number, sines[within * turn] as number]
      const [evenReal, evenImaginary] = [real[even] as number, imaginary[even] as number]
      const oddReal = (real[odd] as number) * cosine + (imaginary[odd] as number) * sine
      const oddImaginary = (imaginary[odd] as number) * cosine - (real[odd] as number) * sine
      real[even] = evenReal + oddReal
      imaginary[even] = evenImaginary + oddImaginary
      real[odd] = evenReal - oddReal
      imaginary[odd] = evenImaginary - oddImaginary
    }
  }
}

/**
 * Returns a function that sets the powers of the frequencies of two windows. Both are transformed at once, one as the
 * real part and the other as the imaginary part.
 */
export const openSpectrum = () => {
  const [real, imaginary] = [new Float64Array(spectrumSamples), new Float64Array(spectrumSamples)]
  return (windows: [Float32Array, Float32Array], powers: [Float64Array, Float64Array]): void => {
    for (let at = 0; at < spectrumSamples; at++) {
      const from = inputOrder[at] as number
      const weight = hann[from] as number
      real[at] = weight * (windows[0][from] as number)
      imaginary[at] = weight * (windows[1][from] as number)
    }
    transform(real, imaginary)
    for (let bin = 1; bin < spectrumBins; bin++) {
      const [thisReal, mirroredReal] = [real[bin] as number, real[spectrumSamples - bin] as number]
      const [thisImaginary, mirroredImaginary] = [imaginary[bin] as number, imaginary[spectrumSamples - bin] as number]
      powers[0][bin] = (thisReal + mirroredReal) ** 2 + (thisImaginary - mirroredImaginary) ** 2
      powers[1][bin] = (thisReal - mirroredReal) ** 2 + (thisImaginary + mirroredImaginary) ** 2
    }
  }
}
