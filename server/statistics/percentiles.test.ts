import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/malformed.ts'
import { normalTwoSided, z95 } from './distributions.ts'
import {
  cumulative,
  type Distribution,
  percentileDifference,
  percentilePositions,
  percentileTest,
} from './percentiles.ts'

const distributionOf = (values: number[]): Distribution => {
  const sorted = values.toSorted((a, b) => a - b)
  return { values: sorted, upto: cumulative(sorted.map(() => 1)) }
}

const upTo = (count: number, by = (value: number) => value) =>
  distributionOf(Array.from({ length: count }, (_, at) => by(at + 1)))

describe('a percentile', () => {
  it('is between the two values with ranks 1.96 standard errors away', () => {
    // 50 ± 1.96 × 5, rounded outward.
    expect(percentilePositions(cumulative(Array(100).fill(1)), 0.5)).toEqual({ at: 49, low: 39, high: 60 })
    // The same values, counted together.
    expect(percentilePositions(cumulative([39, 22, 39]), 0.5)).toEqual({ at: 1, low: 1, high: 1 })
    expect(percentilePositions(cumulative([40, 20, 40]), 0.5)).toEqual({ at: 1, low: 0, high: 2 })
  })

  it('has no interval with too few values, and no value without any', () => {
    expect(percentilePositions(cumulative([1, 1, 1]), 0.5)).toEqual({ at: 1, low: null, high: null })
    expect(percentilePositions(cumulative([]), 0.5)).toEqual({ at: null, low: null, high: null })
  })
})

describe('a difference of percentiles', () => {
  it('has an interval that combines those of both', () => {
    // Medians 50 (40 to 61) and 150 (140 to 161).
    const { low, high } = percentileDifference(
      upTo(100),
      upTo(100, (value) => value + 100),
      0.5,
    ) ?? { low: 0, high: 0 }
    expect(low).toBeCloseTo(100 - Math.hypot(10, 11), 9)
    expect(high).toBeCloseTo(100 + Math.hypot(11, 10), 9)
    expect(percentileDifference(upTo(100), upTo(5), 0.5)).toBeNull()
  })

  it('has a p below 0.05 if its interval excludes 0', () => {
    const random = seededRandom(7)
    for (let run = 0; run < 200; run++) {
      const make = (shift: number) =>
        distributionOf(Array.from({ length: 20 + random.below(200) }, () => random.below(40) + shift))
      const [a, b] = [make(0), make(random.below(12))]
      const interval = percentileDifference(a, b, 0.5)
      const p = percentileTest(a, b, 0.5)
      if (!interval || p === null) throw new Error('there are enough values')
      expect(p < 0.05).toBe(interval.low > 0 || interval.high < 0)
    }
  })

  it('has a smaller p the larger it is, and none with too few values', () => {
    const ps = [0, 5, 20, 40].map(
      (shift) =>
        percentileTest(
          upTo(100),
          upTo(100, (value) => value + shift),
          0.5,
        ) ?? -1,
    )
    expect(ps[0]).toBe(1)
    expect(ps).toEqual(ps.toSorted((a, b) => b - a))
    expect(ps.at(-1)).toBeLessThan(1e-4)
    expect(percentileTest(upTo(100), upTo(5), 0.5)).toBeNull()
    // All values on one side are larger than all values on the other.
    expect(
      percentileTest(
        upTo(100),
        upTo(100, (value) => value + 1_000),
        0.5,
      ),
    ).toBeLessThan(normalTwoSided(z95 * 2))
  })
})
