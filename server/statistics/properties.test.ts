import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answersOf,
  boolean,
  numeric,
  singleUnits,
  swapUnit,
  table,
  tableSums,
  unitsOf,
} from '../../test/support/statistics.ts'
import { anytimeDifference, anytimeEvidence } from './anytime.ts'
import { estimateArms } from './arm.ts'
import type { Design } from './design.ts'
import { fixedDifference, fixedP } from './fixed.ts'
import type { Interval } from './interval.ts'
import { liftOf } from './lift.ts'
import { differenceOf, outcomeResult } from './outcome.ts'
import { type OutcomeValue, outcomeSumsOf } from './outcome-sums.ts'
import { type Sums, sumsOf, type UnitValues } from './sums.ts'

const designs = [boolean, numeric]

const differenceIn = (units: UnitValues[], design: Design) =>
  differenceOf(estimateArms(sumsOf(units, design.kind), design.kind), design)

const expectNear = (found: number | null, expected: number | null, tolerance: number) => {
  if (found === null || expected === null) expect(found).toBe(expected)
  else expect(Math.abs(found - expected)).toBeLessThanOrEqual(tolerance * Math.max(1, Math.abs(expected)))
}

const expectNearInterval = (found: Interval | null, expected: Interval | null, tolerance: number) => {
  expect(found === null).toBe(expected === null)
  if (!found || !expected) return
  expectNear(found.low, expected.low, tolerance)
  expectNear(found.high, expected.high, tolerance)
}

const mirrored = (interval: Interval | null) => interval && { low: -interval.high, high: -interval.low }

const width = (interval: Interval | null) => (interval ? interval.high - interval.low : Number.POSITIVE_INFINITY)

const excludesZero = (interval: Interval | null) => interval !== null && (interval.low > 0 || interval.high < 0)

describe.each(designs)('a $kind outcome', (design) => {
  it('is mirrored when the arms are swapped', () => {
    fc.assert(
      fc.property(unitsOf(design.kind), (units) => {
        const one = differenceIn(units, design)
        const other = differenceIn(units.map(swapUnit), design)
        expectNear(other.estimate, one.estimate && -one.estimate, 1e-12)
        expectNear(other.anytime.p, one.anytime.p, 1e-11)
        expectNear(other.fixed.p, one.fixed.p, 1e-11)
        expect(other.fixed.method).toBe(one.fixed.method)
        expectNearInterval(mirrored(other.anytime.interval), one.anytime.interval, 1e-9)
        expectNearInterval(mirrored(other.fixed.interval), one.fixed.interval, 1e-7)
      }),
    )
  })

  it('does not depend on the order of units and their values', () => {
    const shuffled = unitsOf(design.kind).chain((units) =>
      fc.tuple(fc.constant(units), fc.shuffledSubarray(units, { minLength: units.length })),
    )
    fc.assert(
      fc.property(shuffled, ([units, others]) => {
        const one = differenceIn(units, design)
        const other = differenceIn(
          others.map(({ a, b }) => ({ a: a.toReversed(), b: b.toReversed() })),
          design,
        )
        expectNear(other.estimate, one.estimate, 1e-12)
        expectNear(other.anytime.p, one.anytime.p, 1e-10)
        expectNearInterval(other.anytime.interval, one.anytime.interval, 1e-10)
        expectNearInterval(other.fixed.interval, one.fixed.interval, 1e-10)
      }),
    )
  })

  it('is not more precise when units repeat everything', () => {
    const again = ({ a, b }: UnitValues) => ({ a: [...a, ...a, ...a], b: [...b, ...b, ...b] })
    fc.assert(
      fc.property(singleUnits(design.kind), (units) => {
        const one = differenceIn(units, design)
        const other = differenceIn(units.map(again), design)
        expect(width(other.fixed.interval)).toBeGreaterThanOrEqual(width(one.fixed.interval) * (1 - 1e-9))
        expect(width(other.anytime.interval)).toBeGreaterThanOrEqual(width(one.anytime.interval) * (1 - 1e-9))
      }),
      { numRuns: 1000 },
    )
  })

  it('has the same variance between units however often they repeat themselves', () => {
    const again = ({ a, b }: UnitValues) => ({ a: [...a, ...a], b: [...b, ...b] })
    const variances = (units: UnitValues[]) => {
      const arms = estimateArms(sumsOf(units, design.kind), design.kind)
      return [arms.a.unitVariance, arms.b.unitVariance, arms.covariance] as const
    }
    fc.assert(
      fc.property(unitsOf(design.kind), (units) => {
        const [one, other] = [variances(units), variances(units.map(again))]
        other.forEach((variance, at) => {
          expectNear(variance, one[at] ?? null, 1e-12)
        })
      }),
    )
  })

  it('shows a relative difference if and only if it shows an absolute one', () => {
    fc.assert(
      fc.property(singleUnits(design.kind), (units) => {
        const arms = estimateArms(sumsOf(units, design.kind), design.kind)
        const difference = differenceOf(arms, design)
        const lift = liftOf(arms, design, difference)
        if (lift.fixed) expect(excludesZero(lift.fixed)).toBe(excludesZero(difference.fixed.interval))
        const { standardError, multiplier } = difference.anytime
        if (lift.anytime && standardError !== null && multiplier !== null) {
          // The exact part of boolean outcomes has no relative counterpart.
          expect(excludesZero(lift.anytime)).toBe(Math.abs(arms.difference ?? 0) > multiplier * standardError)
        }
      }),
      { numRuns: 1000 },
    )
  })

  it('has the p value of the separate function', () => {
    fc.assert(
      fc.property(unitsOf(design.kind), (units) => {
        const arms = estimateArms(sumsOf(units, design.kind), design.kind)
        expect(fixedP(arms, design)).toBe(fixedDifference(arms, design).p)
        expect(anytimeEvidence(arms, design).p).toBe(anytimeDifference(arms, design).p)
      }),
    )
  })
})

describe('the standard error of rare outcomes', () => {
  it('is not smaller when callers repeat everything', () => {
    const arm = (affected: number, all: number, times: number) =>
      Array.from({ length: all }, (_, at) => Array<number>(times).fill(at < affected ? 1 : 0))
    const errorOf = (affectedA: number, affectedB: number, times: number) => {
      const units = [
        ...arm(affectedA, 20, times).map((a) => ({ a, b: [] })),
        ...arm(affectedB, 60, times).map((b) => ({ a: [], b })),
      ]
      return differenceIn(units, boolean).anytime.standardError ?? Number.NaN
    }
    for (const affectedA of [0, 1, 2]) {
      for (const affectedB of [0, 1, 4]) {
        expect(errorOf(affectedA, affectedB, 3)).toBeGreaterThanOrEqual(errorOf(affectedA, affectedB, 1) * (1 - 1e-9))
      }
    }
  })
})

describe('the always-valid interval', () => {
  const agrees = (sums: Sums, design: Design) => {
    const { interval, p } = anytimeDifference(estimateArms(sums, design.kind), design)
    // If p is this close to alpha, only rounding decides the outcome.
    if (Math.abs(p - design.alpha) > 1e-9) expect(excludesZero(interval)).toBe(p < design.alpha)
    return p < design.alpha
  }

  it('of booleans excludes 0 if and only if p is below alpha', () => {
    let excluded = 0
    fc.assert(
      fc.property(table, ([affectedA, allA, affectedB, allB]) => {
        if (agrees(tableSums(affectedA, allA, affectedB, allB), boolean)) excluded += 1
      }),
      { numRuns: 3_000 },
    )
    expect(excluded).toBeGreaterThan(300)
    expect(excluded).toBeLessThan(2_700)
  })

  it('of scores and returning callers does so too', () => {
    for (const design of designs) {
      fc.assert(
        fc.property(unitsOf(design.kind), (units) => {
          agrees(sumsOf(units, design.kind), design)
        }),
      )
    }
  })

  it('contains the estimate and the interval at a lower level', () => {
    fc.assert(
      fc.property(table, (counts) => {
        const arms = estimateArms(tableSums(...counts), 'boolean')
        const [inner, outer] = [anytimeDifference(arms, boolean), anytimeDifference(arms, boolean, boolean.alpha / 19)]
        const estimate = arms.difference ?? Number.NaN
        expect(inner.interval?.low).toBeLessThanOrEqual(estimate)
        expect(inner.interval?.high).toBeGreaterThanOrEqual(estimate)
        expect(outer.interval?.low).toBeLessThanOrEqual(inner.interval?.low ?? Number.NaN)
        expect(outer.interval?.high).toBeGreaterThanOrEqual(inner.interval?.high ?? Number.NaN)
      }),
    )
  })
})

describe('any data', () => {
  const answer = (values: fc.Arbitrary<number>): fc.Arbitrary<OutcomeValue> =>
    fc.oneof(
      values.map((value): OutcomeValue => ({ status: 'observed', value })),
      fc.constantFrom<OutcomeValue>({ status: 'pending' }, { status: 'missing' }, { status: 'failed' }),
    )
  const answers = (values: fc.Arbitrary<number>) => fc.array(answer(values), { maxLength: 4 })
  const units = (values: fc.Arbitrary<number>) =>
    fc.array(fc.record({ a: answers(values), b: answers(values), inBothArms: fc.boolean() }), { maxLength: 12 })

  const values = {
    booleans: fc.oneof(fc.constantFrom(0, 1), fc.constantFrom(Number.NaN, 2, 0.5)),
    'the same score': fc.constant(7),
    'scores of any size': fc.oneof(
      fc.double(),
      fc.double({ min: -1e12, max: 1e12 }),
      fc.constantFrom(0, 1e9, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
    ),
  }

  const expectFinite = (value: unknown, path: string): void => {
    if (typeof value === 'number') expect(Number.isFinite(value), `${path} is ${value}`).toBe(true)
    else if (value !== null && typeof value === 'object') {
      for (const [key, inside] of Object.entries(value)) expectFinite(inside, `${path}.${key}`)
    }
  }

  it.each(Object.entries(values))('%s give numbers or null', (name, each) => {
    const design = name === 'booleans' ? boolean : numeric
    const ranges = name === 'the same score' ? [null, { low: 0, high: 10 }] : [null]
    fc.assert(
      fc.property(units(each), fc.constantFrom(...ranges), (all, range) => {
        const pinned = { ...design, range }
        const result = outcomeResult(outcomeSumsOf(all, pinned), pinned, { target: null, conversationsPerDay: 10 })
        expectFinite(result, name)
        const { fixed, anytime } = result.difference
        for (const p of [fixed.p, anytime.p]) {
          expect(p).toBeGreaterThanOrEqual(0)
          expect(p).toBeLessThanOrEqual(1)
        }
        for (const { interval, reason } of [fixed, anytime]) expect(interval === null).toBe(reason !== null)
      }),
      { numRuns: 500 },
    )
  })

  it('has the same results from values as from observations with them', () => {
    fc.assert(
      fc.property(unitsOf('boolean'), (each) => {
        const sums = outcomeSumsOf(each.map(answersOf), boolean)
        expect(sums.observed).toEqual(sumsOf(each, 'boolean'))
      }),
    )
  })
})
