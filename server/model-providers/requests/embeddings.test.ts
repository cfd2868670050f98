import { expect, it } from 'vitest'
import { readEmbeddings } from './embeddings.ts'

const read = (indexes: unknown[]) =>
  readEmbeddings({ data: indexes.map((index, at) => ({ index, embedding: [at] })) })?.vectors

it('reads vectors in the order of the texts', () => {
  expect(read([2, 0, 1])).toEqual([[1], [2], [0]])
  expect(read([undefined, undefined])).toEqual([[0], [1]])
})

it.each([[[0, 2, 2]], [[0, 0]], [[1, 2]], [[0, '1']], [[0, 1.5]], [[-1, 0]]])('refuses the indexes %j', (indexes) => {
  expect(read(indexes)).toBeUndefined()
})
