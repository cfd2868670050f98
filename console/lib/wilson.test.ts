import { expect, it } from 'vitest'
import { wilson } from './wilson.ts'

it('is the interval of published tables', () => {
  const interval = wilson(10, 100)
  expect(interval?.low).toBeCloseTo(0.0552, 4)
  expect(interval?.high).toBeCloseTo(0.1744, 4)
})

it('stays between 0 and 1 and contains the rate', () => {
  for (const [hits, n] of [
    [0, 1],
    [1, 1],
    [0, 1_000],
    [1_000, 1_000],
  ] as const) {
    const { low, high } = wilson(hits, n) ?? { low: -1, high: 2 }
    expect(low).toBeGreaterThanOrEqual(0)
    expect(high).toBeLessThanOrEqual(1)
    expect(low).toBeLessThanOrEqual(hits / n)
    expect(high).toBeGreaterThanOrEqual(hits / n)
  }
})

it('does not exist without observations', () => {
  expect(wilson(0, 0)).toBeNull()
})
