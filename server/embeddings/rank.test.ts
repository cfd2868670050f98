import { setImmediate } from 'node:timers'
import { expect, it } from 'vitest'
import { seededRandom } from '../../test/malformed.ts'
import { dimensions } from './encoder/sentence-encoder.ts'
import { rankPassages } from './rank.ts'
import { similarityBetween } from './vectors.ts'

const random = seededRandom(7)
const vectorOf = () => Int8Array.from({ length: dimensions }, () => random.below(255) - 127)
const passageOf = (conversationId: string, vector: Int8Array, firstTurn = 0) => ({
  conversationId,
  vector: Buffer.from(vector.buffer),
  firstTurn,
  lastTurn: firstTurn,
})

it('returns the nearest passage of each conversation, nearest first, and equal ones in their order', async () => {
  const query = Float32Array.from(vectorOf())
  const vectors = Array.from({ length: 300 }, vectorOf)
  const passages = vectors.map((vector, at) => passageOf(`call-${at % 100}`, vector, at))
  const expected = Map.groupBy(
    passages.map((passage, at) => ({ ...passage, similarity: similarityBetween(query, vectors[at] ?? []) })),
    ({ conversationId }) => conversationId,
  )
  const best = [...expected.values()].map((some) => some.toSorted((a, b) => b.similarity - a.similarity)[0])
  best.sort((a, b) => (b?.similarity ?? 0) - (a?.similarity ?? 0))
  const ranked = await rankPassages(passages, query, -1)
  expect(ranked.map(({ firstTurn }) => firstTurn)).toEqual(best.map((one) => one?.firstTurn))
  const middle = ranked[50]?.similarity ?? 0
  expect(await rankPassages(passages, query, middle)).toEqual(ranked.slice(0, 51))
  const same = ['c', 'a', 'b'].map((id) => passageOf(id, Int8Array.from(query)))
  expect((await rankPassages(same, query, -1)).map(({ conversationId }) => conversationId)).toEqual(['c', 'a', 'b'])
})

it('lets other requests run while it compares many passages', async () => {
  const vectors = Array.from({ length: 50 }, vectorOf)
  const passages = Array.from({ length: 40_000 }, (_, at) => passageOf(`call-${at}`, vectors[at % 50] ?? vectorOf()))
  let turns = 0
  let isOver = false
  const turn = () => {
    turns++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  expect(await rankPassages(passages, Float32Array.from(vectorOf()), -1)).toHaveLength(40_000)
  isOver = true
  // This many comparisons take longer than two turns on any processor.
  expect(turns).toBeGreaterThan(2)
})
