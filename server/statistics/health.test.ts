import { describe, expect, it } from 'vitest'
import { seeded } from '../../test/support/statistics.ts'
import { concurrency } from './concurrency.ts'
import { routing } from './routing.ts'
import { type Split, sampleRatio, splitLogE } from './sample-ratio.ts'

const ratio = (a: number, b: number, expectedA: number | null, smallestP?: number) =>
  sampleRatio({ a, b }, { expectedA, alpha: 0.05, ...(smallestP === undefined ? {} : { smallestP }) })

describe('the sample ratio', () => {
  it.each([
    [60, 40, 0.5, 0.310261],
    [235, 165, 0.5, 3.115464],
    [1300, 400, 0.8, 3.743833],
    [900, 100, 0.9, -0.425935],
  ])('of %i to %i where %d is expected', (a, b, expectedA, logE) => {
    expect(splitLogE({ a, b }, expectedA)).toBeCloseTo(logE, 6)
  })

  it('is reported in steps, and never taken back', () => {
    expect(ratio(60, 40, 0.5).status).toBe('fits')
    expect(ratio(235, 165, 0.5)).toMatchObject({ status: 'watch' })
    expect(ratio(300, 165, 0.5)).toMatchObject({ status: 'mismatch' })
    expect(ratio(5000, 5000, 0.5, 0.004)).toMatchObject({ status: 'mismatch', p: 0.004 })
  })

  it('says nothing with few units, or without an expected share', () => {
    expect(ratio(0, 0, 0.5)).toMatchObject({ status: 'too_few', p: 1, shareOfA: null })
    expect(ratio(19, 0, 0.5).status).toBe('too_few')
    expect(ratio(300, 0, 0.99).status).toBe('too_few')
    expect(ratio(500, 0, 0.99).status).not.toBe('too_few')
    expect(ratio(900, 100, null)).toMatchObject({ status: 'not_configured', p: 1, chiSquareP: null })
  })

  it('has an interval of shares that contains the expected one until it is refuted', () => {
    for (const [a, b] of [
      [60, 40],
      [250, 150],
      [260, 140],
      [1000, 5],
      [0, 30],
    ] as const) {
      const { shareOfA, eValue } = ratio(a, b, 0.5)
      const { low, high } = shareOfA ?? { low: Number.NaN, high: Number.NaN }
      expect(low <= 0.5 && high >= 0.5).toBe(eValue < 20)
      expect(low).toBeLessThanOrEqual(a / (a + b))
      expect(high).toBeGreaterThanOrEqual(a / (a + b))
    }
  })

  it('that is as expected is hardly ever reported, although it is tested with each unit', () => {
    const { uniform } = seeded(21)
    let alarms = 0
    for (let run = 0; run < 200; run++) {
      const split = { a: 0, b: 0 }
      let smallestP = 1
      for (let unit = 0; unit < 1000; unit++) {
        split[uniform() < 0.8 ? 'a' : 'b'] += 1
        smallestP = Math.min(smallestP, Math.exp(-splitLogE(split, 0.8)))
      }
      if (smallestP < 0.01) alarms += 1
    }
    expect(alarms).toBeLessThanOrEqual(5)
  })
})

describe('concurrency of the arms', () => {
  const days = (count: number, day: Split) => Array.from({ length: count }, () => day)

  it('is equal in a steady experiment', () => {
    expect(concurrency(days(30, { a: 12, b: 11 }))).toEqual({ status: 'concurrent', overlapShare: 1, p: 1 })
    // There are only one or two units a day, so days are merged.
    const few = Array.from({ length: 60 }, (_, day) => ({ a: day % 2, b: 1 - (day % 2) }))
    expect(concurrency(few)).toMatchObject({ status: 'concurrent', overlapShare: 1 })
  })

  it('differs if one arm follows the other, even if the total split is perfect', () => {
    const switched = [...days(10, { a: 20, b: 0 }), ...days(10, { a: 0, b: 20 })]
    expect(concurrency(switched)).toMatchObject({ status: 'arms_not_concurrent', overlapShare: 0 })
    expect(ratio(200, 200, 0.5).status).toBe('fits')
  })

  it('differs if the share of an arm was increased', () => {
    const turned = [...days(10, { a: 90, b: 10 }), ...days(10, { a: 50, b: 50 })]
    const found = concurrency(turned)
    expect(found).toMatchObject({ status: 'arms_not_concurrent', overlapShare: 1 })
    expect(found.p).toBeLessThan(1e-4)
  })

  it('is unknown with few units', () => {
    for (const little of [[], [{ a: 3, b: 3 }], days(5, { a: 1, b: 1 }), days(50, { a: 10, b: 0 })]) {
      expect(concurrency(little)).toEqual({ status: 'cannot_tell', overlapShare: null, p: 1 })
    }
  })
})

describe('routing', () => {
  const sizes = new Map([
    [1, 900],
    [2, 80],
    [3, 20],
  ])
  const found = (inBothArms: number) => routing(sizes, { inBothArms, shareOfA: 0.5, alpha: 0.05 })

  it('is compared with chance', () => {
    // By chance, half of the units with two conversations and three quarters of those with three are in both arms.
    expect(found(55)).toMatchObject({ status: 'routed_per_conversation', instability: 1, returning: 100, units: 1000 })
    expect(found(0)).toMatchObject({ status: 'stable', instability: 0 })
    expect(found(12)).toMatchObject({ status: 'unstable_routing' })
    expect(found(9)).toMatchObject({ status: 'stable' })
    const { value = 0, interval } = found(12).shareInBothArms ?? {}
    expect(value).toBe(0.12)
    expect(interval?.low).toBeGreaterThan(0.06)
    expect(interval?.high).toBeLessThan(0.2)
  })

  it('is unknown if no one returns', () => {
    const once = new Map([[1, 500]])
    expect(routing(once, { inBothArms: 0, shareOfA: 0.5, alpha: 0.05 })).toMatchObject({
      status: 'cannot_tell',
      instability: null,
    })
  })
})
