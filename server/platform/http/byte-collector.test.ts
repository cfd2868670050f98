import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { openByteCollector } from './byte-collector.ts'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

it('returns the input however it was chunked, and starts again', () => {
  const gather = openByteCollector()
  const text = Array.from({ length: 5_000 }, (_, at) => `${at},`).join('')
  for (const char of text) gather.add(Buffer.from(char))
  expect(gather.take().toString()).toBe(text)
  expect(gather.add(Buffer.from('ab'))).toBe(2)
  expect(gather.add(Buffer.from('c'))).toBe(3)
  expect(gather.take().toString()).toBe('abc')
  expect(gather.take()).toHaveLength(0)
})

it('a million single bytes need little more than their size', () => {
  const gather = openByteCollector()
  const block = Buffer.alloc(1_000_000, 'x')
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < block.length; at++) gather.add(block.subarray(at, at + 1))
  collectGarbage()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000)
  expect(gather.take()).toEqual(block)
})
