import { expect, it } from 'vitest'
import { haveSameSums, openGrains, packValues } from './packed.ts'

/** Packs values. All of them belong to one conversation, like the costs of several judges. */
const packed = (values: number[]): Buffer => {
  const [all] = openGrains(Buffer.alloc(20))
  if (!all) throw new Error('no grain')
  const hours = packValues(all, { numbers: new Int32Array(values.length), values: Float64Array.from(values) }).get(0)
  return hours?.hours ?? Buffer.alloc(0)
}

it('sums of the same values in another order are the same', () => {
  const values = [1e15, 0.1, -1e15, 0.2, 1e14 / 3, -1e14 / 3, 0.3]
  const sorted = values.toSorted((a, b) => a - b)
  expect(packed(values).equals(packed(sorted))).toBe(false)
  expect(haveSameSums(packed(values), packed(sorted))).toBe(true)
  expect(haveSameSums(packed([9e99, -9e99, 3]), packed([9e99, 3, -9e99]))).toBe(true)
})

it('other values are not the same', () => {
  expect(haveSameSums(packed([1, 2, 3]), packed([1, 2, 3.001]))).toBe(false)
  expect(haveSameSums(packed([1, 2, 3]), packed([1, 2]))).toBe(false)
})
