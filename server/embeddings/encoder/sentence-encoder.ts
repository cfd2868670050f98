// Computes the Universal Sentence Encoder (lite), a network that turns English texts into vectors, without a machine
// learning runtime. The tokens of several texts are computed together, because most layers treat each token separately.

import type { Kernel, Matrix, PackedMatrix } from '../../platform/matrices/kernel.ts'
import { openTokenizer, type Vocabulary } from './tokens.ts'

export const dimensions = 512
const inputs = 256
const hidden = 1_536
const heads = 4
/** The maximum number of tokens in a text. The rest is cut off. */
const longest = 128
/** The maximum number of tokens to compute together. At least one text always fits. */
const most = 512

/** Returns a parameter of the network by the name that the authors gave it. */
export type Parameters = (name: string) => Float32Array

type Norm = { scale: Float32Array; bias: Float32Array }
type Dense = { weights: PackedMatrix; bias: Float32Array }
type Layer = {
  width: number
  norm: Norm
  query: Dense
  output: Dense
  innerNorm: Norm
  inner: Dense
  outer: Dense
}

const encoder = 'module_apply_default/Encoder_en/KonaTransformer/Encode'
const source = 'module/Encoder_en/KonaTransformer/Encode'

const readLayer = (kernel: Kernel, parameters: Parameters, number: number, width: number): Layer => {
  const of = (name: string) => parameters(`${encoder}/Layer_${number}/TransformerLayer/${name}/ConcatPartitions/concat`)
  const norm = (name: string) => ({ scale: of(`${name}/layer_norm_scale`), bias: of(`${name}/layer_norm_bias`) })
  const attention = (name: string, columns: number) => ({
    weights: kernel.pack(
      parameters(`${source}/Layer_${number}/TransformerLayer/MultiheadAttention/${name}/kernel/part_0`),
      columns,
    ),
    bias: of(`MultiheadAttention/${name}/bias`),
  })
  const forward = (name: string, columns: number) => ({
    weights: kernel.pack(
      parameters(`${encoder}/TransformerStack/Layer_${number}/TransformerLayer/FFN/${name}/Tensordot/Reshape_1`),
      columns,
    ),
    bias: of(`FFN/${name}/bias`),
  })
  return {
    width,
    norm: norm('layer_prepostprocess/layer_norm'),
    query: attention('qkv_transform_single', 3 * width),
    output: attention('output_transform_single', dimensions),
    innerNorm: norm('FFN/layer_prepostprocess/layer_norm'),
    inner: forward('conv1', hidden),
    outer: forward('conv2', dimensions),
  }
}

/** Returns the position signals, which are waves that let the network distinguish the positions of tokens. */
const signalsOf = (timescales: Float32Array): Float32Array =>
  Float32Array.from({ length: longest * inputs }, (_, index) => {
    const at = index % inputs
    const angle = Math.floor(index / inputs) * (timescales[at % timescales.length] as number)
    return at < timescales.length ? Math.sin(angle) : Math.cos(angle)
  })

/** The rows of a text's tokens. */
type Span = { start: number; end: number }

/** Subtracts the mean from each row and divides it by its standard deviation. */
const normalize = (from: Matrix, to: Matrix, width: number, { scale, bias }: Norm): void => {
  for (let start = 0; start < from.length; start += width) {
    let [sum, squares] = [0, 0]
    for (let at = 0; at < width; at++) sum += from[start + at] as number
    const mean = sum / width
    for (let at = 0; at < width; at++) squares += ((from[start + at] as number) - mean) ** 2
    const factor = 1 / Math.sqrt(squares / width + 1e-6)
    for (let at = 0; at < width; at++) {
      const value = ((from[start + at] as number) - mean) * factor
      to[start + at] = value * (scale[at] as number) + (bias[at] as number)
    }
  }
}

const addBias = (values: Matrix, bias: Float32Array): void => {
  for (let start = 0; start < values.length; start += bias.length) {
    for (let at = 0; at < bias.length; at++) values[start + at] = (values[start + at] as number) + (bias[at] as number)
  }
}

const activate = (values: Matrix): void => {
  for (let at = 0; at < values.length; at++) if ((values[at] as number) < 0) values[at] = 0
}

const add = (values: Matrix, more: Matrix): void => {
  for (let at = 0; at < values.length; at++) values[at] = (values[at] as number) + (more[at] as number)
}

/** Turns scores into weights that add up to 1. */
const softmax = (scores: Float32Array): void => {
  let highest = Number.NEGATIVE_INFINITY
  for (const score of scores) highest = Math.max(highest, score)
  let sum = 0
  for (let at = 0; at < scores.length; at++) {
    scores[at] = Math.exp((scores[at] as number) - highest)
    sum += scores[at] as number
  }
  for (let at = 0; at < scores.length; at++) scores[at] = (scores[at] as number) / sum
}

/** The query, key, or value of a head within a row of the projected tokens. */
type Part = { row: number; start: number; size: number }

/** Compares a token's query with the keys of all tokens of a text. */
const score = (projected: Matrix, query: number, key: Part, { start, end }: Span, scores: Float32Array): void => {
  const factor = 1 / Math.sqrt(key.size)
  for (let other = start; other < end; other++) {
    const from = other * key.row + key.start
    let sum = 0
    for (let at = 0; at < key.size; at++) sum += (projected[query + at] as number) * (projected[from + at] as number)
    scores[other - start] = sum * factor
  }
}

/** Adds up the weighted values of all tokens of a text. */
const mix = (projected: Matrix, value: Part, { start, end }: Span, weights: Float32Array, to: Matrix): void => {
  to.fill(0)
  for (let other = start; other < end; other++) {
    const weight = weights[other - start] as number
    const from = other * value.row + value.start
    for (let at = 0; at < value.size; at++) to[at] = (to[at] as number) + weight * (projected[from + at] as number)
  }
}

/** Lets each token of a text attend to all tokens. `mixed` receives the values of all heads. */
const attend = (projected: Matrix, mixed: Matrix, width: number, span: Span): void => {
  const row = 3 * width
  const size = width / heads
  const scores = new Float32Array(span.end - span.start)
  for (let head = 0; head < heads; head++) {
    const [query, key, value] = [0, width, 2 * width].map((start) => start + head * size) as [number, number, number]
    for (let token = span.start; token < span.end; token++) {
      score(projected, token * row + query, { row, start: key, size }, span, scores)
      softmax(scores)
      const target = token * width + head * size
      mix(projected, { row, start: value, size }, span, scores, mixed.subarray(target, target + size))
    }
  }
}

const unit = (vector: Float32Array): Float32Array => {
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0))
  return vector.map((value) => value / (length || 1))
}

type Files = { parameters: Parameters; vocabulary: Vocabulary }

/** Returns the vectors of texts, each with unit length. */
export type EncodeTexts = (texts: string[]) => Float32Array[]

export const openSentenceEncoder = (kernel: Kernel, { parameters, vocabulary }: Files): EncodeTexts => {
  const tokensOf = openTokenizer(vocabulary)
  const embeddings = parameters('module/Embeddings_en')
  const positions = signalsOf(
    parameters(`${encoder}/TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1`),
  )
  const widen = {
    weights: kernel.pack(
      parameters(`${encoder}/Layer_0/TransformerLayer/dense/kernel/ConcatPartitions/concat`),
      dimensions,
    ),
    bias: parameters(`${encoder}/Layer_0/TransformerLayer/dense/bias/ConcatPartitions/concat`),
  }
  const layers = [readLayer(kernel, parameters, 0, inputs), readLayer(kernel, parameters, 1, dimensions)]
  const last = {
    weights: kernel.pack(parameters('module/Encoder_en/hidden_layers/tanh_layer_0/weights'), dimensions),
    bias: parameters('module/Encoder_en/hidden_layers/tanh_layer_0/bias'),
  }
  const memory = {
    embedded: kernel.allocate(most * inputs),
    state: kernel.allocate(most * dimensions),
    normal: kernel.allocate(most * dimensions),
    projected: kernel.allocate(most * hidden),
    mixed: kernel.allocate(most * dimensions),
    change: kernel.allocate(most * dimensions),
  }

  const apply = ({ weights, bias }: Dense, from: Matrix, to: Matrix, rows: number): void => {
    kernel.multiplyPacked(from, weights, to, rows)
    addBias(to, bias)
  }

  /** Reads the embeddings of tokens, and adds their positions. */
  const embed = (tokens: number[][], to: Matrix): void => {
    let target = 0
    for (const some of tokens) {
      for (const [position, token] of some.entries()) {
        for (let at = 0; at < inputs; at++) {
          // The network adds the embedding twice.
          to[target++] = 2 * (embeddings[token * inputs + at] as number) + (positions[position * inputs + at] as number)
        }
      }
    }
    to.fill(0, target)
  }

  const transform = (layer: Layer, input: Matrix, state: Matrix, spans: Span[], rows: number): void => {
    const { width } = layer
    const normal = memory.normal.subarray(0, rows * width)
    const projected = memory.projected.subarray(0, rows * 3 * width)
    const mixed = memory.mixed.subarray(0, rows * width)
    const change = memory.change.subarray(0, rows * dimensions)
    normalize(input, normal, width, layer.norm)
    apply(layer.query, normal, projected, rows)
    mixed.fill(0)
    for (const span of spans) attend(projected, mixed, width, span)
    apply(layer.output, mixed, change, rows)
    add(state, change)
    const wide = memory.normal.subarray(0, rows * dimensions)
    const inner = memory.projected.subarray(0, rows * hidden)
    normalize(state, wide, dimensions, layer.innerNorm)
    apply(layer.inner, wide, inner, rows)
    activate(inner)
    apply(layer.outer, inner, change, rows)
    add(state, change)
  }

  /** Averages the tokens of each text. */
  const average = (state: Matrix, spans: Span[], to: Matrix): void => {
    to.fill(0)
    for (const [text, { start, end }] of spans.entries()) {
      for (let token = start; token < end; token++) {
        for (let at = 0; at < dimensions; at++) {
          const target = text * dimensions + at
          to[target] = (to[target] as number) + (state[token * dimensions + at] as number) / (end - start)
        }
      }
    }
  }

  const inFours = (count: number): number => Math.ceil(count / 4) * 4

  const encodeTokens = (tokens: number[][]): Float32Array[] => {
    let start = 0
    const spans = tokens.map(({ length }) => {
      const span = { start, end: start + length }
      start += length
      return span
    })
    const rows = inFours(start)
    const embedded = memory.embedded.subarray(0, rows * inputs)
    const state = memory.state.subarray(0, rows * dimensions)
    embed(tokens, embedded)
    apply(widen, embedded, state, rows)
    for (const [number, layer] of layers.entries())
      transform(layer, number === 0 ? embedded : state, state, spans, rows)
    const texts = inFours(tokens.length)
    const means = memory.normal.subarray(0, texts * dimensions)
    const vectors = memory.change.subarray(0, texts * dimensions)
    average(state, spans, means)
    apply(last, means, vectors, texts)
    return tokens.map((_, text) => unit(vectors.slice(text * dimensions, (text + 1) * dimensions).map(Math.tanh)))
  }

  return (texts) => {
    const vectors: Float32Array[] = []
    let waiting: number[][] = []
    let length = 0
    const flush = (): void => {
      if (waiting.length > 0) vectors.push(...encodeTokens(waiting))
      waiting = []
      length = 0
    }
    for (const text of texts) {
      const tokens = tokensOf(text).slice(0, longest)
      if (length + tokens.length > most) flush()
      waiting.push(tokens)
      length += tokens.length
    }
    flush()
    return vectors
  }
}
