import { addTo, dot, makeVectors, normalize, type Vectors, vectorAt } from './vectors.ts'

/** Returns a number from 0 to below 1. */
export type Random = () => number

export type Clusters = {
  /** The unit vectors in the middle of the clusters. */
  centers: Vectors
  /** The cluster of each vector. */
  assigned: Int32Array
  /** The cosine of each vector and the center of its cluster. */
  similarity: Float32Array
}

const mostRounds = 25
/**
 * Stops when a round moves a smaller share of the vectors than this, because further rounds would hardly change the
 * clusters.
 */
const settledShare = 0.002

/**
 * Chooses centers that are far from each other: the farther a vector is from the chosen centers, the more likely it is
 * chosen next.
 */
const chooseCenters = (vectors: Vectors, count: number, random: Random): Vectors => {
  const centers = makeVectors(count, vectors.dimensions)
  const distances = new Float32Array(vectors.count).fill(1)
  let next = Math.floor(random() * vectors.count)
  for (let chosen = 0; chosen < count; chosen++) {
    const center = vectorAt(centers, chosen)
    center.set(vectorAt(vectors, next))
    let total = 0
    for (let at = 0; at < vectors.count; at++) {
      const distance = Math.max(0, 1 - dot(center, vectorAt(vectors, at)))
      const nearest = Math.min(distances[at] as number, distance * distance)
      distances[at] = nearest
      total += nearest
    }
    let left = random() * total
    next = 0
    while (next < vectors.count - 1 && left > (distances[next] as number)) left -= distances[next++] as number
  }
  return centers
}

export type Nearest = { cluster: number; similarity: number }

/** Returns the nearest center, or cluster -1 if there is none. */
export const nearestTo = (vector: Float32Array, centers: Vectors): Nearest => {
  const nearest = { cluster: -1, similarity: Number.NEGATIVE_INFINITY }
  for (let cluster = 0; cluster < centers.count; cluster++) {
    const similarity = dot(vector, vectorAt(centers, cluster))
    if (similarity > nearest.similarity) {
      nearest.cluster = cluster
      nearest.similarity = similarity
    }
  }
  return nearest
}

/** Assigns each vector to the nearest center. Returns the number of vectors that moved to another cluster. */
export const assign = (vectors: Vectors, { centers, assigned, similarity }: Clusters): number => {
  let changed = 0
  for (let at = 0; at < vectors.count; at++) {
    const nearest = nearestTo(vectorAt(vectors, at), centers)
    if (assigned[at] !== nearest.cluster) changed++
    assigned[at] = nearest.cluster
    similarity[at] = nearest.similarity
  }
  return changed
}

/** Moves each center to the middle of its vectors. An empty cluster gets the vector that fits its own cluster worst. */
const moveCenters = (vectors: Vectors, { centers, assigned, similarity }: Clusters): void => {
  const sizes = new Int32Array(centers.count)
  centers.values.fill(0)
  for (let at = 0; at < vectors.count; at++) {
    const cluster = assigned[at] as number
    addTo(vectorAt(centers, cluster), vectorAt(vectors, at))
    sizes[cluster] = (sizes[cluster] as number) + 1
  }
  for (let cluster = 0; cluster < centers.count; cluster++) {
    const center = vectorAt(centers, cluster)
    if (sizes[cluster] === 0) {
      const worst = similarity.reduce((least, value, at) => (value < (similarity[least] as number) ? at : least), 0)
      center.set(vectorAt(vectors, worst))
      similarity[worst] = 1
    }
    normalize(center)
  }
}

/** Divides unit vectors into clusters by their directions. With the same random numbers, the clusters are the same. */
export const clusterByDirection = (vectors: Vectors, count: number, random: Random): Clusters => {
  const clusters = {
    centers: chooseCenters(vectors, Math.min(count, vectors.count), random),
    assigned: new Int32Array(vectors.count).fill(-1),
    similarity: new Float32Array(vectors.count),
  }
  for (let round = 0; round < mostRounds; round++) {
    const changed = assign(vectors, clusters)
    if (changed <= settledShare * vectors.count) break
    moveCenters(vectors, clusters)
  }
  return clusters
}
