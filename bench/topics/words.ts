// The baseline: k-means on TF-IDF vectors, which reflect words but not their meaning.

import { wordsOf } from '../../server/clustering/terms.ts'

type Sparse = { terms: Int32Array; weights: Float64Array }

const weigh = (texts: string[]): { rows: Sparse[]; width: number } => {
  const numbers = new Map<string, number>()
  const rows = texts.map((text) => {
    const counts = new Map<number, number>()
    for (const word of wordsOf(text)) {
      const number = numbers.get(word) ?? numbers.size
      numbers.set(word, number)
      counts.set(number, (counts.get(number) ?? 0) + 1)
    }
    return counts
  })
  const documents = new Float64Array(numbers.size)
  for (const row of rows) for (const term of row.keys()) documents[term] = (documents[term] ?? 0) + 1
  const weighed = rows.map((row) => {
    const terms = Int32Array.from(row.keys())
    const weights = Float64Array.from(
      terms,
      (term) => (row.get(term) ?? 0) * Math.log(texts.length / (documents[term] ?? 1)),
    )
    const length = Math.hypot(...weights) || 1
    return { terms, weights: weights.map((weight) => weight / length) }
  })
  return { rows: weighed, width: numbers.size }
}

const rounds = 25

const add = (center: Float64Array, { terms, weights }: Sparse): void => {
  for (const [at, term] of terms.entries()) center[term] = (center[term] ?? 0) + (weights[at] ?? 0)
}

const cosine = (center: Float64Array, { terms, weights }: Sparse): number => {
  let total = 0
  for (let at = 0; at < terms.length; at++) total += (center[terms[at] ?? 0] ?? 0) * (weights[at] ?? 0)
  return total
}

/** Draws a row with a probability proportional to its weight. */
const draw = (weights: Float64Array, random: () => number): number => {
  let left = random() * weights.reduce((total, weight) => total + weight, 0)
  const drawn = weights.findIndex((weight) => {
    left -= weight
    return left <= 0
  })
  return Math.max(0, drawn)
}

/** Chooses each next center with a probability that grows with its distance from the earlier ones, as in k-means++. */
const chooseCenters = (centers: Float64Array[], rows: Sparse[], random: () => number): void => {
  const distances = new Float64Array(rows.length).fill(1)
  for (const center of centers) {
    add(center, rows[draw(distances, random)] as Sparse)
    for (const [at, row] of rows.entries()) {
      distances[at] = Math.min(distances[at] ?? 1, Math.max(0, 1 - cosine(center, row)) ** 2)
    }
  }
}

/** Moves a center to the mean of its rows. */
const move = (center: Float64Array, rows: Sparse[]): void => {
  center.fill(0)
  for (const row of rows) add(center, row)
  const length = Math.hypot(...center.filter((weight) => weight !== 0)) || 1
  for (let term = 0; term < center.length; term++) center[term] = (center[term] ?? 0) / length
}

/** Divides texts into this many clusters. */
export const clusterByWords = (texts: string[], count: number, random: () => number): Int32Array => {
  const { rows, width } = weigh(texts)
  const centers = Array.from({ length: count }, () => new Float64Array(width))
  chooseCenters(centers, rows, random)
  const assigned = new Int32Array(rows.length)
  for (let round = 0; round < rounds; round++) {
    for (const [at, row] of rows.entries()) {
      const cosines = centers.map((center) => cosine(center, row))
      assigned[at] = cosines.indexOf(Math.max(...cosines))
    }
    for (const [cluster, center] of centers.entries()) {
      const own = rows.filter((_, at) => assigned[at] === cluster)
      move(center, own)
    }
  }
  return assigned
}
