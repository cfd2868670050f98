// Converts vectors to the form in which they are stored: one byte per dimension, and a code of one bit per dimension.

import { dimensions } from './encoder/sentence-encoder.ts'

/** Returns a generator of random numbers from 0 to 1 that is always the same for a seed (mulberry32). */
export const randomOf = (seed: number) => {
  let state = seed
  return (): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** The seed must not change, because stored and new vectors would then be incomparable. */
const projectionSeed = 2

/**
 * Returns a bit for each dimension that shows whether its value is positive. The share of different bits grows with the
 * angle between two vectors.
 */
export const codeOf = (vector: Float32Array): string => {
  let code = ''
  for (const value of vector) code += value > 0 ? '1' : '0'
  return code
}

/**
 * The number of standard deviations by which the distance of two codes may exceed its expected value. Few pairs exceed
 * it by more.
 */
const deviations = 2.5

/** Returns the maximum number of different bits in the codes of two vectors with at least this similarity. */
export const mostDifferentBits = (similarity: number): number => {
  const share = Math.acos(Math.min(1, Math.max(-1, similarity))) / Math.PI
  return Math.ceil(dimensions * share + deviations * Math.sqrt(dimensions * share * (1 - share)))
}

/** Converts a vector to integers from -127 to 127. */
export const quantize = (vector: Float32Array): Int8Array => {
  let largest = 0
  for (const value of vector) largest = Math.max(largest, Math.abs(value))
  const factor = largest === 0 ? 0 : 127 / largest
  return Int8Array.from(vector, (value) => Math.round(value * factor))
}

/** Returns a function that returns the cosine of the angle between this vector and another one. */
export const similarityTo = (vector: ArrayLike<number>): ((other: ArrayLike<number>) => number) => {
  const own = Float64Array.from(vector)
  const ownSquares = own.reduce((sum, value) => sum + value * value, 0)
  return (other) => {
    let [product, squares] = [0, 0]
    for (let at = 0; at < own.length; at++) {
      const value = other[at] as number
      product += (own[at] as number) * value
      squares += value * value
    }
    return ownSquares === 0 || squares === 0 ? 0 : product / Math.sqrt(ownSquares * squares)
  }
}

/** Returns the cosine of the angle between two vectors. */
export const similarityBetween = (a: ArrayLike<number>, b: ArrayLike<number>): number => similarityTo(a)(b)

/** Reads a stored vector. */
export const readVector = (stored: Uint8Array): Int8Array =>
  new Int8Array(stored.buffer, stored.byteOffset, stored.byteLength)

/** Joins stored vectors into one array. */
export const joinVectors = (stored: Uint8Array[]): Int8Array => {
  const joined = new Int8Array(stored.length * dimensions)
  for (const [at, vector] of stored.entries()) joined.set(readVector(vector), at * dimensions)
  return joined
}

/**
 * Reduces a vector of any length to the number of stored dimensions, with a random projection that roughly preserves
 * angles. Shorter vectors are only padded.
 */
export const project = (vector: readonly number[]): Float32Array => {
  const projected = new Float32Array(dimensions)
  if (vector.length <= dimensions) {
    projected.set(vector)
    return projected
  }
  const random = randomOf(projectionSeed)
  for (const value of vector) {
    // Each random number has enough bits for the signs of 16 dimensions.
    for (let start = 0; start < dimensions; start += 16) {
      const bits = Math.floor(random() * 65_536)
      for (let bit = 0; bit < 16; bit++) {
        const at = start + bit
        projected[at] = (projected[at] as number) + ((bits >> bit) & 1 ? value : -value)
      }
    }
  }
  return projected
}
