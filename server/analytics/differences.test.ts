import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../test/malformed.ts'
import { stepOfValue } from '../platform/db/rounded-values.ts'
import { meanTest } from '../statistics/means.ts'
import { newcombe, rateTest } from '../statistics/rate-intervals.ts'
import type { Whole } from './days/sum.ts'
import { compareRows, type Row } from './differences.ts'
import type { Kind } from './figures.ts'

const seed = 20_261_126
/** In 3,000 runs, 1.2% to 3.4% of comparisons without a real difference marked one. */
const runs = 300

type Random = ReturnType<typeof seededRandom>

/** Returns a number from 0 to 1. */
const share = (random: Random): number => (random.below(1_000_000) + 0.5) / 1_000_000

const wholeOf = (values: number[], kind: Kind): Whole => {
  const steps = new Map<number, number>()
  if (kind.startsWith('p')) {
    for (const step of values.map(stepOfValue)) steps.set(step, (steps.get(step) ?? 0) + 1)
  }
  const isRate = kind === 'share'
  return {
    count: values.length,
    hits: isRate ? values.filter((value) => value === 1).length : 0,
    sum: isRate ? 0 : values.reduce((sum, value) => sum + value, 0),
    squares: isRate ? 0 : values.reduce((sum, value) => sum + value * value, 0),
    steps,
  }
}

/** A measured value. `value` draws one for a conversation with a difficulty from 0 to 1. */
type Measured = { kind: Kind; value: (random: Random, difficulty: number) => number }

const rate = (often: number): Measured => ({
  kind: 'share',
  // Difficult conversations are affected in several ways, so rows are correlated.
  value: (random, difficulty) => Number(share(random) < often * (0.5 + difficulty)),
})

/** Twenty monitors. Some of them almost never find a conversation affected. */
const rates = Array.from({ length: 20 }, (_, at) => rate(0.005 + (0.4 * at ** 2) / 361))

const skewed = (random: Random, difficulty: number) => -Math.log(share(random)) * (0.5 + difficulty)

const others: Measured[] = [
  { kind: 'count', value: () => 1 },
  { kind: 'p50', value: (random, difficulty) => 60 * skewed(random, difficulty) },
  { kind: 'p95', value: (random, difficulty) => 60 * skewed(random, difficulty) },
  { kind: 'p50', value: (random, difficulty) => 400 + 800 * skewed(random, difficulty) },
  { kind: 'p95', value: (random, difficulty) => Math.round(3 * skewed(random, difficulty)) },
  { kind: 'mean', value: (random) => 1 + random.below(5) },
  { kind: 'mean', value: (random, difficulty) => 0.001 * skewed(random, difficulty) },
]

const measures = [...rates, ...others]

type World = { a: number; b: number; onB?: (row: number, value: number, random: Random) => number }

/** Compares two sides. They don't differ unless `onB` changes the values. */
const compareOnce = (random: Random, { a, b, onB = (_, value) => value }: World) => {
  const side = (count: number) =>
    Array.from({ length: count }, () => {
      const difficulty = share(random)
      return measures.map(({ value }) => value(random, difficulty))
    })
  const [ofA, ofB] = [side(a), side(b)]
  return compareRows(
    measures.map(({ kind }, row) => ({
      kind,
      a: wholeOf(
        ofA.map((values) => values[row] ?? 0),
        kind,
      ),
      b: wholeOf(
        ofB.map((values) => onB(row, values[row] ?? 0, random)),
        kind,
      ),
    })),
  )
}

const simulate = (world: World) => {
  const random = seededRandom(seed)
  return Array.from({ length: runs }, () =>
    compareOnce(random, world).flatMap(({ isNotable }, row) => (isNotable ? [row] : [])),
  )
}

describe('without a difference, at most one comparison in twenty marks anything', () => {
  it.each([
    { a: 300, b: 300 },
    { a: 40, b: 40 },
    { a: 60, b: 1_000 },
    { a: 1_000, b: 150 },
  ])('of $a and $b conversations', (world) => {
    const marked = simulate(world).filter((rows) => rows.length > 0).length
    expect(marked, `seed ${seed}`).toBeLessThanOrEqual(0.05 * runs)
  })
})

describe('a planted difference is marked', () => {
  it.each([
    ['a rate', 12, (value: number, random: Random) => (share(random) < 0.15 ? 1 : value)],
    ['a median', 21, (value: number) => value * 1.7],
    ['a 95th percentile', 22, (value: number) => (value > 60 ? value * 2 : value)],
    ['a mean', 25, (value: number) => value + 0.5],
  ])('of %s', (_, planted, change) => {
    const onB = (row: number, value: number, random: Random) => (row === planted ? change(value, random) : value)
    const marks = simulate({ a: 600, b: 600, onB })
    const found = marks.filter((rows) => rows.includes(planted)).length
    const falsely = marks.filter((rows) => rows.some((row) => row !== planted)).length
    expect(found, `seed ${seed}`).toBeGreaterThanOrEqual(0.95 * runs)
    expect(falsely, `seed ${seed}`).toBeLessThanOrEqual(0.05 * runs)
  })
})

describe('a row', () => {
  const of = (kind: Kind, a: number[], b: number[]): Row => ({ kind, a: wholeOf(a, kind), b: wholeOf(b, kind) })
  const times = (count: number, value: number) => Array<number>(count).fill(value)

  it('of a rate has Newcombe’s interval, and the p of an exact test', () => {
    const [row] = compareRows([of('share', [...times(2, 1), ...times(38, 0)], [...times(10, 1), ...times(30, 0)])])
    const [a, b] = [
      { affected: 2, all: 40 },
      { affected: 10, all: 40 },
    ]
    expect(row).toMatchObject({
      a: { n: 40, value: 0.05 },
      b: { n: 40, value: 0.25 },
      differenceInterval95: newcombe(a, b, 0.05),
      p: rateTest(a, b),
      adjustedP: rateTest(a, b),
      isNotable: true,
    })
    expect(row?.difference).toBeCloseTo(0.2, 12)
  })

  it('of values that depend on each other has no p, and does not count as a comparison', () => {
    const cost = { ...of('mean', times(40, 1), times(40, 9)), isDependent: true }
    const share = of('share', [...times(2, 1), ...times(38, 0)], [...times(10, 1), ...times(30, 0)])
    const [ofCost, ofShare] = compareRows([cost, share])
    expect(ofCost).toMatchObject({ difference: 8, differenceInterval95: null, p: null, isNotable: false })
    expect(ofShare?.adjustedP).toBe(ofShare?.p)
  })

  it('is less notable the more rows are compared', () => {
    const one = of('share', [...times(2, 1), ...times(38, 0)], [...times(10, 1), ...times(30, 0)])
    const none = of('share', [...times(20, 1), ...times(20, 0)], [...times(20, 1), ...times(20, 0)])
    const [first] = compareRows([one, none, none, none])
    expect(first?.isNotable).toBe(false)
    expect(first?.adjustedP).toBeCloseTo(4 * (first?.p ?? 0), 12)
    // Rows that can't be tested don't count towards the number of tests.
    const [single] = compareRows([one, of('count', times(3, 1), times(900, 1)), of('mean', [1, 2], [3, 4])])
    expect(single?.isNotable).toBe(true)
  })

  it('of few values, of a count, or without values has no p', () => {
    const rows = compareRows([
      of('count', times(10, 1), times(1_000, 1)),
      of('mean', [1, 2, 3], [7, 8, 9]),
      of('mean', times(50, 4), times(50, 5)),
      of('p95', times(10, 1), times(10, 2)),
      of('share', [], times(40, 1)),
    ])
    expect(rows.map(({ p, adjustedP, isNotable }) => [p, adjustedP, isNotable])).toEqual(
      rows.map(() => [null, null, false]),
    )
    expect(rows.map(({ difference }) => difference)).toEqual([990, 6, 1, 1, null])
    expect(rows[4]?.a).toEqual({ n: 0, value: null, interval95: null })
  })

  it('of a mean has the p of Welch’s test', () => {
    const [a, b] = [Array.from({ length: 40 }, (_, at) => at), Array.from({ length: 60 }, (_, at) => 12 + (at % 30))]
    const [row] = compareRows([of('mean', a, b)])
    expect(row?.p).toBe(meanTest(wholeOf(a, 'mean'), wholeOf(b, 'mean')))
    expect(row?.p).toBeLessThan(0.05)
  })
})
