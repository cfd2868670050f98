// Finds the exact nearest conversations of a few queries among all generated vectors, by comparing all of them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openKernel } from '../../server/platform/matrices/kernel.ts'

const dimensions = 512
const block = 1_024
const kept = 60

type Near = { id: string; similarity: number }

/** The number of queries must be a multiple of 8. */
export const openNearest = (queries: Float32Array[]) => {
  const code = readFileSync(join(import.meta.dirname, '../../dist/voice/kernel.wasm'))
  const kernel = openKernel(code, { bytes: 16 * 1024 * 1024 })
  const columns = new Float32Array(dimensions * queries.length)
  for (const [query, vector] of queries.entries()) {
    for (const [at, value] of vector.entries()) columns[at * queries.length + query] = value
  }
  const packed = kernel.pack(columns, queries.length)
  const rows = kernel.allocate(block * dimensions)
  const scores = kernel.allocate(block * queries.length)
  const best: Near[][] = queries.map(() => [])
  let ids: string[] = []

  const note = (near: Near[], id: string, similarity: number): void => {
    if (near.length >= kept && similarity <= (near.at(-1)?.similarity ?? 1)) return
    const at = near.findIndex((other) => other.similarity < similarity)
    near.splice(at === -1 ? near.length : at, 0, { id, similarity })
    if (near.length > kept) near.pop()
  }

  const compare = (): void => {
    kernel.multiplyPacked(rows, packed, scores, block)
    for (const [row, id] of ids.entries()) {
      for (const [query, near] of best.entries()) note(near, id, scores[row * queries.length + query] as number)
    }
    ids = []
  }

  return {
    add: (id: string, vector: Float32Array): void => {
      rows.set(vector, ids.length * dimensions)
      ids.push(id)
      if (ids.length === block) compare()
    },
    finish: compare,
    /** Returns the nearest conversations of a query, each only once. */
    nearest: (query: number, most: number): string[] =>
      [...new Set((best[query] ?? []).map(({ id }) => id))].slice(0, most),
  }
}
