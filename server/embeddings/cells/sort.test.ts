import { describe, expect, it } from 'vitest'
import { makeConversations, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { embedNew } from '../lifecycle.ts'
import { builtIn } from '../models.ts'
import { deleteEmbeddings } from '../queries.ts'
import { findSimilar } from '../search.ts'
import { sortVectors } from './jobs.ts'
import { cellsPerGeneration } from './near.ts'
import { insertCells } from './queries.ts'

const server = await testServer({ EARSHOT_EMBEDDINGS: 'on' })
const { db, jobs } = server.deps

const texts = [
  'I lost my credit card',
  'what will the weather be like in Paris',
  'two large pizzas with extra cheese please',
  'I want to see a dentist on Monday',
]

const open = async () => {
  const { id, key } = await makeOrganization(server)
  const org = orgIdOf(id)
  const made = texts.map((text) => ({ transcript: [{ role: 'customer', text }] }))
  const ids = await makeConversations(server, key, made)
  await jobs.drain([embedNew], server.deps)
  const stored = () =>
    db
      .selectFrom('conversation_passages')
      .select(['conversation_id as id', 'cell', 'vector'])
      .where('organization_id', '=', org)
      .orderBy('conversation_id')
      .execute()
  /** Learns cells around the stored vectors, in this order. */
  const learn = async (generation: number, order: number[]) => {
    const vectors = (await stored()).map(({ vector }) => vector)
    const centers = Buffer.concat(order.map((at) => vectors[at] ?? Buffer.alloc(512)))
    await insertCells(db, org, builtIn, { generation, centers })
  }
  const sort = async () => {
    await jobs.enqueue(db, sortVectors, { organizationId: org, model: builtIn })
    await jobs.drain([sortVectors], server.deps)
    return (await stored()).map(({ cell }) => cell)
  }
  const find = async (text: string) => {
    const options = { minimumSimilarity: 0.5, limit: 1 }
    return (await findSimilar(server.deps, org, { text }, options)).map(({ conversationId }) => conversationId)
  }
  const generations = async () =>
    (await db.selectFrom('embedding_cells').select('generation').where('organization_id', '=', org).execute()).map(
      ({ generation }) => generation,
    )
  return {
    org,
    ids: ids.toSorted(),
    texts: ids.map((one, at) => ({ id: one, text: texts[at] ?? '' })),
    learn,
    sort,
    find,
    generations,
  }
}

const eight = [0, 1, 2, 3, 0, 1, 2, 3]

describe('vectors', () => {
  it('stay unsorted while there are few', async () => {
    const { sort } = await open()
    expect(await sort()).toEqual([0, 0, 0, 0])
  })

  it('are sorted into the nearest cell, and found there', async () => {
    const { texts: each, learn, sort, find } = await open()
    await learn(1, eight)
    for (const { id, text } of each) expect(await find(text)).toEqual([id])
    expect(await sort()).toEqual([0, 1, 2, 3].map((cell) => cellsPerGeneration + cell))
    for (const { id, text } of each) expect(await find(text)).toEqual([id])
  })

  it('are sorted again into a new generation, which replaces the older one', async () => {
    const { texts: each, learn, sort, find, generations } = await open()
    await learn(1, eight)
    await sort()
    await learn(2, eight.toReversed())
    for (const { id, text } of each) expect(await find(text)).toEqual([id])
    expect(await sort()).toEqual([3, 2, 1, 0].map((cell) => 2 * cellsPerGeneration + cell))
    expect(await generations()).toEqual([2])
    for (const { id, text } of each) expect(await find(text)).toEqual([id])
  })

  it('that another transaction changes are sorted later, without waiting for it', async () => {
    const { org, ids, learn, sort, generations } = await open()
    await learn(1, eight)
    await sort()
    await learn(2, eight)
    const [inFirst, inSecond] = [1, 2].map((generation) =>
      [0, 1, 2, 3].map((cell) => generation * cellsPerGeneration + cell),
    )
    const undone = db.transaction().execute(async (trx) => {
      await deleteEmbeddings(trx, org, ids.slice(1, 2))
      expect(await sort()).toEqual(inSecond?.with(1, inFirst?.[1] ?? 0))
      expect(await generations()).toEqual([1, 2])
      throw new Error('undone')
    })
    await expect(undone).rejects.toThrow('undone')
    expect(await sort()).toEqual(inSecond)
    expect(await generations()).toEqual([2])
  })
})
