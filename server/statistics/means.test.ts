import { expect, it } from 'vitest'
import { meanDifference, meanInterval } from './means.ts'

const sumsOf = (values: number[]) => ({
  count: values.length,
  sum: values.reduce((sum, value) => sum + value, 0),
  squares: values.reduce((sum, value) => sum + value * value, 0),
})

it('the interval of a mean is Student’s', () => {
  // R: t.test(c(1, 2, 3, 4, 10))
  const { low, high } = meanInterval(sumsOf([1, 2, 3, 4, 10]), 0.05) ?? { low: Number.NaN, high: Number.NaN }
  expect(low).toBeCloseTo(-0.389945, 6)
  expect(high).toBeCloseTo(8.389945, 6)
  expect(meanInterval(sumsOf([1]), 0.05)).toBeNull()
})

it('the interval of a difference is Welch’s', () => {
  const { low, high } = meanDifference(sumsOf([1, 2, 3, 4, 5]), sumsOf([2, 4, 6, 8]), 0.05) ?? { low: 0, high: 0 }
  expect((low + high) / 2).toBeCloseTo(2, 12)
  expect(low).toBeLessThan(0)
  expect(meanDifference(sumsOf([3, 3]), sumsOf([5, 5]), 0.05)).toEqual({ low: 2, high: 2 })
  expect(meanDifference(sumsOf([3]), sumsOf([5, 5]), 0.05)).toBeNull()
})
