import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isotonic, probabilityAt } from './isotonic.ts'
import { exactMcNemar, pairedInterval } from './paired.ts'

const pairs = fc
  .record({ fixed: fc.nat(60), broken: fc.nat(60), same: fc.nat(200) })
  .map(({ fixed, broken, same }) => ({ fixed, broken, all: fixed + broken + same }))
  .filter(({ all }) => all > 0)

/** Returns the two-sided p-value, calculated by adding up binomial coefficients. */
const byHand = (fixed: number, broken: number): number => {
  const all = fixed + broken
  let [coefficient, tail] = [1, 0]
  for (let k = 0; k <= all; k++) {
    if (k >= Math.max(fixed, broken)) tail += coefficient
    coefficient *= (all - k) / (k + 1)
  }
  return Math.min(1, (2 * tail) / 2 ** all)
}

describe('the exact test of pairs', () => {
  it('adds up the binomial tail', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(40), (fixed, broken) => {
        expect(exactMcNemar({ fixed, broken, all: 100 })).toBeCloseTo(byHand(fixed, broken), 10)
      }),
    )
    expect(exactMcNemar({ fixed: 6, broken: 0, all: 100 })).toBeCloseTo(0.03125, 12)
    expect(exactMcNemar({ fixed: 0, broken: 0, all: 100 })).toBe(1)
  })
})

describe('the interval of pairs', () => {
  it('contains the difference, is mirrored if the answers are swapped, and is wider if it is surer', () => {
    fc.assert(
      fc.property(pairs, ({ fixed, broken, all }) => {
        const { low, high } = pairedInterval({ fixed, broken, all }, 0.05)
        const difference = (fixed - broken) / all
        expect(low).toBeLessThanOrEqual(difference)
        expect(high).toBeGreaterThanOrEqual(difference)
        const mirrored = pairedInterval({ fixed: broken, broken: fixed, all }, 0.05)
        expect(mirrored.low).toBeCloseTo(-high, 8)
        expect(mirrored.high).toBeCloseTo(-low, 8)
        const surer = pairedInterval({ fixed, broken, all }, 0.01)
        expect(surer.low).toBeLessThanOrEqual(low)
        expect(surer.high).toBeGreaterThanOrEqual(high)
      }),
    )
  })

  it('of pairs that never differ is known exactly', () => {
    const z2 = 1.959963984540054 ** 2
    const { low, high } = pairedInterval({ fixed: 0, broken: 0, all: 50 }, 0.05)
    expect(high).toBeCloseTo(z2 / (50 + z2), 8)
    expect(low).toBeCloseTo(-z2 / (50 + z2), 8)
  })
})

const observations = fc.array(fc.record({ value: fc.integer({ min: 0, max: 10 }), holds: fc.boolean() }), {
  minLength: 1,
  maxLength: 60,
})

describe('an isotonic regression', () => {
  it('never falls, stays between 0 and 1, and keeps the total', () => {
    fc.assert(
      fc.property(observations, (given) => {
        const points = isotonic(given)
        for (const [at, [value, probability]] of points.entries()) {
          expect(probability).toBeGreaterThanOrEqual(points[at - 1]?.[1] ?? 0)
          expect(probability).toBeLessThanOrEqual(1)
          expect(value).toBeGreaterThan(points[at - 1]?.[0] ?? -1)
        }
        const expected = given.reduce((sum, { value }) => sum + probabilityAt(points, value), 0)
        expect(expected).toBeCloseTo(given.filter(({ holds }) => holds).length, 8)
      }),
    )
  })

  it('pools what falls', () => {
    const given = [1, 2, 3, 4].map((value) => ({ value, holds: value === 2 || value === 4 }))
    expect(isotonic(given)).toEqual([
      [1, 0],
      [2, 0.5],
      [3, 0.5],
      [4, 1],
    ])
    expect(probabilityAt(isotonic(given), 3.5)).toBe(0.75)
    expect(probabilityAt(isotonic(given), 0)).toBe(0)
    expect(probabilityAt(isotonic(given), 9)).toBe(1)
  })
})
