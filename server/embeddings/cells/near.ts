import type { Db, OrgId } from '../../platform/db/database.ts'
import { dropOldest } from '../../platform/drop-oldest.ts'
import { dimensions } from '../encoder/sentence-encoder.ts'
import { readVector } from '../vectors.ts'
import { findCenters, listGenerations } from './queries.ts'

/** The cells of generation n are numbered from n times this number. */
export const cellsPerGeneration = 65_536

/**
 * The share of all cells that a search reads, and the minimum number. docs/decisions/0051-embeddings.md explains the
 * figures.
 */
const [partRead, fewestRead] = [1 / 64, 8]

type Centers = { vectors: Int8Array; lengths: Float64Array }

/** The centers of recently searched cells. The cells of a generation never change. */
const cache = new Map<string, Centers>()
const mostCached = 16

const lengthsOf = (vectors: Int8Array): Float64Array =>
  Float64Array.from({ length: vectors.length / dimensions }, (_, cell) => {
    let squares = 0
    for (let at = cell * dimensions; at < (cell + 1) * dimensions; at++) squares += (vectors[at] as number) ** 2
    return Math.sqrt(squares)
  })

const readCenters = async (db: Db, org: OrgId, model: number, generation: number): Promise<Centers | undefined> => {
  const key = `${org} ${model} ${generation}`
  const known = cache.get(key)
  if (known) return known
  const stored = await findCenters(db, org, model, generation)
  if (!stored) return undefined
  const vectors = readVector(stored)
  const centers = { vectors, lengths: lengthsOf(vectors) }
  cache.set(key, centers)
  dropOldest(cache, mostCached)
  return centers
}

/** Returns the numbers of the centers nearest to a vector. */
const nearestOf = ({ vectors, lengths }: Centers, vector: Float32Array): number[] => {
  const scores = lengths.map((length, cell) => {
    let product = 0
    for (let at = 0; at < dimensions; at++)
      product += (vectors[cell * dimensions + at] as number) * (vector[at] as number)
    return length === 0 ? -1 : product / length
  })
  const order = Array.from(scores.keys()).sort((a, b) => (scores[b] as number) - (scores[a] as number))
  return order.slice(0, Math.max(fewestRead, Math.ceil(order.length * partRead)))
}

/**
 * Returns the cells that a search for a vector reads: those nearest to it, and cell 0, which contains unsorted vectors.
 */
export const cellsNear = async (db: Db, org: OrgId, model: number, vector: Float32Array): Promise<number[]> => {
  const cells = [0]
  for (const generation of await listGenerations(db, org, model)) {
    const centers = await readCenters(db, org, model, generation)
    if (centers) cells.push(...nearestOf(centers, vector).map((cell) => generation * cellsPerGeneration + cell))
  }
  return cells
}
