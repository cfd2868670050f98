// Creates units and designs for the tests of statistics.

import fc from 'fast-check'
import type { Design } from '../../server/statistics/design.ts'
import type { OutcomeValue, UnitAnswers } from '../../server/statistics/outcome-sums.ts'
import type { ArmSums, Sums, UnitValues } from '../../server/statistics/sums.ts'
import { noSums } from '../../server/statistics/sums.ts'

export const boolean: Design = { kind: 'boolean', alpha: 0.05, tuningConversations: 1000, range: null }
export const numeric: Design = { ...boolean, kind: 'numeric' }

const singles = (affected: number, all: number): ArmSums => ({
  shift: 0,
  units: all,
  count: all,
  sum: affected,
  squares: affected,
  sumSum: affected,
  sumCount: affected,
  countCount: all,
})

/** Creates sums from affected and total counts per arm, with one conversation per unit. */
export const tableSums = (affectedA: number, allA: number, affectedB: number, allB: number): Sums => ({
  ...noSums(),
  a: singles(affectedA, allA),
  b: singles(affectedB, allB),
})

export const observed = (value: number): OutcomeValue => ({ status: 'observed', value })

export const answersOf = ({ a, b }: UnitValues): UnitAnswers => ({
  a: a.map(observed),
  b: b.map(observed),
  inBothArms: a.length > 0 && b.length > 0,
})

export const swapUnit = <T extends { a: unknown; b: unknown }>(unit: T): T => ({ ...unit, a: unit.b, b: unit.a })

export const table = fc
  .tuple(fc.integer({ min: 2, max: 400 }), fc.integer({ min: 2, max: 400 }), fc.nat(1000), fc.nat(1000))
  .map(([allA, allB, a, b]) => [Math.round((a * allA) / 1000), allA, Math.round((b * allB) / 1000), allB] as const)

const valueFor = (kind: Design['kind']) =>
  kind === 'boolean'
    ? fc.integer({ min: 0, max: 1 })
    : fc.integer({ min: -5000, max: 5000 }).map((hundredths) => hundredths / 100)

const inArm = (kind: Design['kind']) => fc.array(valueFor(kind), { minLength: 1, maxLength: 4 })

/** Generates a unit. Most units are in one arm, as they should be. */
const unit = (kind: Design['kind']): fc.Arbitrary<UnitValues> =>
  fc.oneof(
    { weight: 4, arbitrary: inArm(kind).map((a) => ({ a, b: [] })) },
    { weight: 4, arbitrary: inArm(kind).map((b) => ({ a: [], b })) },
    { weight: 1, arbitrary: fc.record({ a: inArm(kind), b: inArm(kind) }) },
  )

export const unitsOf = (kind: Design['kind']) => fc.array(unit(kind), { minLength: 4, maxLength: 60 })

export const singleUnits = (kind: Design['kind']) =>
  fc.array(
    fc
      .tuple(fc.boolean(), valueFor(kind))
      .map(([inA, value]): UnitValues => (inA ? { a: [value], b: [] } : { a: [], b: [value] })),
    { minLength: 4, maxLength: 120 },
  )

/** Returns repeatable random numbers: uniform ones from 0 to 1, and normal ones. */
export const seeded = (seed: number) => {
  let state = seed
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform())
  return { uniform, normal }
}
