import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { armsSoFar, observe, type ReplayedObservation, startReplay } from '../../test/support/experiments/replay.ts'
import { answersOf, boolean, numeric, seeded, unitsOf } from '../../test/support/statistics.ts'
import { estimateArms } from './arm.ts'
import { differenceOf, outcomeResult } from './outcome.ts'
import {
  addOutcomeUnit,
  noOutcomeSums,
  nothingInOutcome,
  type OutcomeUnit,
  outcomeSumsOf,
  subtractOutcomeUnit,
} from './outcome-sums.ts'
import { addValue, sumsOf, type UnitValues } from './sums.ts'

/** Checks that sums that are updated one observation at a time equal the sums over all rows. */

const near = (found: unknown, expected: unknown, path = 'result'): void => {
  if (typeof expected === 'number') {
    const off = Math.abs(Number(found) - expected)
    expect(off, `${path}: ${found}, not ${expected}`).toBeLessThanOrEqual(1e-9 * Math.max(1, Math.abs(expected)))
  } else if (expected !== null && typeof expected === 'object') {
    for (const [key, value] of Object.entries(expected)) near(Object(found)[key], value, `${path}.${key}`)
  } else {
    expect(found, path).toBe(expected)
  }
}

const shifted = (units: UnitValues[], by: number): UnitValues[] =>
  units.map(({ a, b }) => ({ a: a.map((value) => value + by), b: b.map((value) => value - by) }))

const observationsOf = (units: UnitValues[]): ReplayedObservation[] =>
  units.flatMap(({ a, b }, at) => [
    ...a.map((value) => ({ unit: `unit ${at}`, arm: 'a' as const, value })),
    ...b.map((value) => ({ unit: `unit ${at}`, arm: 'b' as const, value })),
  ])

describe('sums', () => {
  it.each([boolean, numeric])('of a $kind outcome, in any order of arrival', (design) => {
    const tenths = ({ a, b }: UnitValues) => ({
      a: a.map((value) => Math.round(value) / 10),
      b: b.map((value) => Math.round(value) / 10),
    })
    const cases = unitsOf(design.kind).chain((any) => {
      // The scores have one decimal place. If large values nearly cancel out, sums of doubles lose too many digits for
      // a comparison.
      const units = design.kind === 'boolean' ? any : any.map(tenths)
      const observations = observationsOf(units)
      return fc.tuple(fc.constant(units), fc.shuffledSubarray(observations, { minLength: observations.length }))
    })
    fc.assert(
      fc.property(cases, ([units, observations]) => {
        const replay = startReplay(design.kind)
        for (const observation of observations) observe(replay, observation)
        const atOnce = estimateArms(sumsOf(units, design.kind), design.kind)
        near(differenceOf(armsSoFar(replay), design), differenceOf(atOnce, design))
      }),
    )
  })

  it('of large values lose no digits', () => {
    const { normal } = seeded(5)
    const units = shifted(
      Array.from({ length: 400 }, (_, at): UnitValues => {
        const values = [normal(), normal(), normal()].map((value) => Math.round(value * 1024) / 1024)
        return at % 20 === 0 ? { a: values, b: values.map((value) => value + 0.5) } : { a: values, b: [] }
      }),
      2 ** 30,
    )
    const replay = startReplay('numeric')
    for (const observation of observationsOf(units)) observe(replay, observation)
    const atOnce = differenceOf(estimateArms(sumsOf(units, 'numeric'), 'numeric'), numeric)
    near(differenceOf(armsSoFar(replay), numeric), atOnce)
    // The offset is a power of two, and so are the denominators of the values, so removing it is exact.
    const small = differenceOf(estimateArms(sumsOf(shifted(units, -(2 ** 30)), 'numeric'), 'numeric'), numeric)
    expect(atOnce.fixed.standardError).toBeCloseTo(small.fixed.standardError ?? Number.NaN, 9)
  })

  it('of an outcome follow retries, late results, units that change arms, and erasure', () => {
    const { uniform } = seeded(11)
    const value = () => (uniform() < 0.3 ? 1 : 0)
    const held = (values: number[], pending = 0, missing = 0, failed = 0) => ({
      observed: values.reduce(addValue, nothingInOutcome.observed),
      pending,
      missing,
      failed,
    })
    const drawUnit = (): { unit: OutcomeUnit; values: UnitValues } => {
      const a = uniform() < 0.5 ? [value(), value()] : []
      const b = a.length === 0 || uniform() < 0.1 ? [value()] : []
      const [pending, missing, failed] = [uniform(), uniform(), uniform()].map((each) => (each < 0.1 ? 1 : 0))
      const unit = {
        a: a.length > 0 ? held(a, pending, missing, failed) : nothingInOutcome,
        b: b.length > 0 ? held(b) : nothingInOutcome,
        inBothArms: a.length > 0 && b.length > 0,
      }
      return { unit, values: { a, b } }
    }
    const kept = new Map<number, { unit: OutcomeUnit; values: UnitValues }>()
    let sums = noOutcomeSums()
    for (let step = 0; step < 5000; step++) {
      const key = Math.floor(uniform() * 200)
      const before = kept.get(key)
      if (before) sums = subtractOutcomeUnit(sums, before.unit)
      if (uniform() < 0.1) {
        kept.delete(key)
        continue
      }
      const drawn = drawUnit()
      sums = addOutcomeUnit(sums, drawn.unit)
      kept.set(key, drawn)
    }
    const rows = [...kept.values()].map(({ unit, values }) => {
      const answers = answersOf(values)
      const times = (count: number, status: 'pending' | 'missing' | 'failed') =>
        Array.from({ length: count }, () => ({ status }))
      const { pending, missing, failed } = unit.a
      return {
        ...answers,
        a: [...answers.a, ...times(pending, 'pending'), ...times(missing, 'missing'), ...times(failed, 'failed')],
      }
    })
    const fromRows = outcomeSumsOf(rows, boolean)
    expect(sums).toEqual(fromRows)
    expect(sums.observed.shared.units).toBeGreaterThan(0)
    expect(sums.counts.a.missing).toBeGreaterThan(0)
    const wishes = { target: null, conversationsPerDay: null }
    const { difference } = outcomeResult(sums, boolean, wishes)
    expect(difference.withoutUnitsInBothArms.estimate).not.toBe(difference.estimate)
  })
})
