// Stores all vectors consecutively in one array of floats, so that loops over thousands of them are fast.

export type Vectors = { values: Float32Array; dimensions: number; count: number }

export const makeVectors = (count: number, dimensions: number): Vectors => ({
  values: new Float32Array(count * dimensions),
  dimensions,
  count,
})

export const vectorAt = ({ values, dimensions }: Vectors, at: number): Float32Array =>
  values.subarray(at * dimensions, (at + 1) * dimensions)

/** Returns the dot product, which is the cosine of unit vectors. Four independent sums keep the processor busy. */
export const dot = (a: Float32Array, b: Float32Array): number => {
  let [first, second, third, fourth] = [0, 0, 0, 0]
  const end = a.length - (a.length % 4)
  for (let at = 0; at < end; at += 4) {
    first += (a[at] as number) * (b[at] as number)
    second += (a[at + 1] as number) * (b[at + 1] as number)
    third += (a[at + 2] as number) * (b[at + 2] as number)
    fourth += (a[at + 3] as number) * (b[at + 3] as number)
  }
  for (let at = end; at < a.length; at++) first += (a[at] as number) * (b[at] as number)
  return first + second + third + fourth
}

export const addTo = (sum: Float32Array, vector: Float32Array, times = 1): void => {
  for (let at = 0; at < sum.length; at++) sum[at] = (sum[at] as number) + times * (vector[at] as number)
}

/** Scales a vector to length 1. A zero vector stays as it is. */
export const normalize = (vector: Float32Array): void => {
  const length = Math.sqrt(dot(vector, vector))
  if (length === 0) return
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] as number) / length
}

/** Returns the mean of all vectors. */
export const meanOf = (vectors: Vectors): Float32Array => {
  const mean = new Float32Array(vectors.dimensions)
  for (let at = 0; at < vectors.count; at++) addTo(mean, vectorAt(vectors, at), 1 / vectors.count)
  return mean
}

/**
 * Subtracts the mean of all vectors and scales the results to unit length. Otherwise, the shared language and subject
 * would make every pair look similar, to a degree that depends on the model.
 */
export const withoutMean = (vectors: Vectors, mean: Float32Array): Vectors => {
  const centered = { ...vectors, values: Float32Array.from(vectors.values) }
  for (let at = 0; at < centered.count; at++) {
    const vector = vectorAt(centered, at)
    addTo(vector, mean, -1)
    normalize(vector)
  }
  return centered
}

/** Reads stored floats. Copies them, because a stored value can start at an offset that is not a multiple of 4. */
export const readFloats = (stored: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(stored).buffer)
