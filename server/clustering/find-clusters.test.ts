import { describe, expect, it } from 'vitest'
import { openRandom } from '../demo/random.ts'
import { findClusters, nearestCluster } from './find-clusters.ts'
import { cutAt, mergeAll, sumsOf } from './merge.ts'
import { dot, makeVectors, normalize, type Vectors, vectorAt } from './vectors.ts'

const dimensions = 256
const seed = 11

/** Returns unit vectors in random directions, all leaning in the same one. */
const randomVectors = (count: number, stream: number): Vectors => {
  const { next } = openRandom(seed, stream)
  const vectors = makeVectors(count, dimensions)
  for (let at = 0; at < count; at++) {
    const vector = vectorAt(vectors, at)
    for (let axis = 0; axis < dimensions; axis++) vector[axis] = next() + next() + next() - 1.5 + (axis === 0 ? 1 : 0)
    normalize(vector)
  }
  return vectors
}

/** Returns vectors around as many centers as there are sizes, and the center of each. */
const planted = (sizes: number[]): { vectors: Vectors; truth: number[] } => {
  const centers = randomVectors(sizes.length, 1)
  const truth = sizes.flatMap((size, center) => Array.from({ length: size }, () => center))
  const vectors = randomVectors(truth.length, 2)
  for (const [at, center] of truth.entries()) {
    const vector = vectorAt(vectors, at)
    const middle = vectorAt(centers, center)
    for (let axis = 0; axis < dimensions; axis++) vector[axis] = 0.3 * (vector[axis] ?? 0) + (middle[axis] ?? 0)
    normalize(vector)
  }
  return { vectors, truth }
}

const find = (vectors: Vectors) => findClusters(vectors, openRandom(seed, 3).next)

describe('clusters', () => {
  const sizes = [400, 200, 100, 50, 20, 10]
  const { vectors, truth } = planted(sizes)

  it('are found, however many there are and whatever their sizes', () => {
    const { assigned, sizes: found } = find(vectors)
    expect(found.toSorted((a, b) => b - a)).toEqual(sizes)
    const pairs = new Set(truth.map((center, at) => `${center} ${assigned[at]}`))
    expect(pairs.size).toBe(sizes.length)
  })

  it('are the same every time', () => {
    expect(find(vectors)).toEqual(find(vectors))
  })

  it('leave out vectors that resemble no others', () => {
    const strangers = randomVectors(4, 4)
    const values = new Float32Array([...vectors.values, ...strangers.values])
    const { assigned } = find({ values, dimensions, count: vectors.count + strangers.count })
    expect([...assigned.slice(vectors.count)]).toEqual([-1, -1, -1, -1])
    const excluded = assigned.slice(0, vectors.count).filter((cluster) => cluster === -1)
    expect(excluded.length).toBeLessThan(0.02 * vectors.count)
  })

  it('are found for new vectors', () => {
    const found = find(vectors)
    for (const at of [0, 399, 500, 779]) {
      expect(nearestCluster(found, vectorAt(vectors, at))?.cluster).toBe(found.assigned[at])
    }
    expect(nearestCluster(found, vectorAt(randomVectors(1, 6), 0))).toBeUndefined()
  })

  it('do not exist without vectors', () => {
    expect(find(makeVectors(0, dimensions))).toMatchObject({ sizes: [], groups: [] })
  })
})

describe('merging', () => {
  it('follows the mean cosine of all pairs', () => {
    const vectors = randomVectors(60, 5)
    const assigned = Int32Array.from({ length: 60 }, (_, at) => at % 12)
    const { sums, sizes } = sumsOf(vectors, assigned, 12)
    const merges = mergeAll(sums, sizes)
    const members = new Map(
      Array.from({ length: 12 }, (_, cluster) => [cluster, [...assigned.keys()].filter((at) => at % 12 === cluster)]),
    )
    const similarityOf = (a: number[], b: number[]) => {
      const cosines = a.flatMap((one) => b.map((other) => dot(vectorAt(vectors, one), vectorAt(vectors, other))))
      return cosines.reduce((sum, cosine) => sum + cosine, 0) / cosines.length
    }
    for (const { a, b, similarity, made } of merges) {
      const [ofA = [], ofB = []] = [members.get(a), members.get(b)]
      expect(similarity).toBeCloseTo(similarityOf(ofA, ofB), 5)
      members.delete(a)
      members.delete(b)
      for (const left of members.values()) expect(similarityOf(ofA, left)).toBeLessThanOrEqual(similarity + 1e-6)
      members.set(made, [...ofA, ...ofB])
    }
    expect(merges).toHaveLength(11)
    expect(new Set(cutAt(merges, 12, Number.NEGATIVE_INFINITY)).size).toBe(1)
    expect(new Set(cutAt(merges, 12, 2)).size).toBe(12)
  })
})
