import { assign, clusterByDirection, type Nearest, nearestTo, type Random } from './k-means.ts'
import { cutAt, mergeAll, sumsOf } from './merge.ts'
import { addTo, makeVectors, meanOf, normalize, type Vectors, vectorAt, withoutMean } from './vectors.ts'

/** The minimum size of a cluster. */
const smallestCluster = 5
/**
 * The maximum number of small clusters to start with. They are merged afterwards, which finds clusters of any shape and
 * size.
 */
const mostSmall = 600
/**
 * Clusters with at least this mean similarity are merged into one. The similarity is calculated after subtracting the
 * mean of all vectors.
 */
const sameFrom = 0.36
/** Clusters with at least this mean similarity belong to the same group. */
const relatedFrom = 0.2
/** Vectors that are less similar than this to the center of their cluster are outliers, even in a wide cluster. */
const leastSimilarity = 0.25
/** Vectors are also outliers if they are this many median deviations less similar than the median of their cluster. */
const mostDeviations = 5

export type Found = {
  /** The mean of all vectors. It is subtracted before vectors are compared with centers. */
  mean: Float32Array
  /** The unit vectors in the middle of the clusters. */
  centers: Vectors
  /** The minimum similarity of the vectors in each cluster. */
  bounds: number[]
  sizes: number[]
  /** The group of each cluster. */
  groups: number[]
  /** The cluster of each vector, or -1 for outliers. */
  assigned: Int32Array
  similarity: Float32Array
}

/** Renumbers values consecutively, in order of their first occurrence. */
const renumber = (numbers: Int32Array): { numbers: Int32Array; count: number } => {
  const known = new Map<number, number>()
  const renumbered = numbers.map((number) => {
    const next = known.get(number) ?? known.size
    known.set(number, next)
    return next
  })
  return { numbers: renumbered, count: known.size }
}

/** Returns the unit vectors in the middle of the vectors of each cluster. */
const centersOf = (vectors: Vectors, assigned: Int32Array, count: number): Vectors => {
  const { sums } = sumsOf(vectors, assigned, count)
  for (let cluster = 0; cluster < count; cluster++) normalize(vectorAt(sums, cluster))
  return sums
}

/** Removes clusters that are too small. Their vectors go to the nearest other cluster, or become outliers. */
const withoutSmall = (centers: Vectors, assigned: Int32Array): Vectors => {
  const sizes = new Int32Array(centers.count)
  for (const cluster of assigned) sizes[cluster] = (sizes[cluster] as number) + 1
  const kept = [...sizes.keys()].filter((cluster) => (sizes[cluster] as number) >= smallestCluster)
  const left = makeVectors(kept.length, centers.dimensions)
  for (const [at, cluster] of kept.entries()) vectorAt(left, at).set(vectorAt(centers, cluster))
  return left
}

const medianOf = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

/** Returns the minimum similarity of the vectors in each cluster. The medians are hardly affected by outliers. */
const boundsOf = (assigned: Int32Array, similarity: Float32Array, count: number): number[] => {
  const values: number[][] = Array.from({ length: count }, () => [])
  for (const [at, cluster] of assigned.entries()) values[cluster]?.push(similarity[at] as number)
  return values.map((ofCluster) => {
    const median = medianOf(ofCluster)
    const deviation = medianOf(ofCluster.map((value) => Math.abs(value - median)))
    return Math.max(leastSimilarity, median - mostDeviations * deviation)
  })
}

/** Divides unit vectors into clusters, and determines the number of clusters. */
export const findClusters = (given: Vectors, random: Random): Found => {
  const mean = meanOf(given)
  const vectors = withoutMean(given, mean)
  const smallCount = Math.min(mostSmall, Math.max(1, Math.round(Math.sqrt(vectors.count) * 3)), vectors.count)
  const small = clusterByDirection(vectors, smallCount, random)
  const { sums, sizes } = sumsOf(vectors, small.assigned, small.centers.count)
  const cut = cutAt(mergeAll(sums, sizes), small.centers.count, sameFrom)
  const merged = renumber(Int32Array.from(small.assigned, (cluster) => cut[cluster] as number))
  const centers = withoutSmall(centersOf(vectors, merged.numbers, merged.count), merged.numbers)
  const assigned = new Int32Array(vectors.count).fill(-1)
  const similarity = new Float32Array(vectors.count)
  if (centers.count > 0) assign(vectors, { centers, assigned, similarity })
  const bounds = boundsOf(assigned, similarity, centers.count)
  for (let at = 0; at < vectors.count; at++) {
    if ((similarity[at] as number) < (bounds[assigned[at] as number] ?? 0)) assigned[at] = -1
  }
  const final = sumsOf(vectors, assigned, centers.count)
  const groups = renumber(cutAt(mergeAll(final.sums, final.sizes), centers.count, relatedFrom)).numbers
  return { mean, centers, bounds, sizes: [...final.sizes], groups: [...groups], assigned, similarity }
}

/** The data that new vectors are compared with. */
export type KnownClusters = Pick<Found, 'mean' | 'centers' | 'bounds'>

/** Returns the cluster of a new vector, or undefined for an outlier. */
export const nearestCluster = ({ mean, centers, bounds }: KnownClusters, given: Float32Array): Nearest | undefined => {
  const vector = Float32Array.from(given)
  addTo(vector, mean, -1)
  normalize(vector)
  const nearest = nearestTo(vector, centers)
  return nearest.similarity >= (bounds[nearest.cluster] ?? Number.POSITIVE_INFINITY) ? nearest : undefined
}
