import { addTo, dot, makeVectors, type Vectors, vectorAt } from './vectors.ts'

/**
 * A cluster merged from two others. The numbers of the initial clusters come first, followed by the merged ones in the
 * order of their merges.
 */
export type Merge = { a: number; b: number; similarity: number; made: number }

/** Returns the sums of the vectors of each cluster. */
export const sumsOf = (vectors: Vectors, assigned: Int32Array, count: number): { sums: Vectors; sizes: Int32Array } => {
  const sums = makeVectors(count, vectors.dimensions)
  const sizes = new Int32Array(count)
  for (let at = 0; at < vectors.count; at++) {
    const cluster = assigned[at] as number
    if (cluster < 0) continue
    addTo(vectorAt(sums, cluster), vectorAt(vectors, at))
    sizes[cluster] = (sizes[cluster] as number) + 1
  }
  return { sums, sizes }
}

type Found = { a: number; b: number; similarity: number }

/** Finds the two most similar of the clusters that are left. */
const findNearest = (left: number[], similarities: Float64Array, count: number): Found => {
  let found = { a: -1, b: -1, similarity: Number.NEGATIVE_INFINITY }
  for (const [at, a] of left.entries()) {
    for (let other = at + 1; other < left.length; other++) {
      const b = left[other] as number
      const similarity = similarities[a * count + b] as number
      if (similarity > found.similarity) found = { a, b, similarity }
    }
  }
  return found
}

/**
 * Merges the two most similar clusters until only one is left. The similarity of two clusters is the mean cosine of all
 * pairs between them, which the sums of unit vectors give exactly.
 */
export const mergeAll = (sums: Vectors, sizes: Int32Array): Merge[] => {
  const count = sums.count
  const similarities = new Float64Array(count * count)
  const size = Float64Array.from(sizes)
  const names = Array.from({ length: count }, (_, at) => at)
  let left = names.filter((at) => (sizes[at] as number) > 0)
  for (const a of left) {
    for (const b of left) {
      const pairs = (size[a] as number) * (size[b] as number)
      similarities[a * count + b] = dot(vectorAt(sums, a), vectorAt(sums, b)) / pairs
    }
  }
  const merges: Merge[] = []
  while (left.length > 1) {
    const { a, b, similarity } = findNearest(left, similarities, count)
    const [sizeA, sizeB] = [size[a] as number, size[b] as number]
    const made = count + merges.length
    merges.push({ a: names[a] as number, b: names[b] as number, similarity, made })
    left = left.filter((other) => other !== b)
    for (const other of left) {
      const sum =
        (similarities[a * count + other] as number) * sizeA + (similarities[b * count + other] as number) * sizeB
      similarities[a * count + other] = sum / (sizeA + sizeB)
      similarities[other * count + a] = sum / (sizeA + sizeB)
    }
    size[a] = sizeA + sizeB
    names[a] = made
  }
  return merges
}

/** Returns which cluster each initial cluster belongs to if only merges with at least this similarity are applied. */
export const cutAt = (merges: Merge[], count: number, similarity: number): Int32Array => {
  const parents = Int32Array.from({ length: count + merges.length }, (_, at) => at)
  for (const { a, b, made, similarity: reached } of merges) {
    if (reached < similarity) continue
    parents[a] = made
    parents[b] = made
  }
  return Int32Array.from({ length: count }, (_, at) => {
    let cluster = at
    while (parents[cluster] !== cluster) cluster = parents[cluster] as number
    return cluster
  })
}
