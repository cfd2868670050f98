// Runs Silero VAD (version 5, for 8 kHz), a network that distinguishes voice from other sounds, without a machine
// learning runtime. Several windows are computed at once, because only the last step needs the result of the previous
// window.

import { type Kernel, openKernel } from '../../platform/matrices/kernel.ts'

export const sampleRate = 8_000
/** The network rates windows of this many samples (32 ms). */
export const windowSamples = 256
/** The number of windows computed at once. */
const windows = 64
export const blockSamples = windows * windowSamples

/** The network also reads the end of the previous window. */
const context = 32
/** The network reads four overlapping frames of each window. */
const [frames, frameSamples, frameStep] = [4, 128, 64]
const padding = 32
const padded = context + windowSamples + padding
const frequencies = 65
const units = 128
const gates = 4 * units

/** The parameters of the network in the order of their file, under the names that the network's authors gave them. */
export const parameters = [
  ['spectrum', 'stft.forward_basis_buffer', 2 * frequencies * frameSamples],
  ['weights0', 'encoder.0.reparam_conv.weight', 128 * frequencies * 3],
  ['bias0', 'encoder.0.reparam_conv.bias', 128],
  ['weights1', 'encoder.1.reparam_conv.weight', 64 * 128 * 3],
  ['bias1', 'encoder.1.reparam_conv.bias', 64],
  ['weights2', 'encoder.2.reparam_conv.weight', 64 * 64 * 3],
  ['bias2', 'encoder.2.reparam_conv.bias', 64],
  ['weights3', 'encoder.3.reparam_conv.weight', 128 * 64 * 3],
  ['bias3', 'encoder.3.reparam_conv.bias', 128],
  ['input', 'decoder.rnn.weight_ih', gates * units],
  ['state', 'decoder.rnn.weight_hh', gates * units],
  ['inputBias', 'decoder.rnn.bias_ih', gates],
  ['stateBias', 'decoder.rnn.bias_hh', gates],
  ['output', 'decoder.decoder.2.weight', units],
  ['outputBias', 'decoder.decoder.2.bias', 1],
] as const

type Parameters = Record<(typeof parameters)[number][0], Float32Array>

/** Reads the parameters from their file. */
const readParameters = (file: Uint8Array): Parameters => {
  const values = new Float32Array(file.buffer.slice(file.byteOffset, file.byteOffset + file.byteLength))
  let at = 0
  const read = parameters.map(([name, , length]) => {
    const part = values.subarray(at, at + length)
    at += length
    return [name, part]
  })
  if (at !== values.length) throw new Error('The voice network file does not have the length of its parameters')
  return Object.fromEntries(read)
}

/** Selects taps of a three-tap convolution, for windows in which the other taps meet only padding. */
const onlyTaps = (weights: Float32Array, taps: number[]): Float32Array =>
  Float32Array.from({ length: (weights.length / 3) * taps.length }, (_, index) => {
    const row = Math.floor(index / taps.length)
    return weights[row * 3 + (taps[index % taps.length] as number)] as number
  })

const transposed = (matrix: Float32Array, columns: number): Float32Array => {
  const rows = matrix.length / columns
  return Float32Array.from(
    { length: matrix.length },
    (_, at) => matrix[(at % rows) * columns + Math.floor(at / rows)] as number,
  )
}

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x))

/** Adds the bias of each row and replaces negative values with zero. */
const activate = (values: Float32Array, bias: Float32Array): void => {
  const columns = values.length / bias.length
  for (let row = 0, at = 0; row < bias.length; row++) {
    const add = bias[row] as number
    for (let end = at + columns; at < end; at++) values[at] = Math.max(0, (values[at] as number) + add)
  }
}

/**
 * Arranges the columns of each window side by side, so that the next convolution becomes a product of matrices. Each
 * row becomes three: the previous column, the column itself, and the next one. Columns outside the window are zero.
 */
const spread = (from: Float32Array, to: Float32Array, { columns, step }: { columns: number; step: number }): void => {
  let target = 0
  const copy = (start: number, tap: number): void => {
    for (let column = tap - 1; column < columns + tap - 1; column += step) {
      to[target++] = column >= 0 && column < columns ? (from[start + column] as number) : 0
    }
  }
  for (let row = 0; row < from.length; row += columns * windows) {
    for (let tap = 0; tap < 3; tap++) {
      for (let window = 0; window < windows; window++) copy(row + window * columns, tap)
    }
  }
}

/** Moves two columns of each window into two rows. */
const stack = (from: Float32Array, to: Float32Array): void => {
  const rows = from.length / (2 * windows)
  for (let row = 0; row < rows; row++) {
    for (let window = 0; window < windows; window++) {
      for (let column = 0; column < 2; column++) {
        to[(row * 2 + column) * windows + window] = from[(row * windows + window) * 2 + column] as number
      }
    }
  }
}

/** Turns the real and imaginary parts of the spectrum into magnitudes. */
const measure = (spectrum: Float32Array, to: Float32Array): void => {
  for (let at = 0; at < to.length; at++) {
    const [real, imaginary] = [spectrum[at] as number, spectrum[to.length + at] as number]
    to[at] = Math.sqrt(real * real + imaginary * imaginary)
  }
}

/** Cuts windows into frames. The last frame extends into the mirrored end of its window. */
const cut = (samples: Float32Array, before: Float32Array, to: Float32Array): void => {
  const window = new Float32Array(padded)
  for (let index = 0; index < windows; index++) {
    const start = index * windowSamples
    window.set(index === 0 ? before : samples.subarray(start - context, start))
    window.set(samples.subarray(start, start + windowSamples), context)
    for (let at = 0; at < padding; at++) {
      window[context + windowSamples + at] = window[context + windowSamples - 2 - at] as number
    }
    for (let frame = 0; frame < frames; frame++) {
      for (let at = 0; at < frameSamples; at++) {
        to[(at * windows + index) * frames + frame] = window[frame * frameStep + at] as number
      }
    }
  }
}

/** The network's state for a channel. */
type Memory = { before: Float32Array; hidden: Float32Array; cell: Float32Array }

/** Rates the windows of a block, one after the other. Each rating is the probability that the window contains voice. */
export type RateVoice = (samples: Float32Array) => Float32Array

export type VoiceNetwork = {
  /** Starts a channel. Each call rates the next `blockSamples` samples. */
  openChannel: () => RateVoice
}

export const openVoiceNetwork = (files: { kernel: Uint8Array; parameters: Uint8Array }): VoiceNetwork => {
  const kernel: Kernel = openKernel(files.kernel)
  const given = readParameters(files.parameters)
  const { bias0, bias1, bias2, bias3, inputBias, stateBias, output, outputBias } = given
  const spectrumRows = Math.ceil((2 * frequencies) / 4) * 4
  const spectrumWeights = kernel.allocate(spectrumRows * frameSamples)
  spectrumWeights.set(given.spectrum)
  const weights0 = kernel.place(given.weights0)
  const weights1 = kernel.place(given.weights1)
  const weights2 = kernel.place(onlyTaps(given.weights2, [1, 2]))
  const weights3 = kernel.place(onlyTaps(given.weights3, [1]))
  const inputWeights = kernel.place(given.input)
  const stateWeights = kernel.place(transposed(given.state, units))

  const cutFrames = kernel.allocate(frameSamples * frames * windows)
  const spectrum = kernel.allocate(spectrumRows * frames * windows)
  const levels = new Float32Array(frequencies * frames * windows)
  const spread0 = kernel.allocate(3 * levels.length)
  const layer0 = kernel.allocate(128 * frames * windows)
  const spread1 = kernel.allocate(128 * 3 * 2 * windows)
  const layer1 = kernel.allocate(64 * 2 * windows)
  const stacked1 = kernel.allocate(layer1.length)
  const layer2 = kernel.allocate(64 * windows)
  const layer3 = kernel.allocate(128 * windows)
  const inputs = kernel.allocate(gates * windows)
  const hidden = kernel.allocate(units)
  const sums = kernel.allocate(gates)

  /** Computes everything that doesn't depend on the previous window. */
  const encode = (samples: Float32Array, before: Float32Array): void => {
    cut(samples, before, cutFrames)
    kernel.multiply(spectrumWeights, cutFrames, spectrum, spectrumRows)
    measure(spectrum.subarray(0, 2 * levels.length), levels)
    spread(levels, spread0, { columns: frames, step: 1 })
    kernel.multiply(weights0, spread0, layer0, 128)
    activate(layer0, bias0)
    spread(layer0, spread1, { columns: frames, step: 2 })
    kernel.multiply(weights1, spread1, layer1, 64)
    activate(layer1, bias1)
    stack(layer1, stacked1)
    kernel.multiply(weights2, stacked1, layer2, 64)
    activate(layer2, bias2)
    kernel.multiply(weights3, layer2, layer3, 128)
    activate(layer3, bias3)
    kernel.multiply(inputWeights, layer3, inputs, gates)
  }

  /** Computes one step of the long short-term memory (LSTM), and returns the probability. */
  const remember = (memory: Memory, window: number): number => {
    for (let gate = 0; gate < gates; gate++) {
      const input = inputs[gate * windows + window] as number
      sums[gate] = input + (inputBias[gate] as number) + (stateBias[gate] as number)
    }
    hidden.set(memory.hidden)
    kernel.accumulate(hidden, stateWeights, sums)
    let rating = outputBias[0] as number
    for (let unit = 0; unit < units; unit++) {
      const [keep, add] = [sigmoid(sums[units + unit] as number), sigmoid(sums[unit] as number)]
      const candidate = Math.tanh(sums[2 * units + unit] as number)
      const cell = keep * (memory.cell[unit] as number) + add * candidate
      const shown = sigmoid(sums[3 * units + unit] as number) * Math.tanh(cell)
      memory.cell[unit] = cell
      memory.hidden[unit] = shown
      rating += Math.max(0, shown) * (output[unit] as number)
    }
    return sigmoid(rating)
  }

  return {
    openChannel: () => {
      const memory: Memory = {
        before: new Float32Array(context),
        hidden: new Float32Array(units),
        cell: new Float32Array(units),
      }
      return (samples) => {
        encode(samples, memory.before)
        memory.before.set(samples.subarray(blockSamples - context))
        return Float32Array.from({ length: windows }, (_, window) => remember(memory, window))
      }
    },
  }
}
