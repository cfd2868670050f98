import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addGroup, addSpreads, correlation, emptySpread, independent, scaleSpread } from './spread.ts'

const hours = (counts: [affected: number, calls: number][]) =>
  counts.reduce((spread, [affected, calls]) => addGroup(spread, { affected, calls, squares: calls }), emptySpread)

describe('the spread of groups', () => {
  it('is 1 if all in a group are equal, and 0 if chance explains it or there is nothing to compare', () => {
    expect(
      correlation(
        hours([
          [10, 10],
          [0, 10],
          [10, 10],
          [0, 10],
        ]),
        0.5,
      ),
    ).toBeCloseTo(1, 12)
    expect(
      correlation(
        hours([
          [5, 10],
          [5, 10],
        ]),
        0.5,
      ),
    ).toBe(0)
    expect(
      correlation(
        hours([
          [1, 1],
          [0, 1],
        ]),
        0.5,
      ),
    ).toBe(0)
    expect(correlation(emptySpread, 0.5)).toBe(0)
  })

  it('is the correlation that the groups were created with', () => {
    // The hours have 20 calls each, with alternating rates of 0.1 and 0.3, and exactly the spread that chance produces:
    // 20 p (1 - p).
    const around = (rate: number): [number, number][] => {
      const deviation = Math.sqrt(20 * rate * (1 - rate))
      return [
        [20 * rate + deviation, 20],
        [20 * rate - deviation, 20],
      ]
    }
    const spread = hours([...around(0.1), ...around(0.3)])
    expect(correlation(spread, 0.2)).toBeCloseTo(0.1 ** 2 / (0.2 * 0.8), 12)
  })

  it('is the same for a whole, its joined parts, and each share of it', () => {
    const counts = fc
      .tuple(fc.nat(50), fc.integer({ min: 1, max: 50 }))
      .map(([a, b]): [number, number] => [Math.min(a, b), b])
    fc.assert(
      fc.property(
        fc.array(counts, { minLength: 1 }),
        fc.array(counts, { minLength: 1 }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (some, more, rate) => {
          const whole = correlation(hours([...some, ...more]), rate)
          expect(correlation(addSpreads(hours(some), hours(more)), rate)).toBeCloseTo(whole, 9)
          expect(correlation(scaleSpread(hours([...some, ...more]), 0.25), rate)).toBeCloseTo(whole, 9)
        },
      ),
    )
  })
})

it('similar calls are worth fewer, at most one divided by their correlation', () => {
  expect(independent(100, 0)).toBe(100)
  expect(independent(100, 1)).toBe(1)
  expect(independent(1, 0.5)).toBe(1)
  expect(independent(1e9, 0.01)).toBeCloseTo(100, 3)
})
