import { describe, expect, it } from 'vitest'
import { boolean, numeric, observed, seeded, tableSums } from '../../test/support/statistics.ts'
import { anytimeDifference } from './anytime.ts'
import { estimateArms } from './arm.ts'
import { fixedDifference } from './fixed.ts'
import type { Interval } from './interval.ts'
import { liftOf } from './lift.ts'
import { differenceOf, outcomeResult } from './outcome.ts'
import { isValue, type OutcomeValue, outcomeSumsOf } from './outcome-sums.ts'
import { fisher } from './rate-intervals.ts'
import { sumsOf } from './sums.ts'

/** Compares with results that other software computed when the statistics were designed. */

const resultsOf = (counts: readonly [number, number, number, number]) => {
  const arms = estimateArms(tableSums(...counts), 'boolean')
  const anytime = anytimeDifference(arms, boolean)
  const fixed = fixedDifference(arms, boolean)
  return { arms, anytime, fixed, lift: liftOf(arms, boolean, { fixed, anytime }) }
}

const rounded = (interval: Interval | null) =>
  interval && [interval.low, interval.high].map((bound) => Number(bound.toFixed(6)))

describe('two rates', () => {
  it.each([
    { counts: [0, 30, 0, 28], anytime: [-0.245104, 0.245104], p: 1, fixed: [-0.115275, 0.122501] },
    { counts: [0, 10, 10, 10], anytime: [0.289966, 1], p: 0.000307, fixed: [0.663642, 1] },
    { counts: [3, 900, 0, 100], anytime: [-0.022661, 0.028026], p: 1 },
    { counts: [2, 40, 24, 40], anytime: [0.134898, 0.848195], p: 0.00011, lift: null },
    { counts: [40, 200, 62, 210], anytime: [-0.04093, 0.231406], p: 0.347687, fixed: [0.011533, 0.177889] },
    { counts: [120, 600, 170, 590], anytime: [0.011421, 0.16485], p: 0.012841, lift: [0.048851, 1.029354] },
  ] as const)('$counts', ({ counts, anytime, p, ...expected }) => {
    const found = resultsOf(counts)
    expect(rounded(found.anytime.interval)).toEqual(anytime)
    expect(found.anytime.p).toBeCloseTo(p, 6)
    if ('fixed' in expected) expect(rounded(found.fixed.interval)).toEqual(expected.fixed)
    if ('lift' in expected) expect(rounded(found.lift.anytime)).toEqual(expected.lift)
  })

  it('have the computed uncertainty', () => {
    const middle = resultsOf([40, 200, 62, 210]).anytime
    expect(middle.standardError).toBeCloseTo(0.0427827, 7)
    expect(middle.degrees).toBeCloseTo(405.487, 3)
    expect(middle.multiplier).toBeCloseTo(3.18278, 5)
    const large = resultsOf([120, 600, 170, 590])
    expect(large.anytime.standardError).toBeCloseTo(0.024906, 7)
    expect(large.anytime.multiplier).toBeCloseTo(3.08015, 5)
    expect(large.lift.estimate).toBeCloseTo(0.441, 3)
  })

  it('that are rare in an uneven split show nothing where the plain variance would', () => {
    const { anytime } = resultsOf([10, 900, 0, 100])
    expect(anytime.p).toBe(1)
    expect(anytime.interval?.low).toBeLessThan(0)
  })

  it('with the largest possible difference only exclude 0 with the exact part', () => {
    const { anytime, fixed, lift } = resultsOf([0, 10, 10, 10])
    expect(anytime.multiplier).toBeNull()
    expect(fisher({ affected: 0, all: 10 }, { affected: 10, all: 10 })).toBeCloseTo(1.08e-5, 7)
    expect(fixed.method).toBe('score')
    expect(lift).toEqual({ estimate: null, fixed: null, anytime: null, reason: 'baseline_is_zero' })
  })

  it("with one that never varies use the other arm's similarity within callers", () => {
    const callers = (arm: 'a' | 'b', values: number[]) =>
      Array.from({ length: 50 }, () => ({ a: [], b: [], [arm]: values }))
    const effects = (units: { a: number[]; b: number[] }[]) => {
      const { a, b } = estimateArms(sumsOf(units, 'boolean'), 'boolean')
      return [a.designEffect, b.designEffect]
    }
    const never = callers('a', [0, 0])
    expect(effects([...never, ...callers('b', [0, 1])])).toEqual([1, 1])
    const [a, b] = effects([...never, ...callers('b', [0, 0]), ...callers('b', [1, 1])])
    expect(a).toBe(2)
    expect(b).toBeCloseTo(2, 1)
    // The similarity is unknown here, so each caller counts once.
    expect(effects([...never, ...callers('b', [1, 1, 1])])).toEqual([2, 3])
  })

  it("with few expected in a cell are tested with Fisher's test, which the method says", () => {
    expect(resultsOf([1, 8, 5, 8]).fixed.method).toBe('score_and_fisher')
    expect(resultsOf([10, 30, 15, 30]).fixed.method).toBe('score')
  })
})

const nothing = { target: null, conversationsPerDay: null }

const outcomeOf = (a: readonly OutcomeValue[], b: readonly OutcomeValue[], design = numeric) => {
  const each = (answers: readonly OutcomeValue[], arm: 'a' | 'b') =>
    answers.map((answer) => ({ a: [], b: [], [arm]: [answer], inBothArms: false }))
  return outcomeResult(outcomeSumsOf([...each(a, 'a'), ...each(b, 'b')], design), design, nothing)
}

describe('too little data', () => {
  it.each([
    { name: 'nothing', a: [], b: [], means: [null, null] },
    { name: 'an empty arm', a: [1, 0, 1], b: [], means: [2 / 3, null] },
    { name: 'one conversation in an arm', a: [1], b: [0, 1, 1, 0], means: [1, 0.5] },
  ])('$name has no interval', ({ a, b, means }) => {
    for (const design of [boolean, numeric]) {
      const { arms, difference, lift } = outcomeOf(a.map(observed), b.map(observed), design)
      expect([arms.a.mean, arms.b.mean]).toEqual(means)
      expect(difference.fixed).toMatchObject({ interval: null, p: 1, reason: 'too_few_units' })
      expect(difference.anytime).toMatchObject({ interval: null, p: 1, eValue: 1, reason: 'too_few_units' })
      expect(lift).toMatchObject({ fixed: null, anytime: null })
    }
  })

  it('one unit in an arm has no interval, however often it returns', () => {
    const units = [{ a: [1, 0, 1, 1], b: [] }, ...[0, 1, 0].map((value) => ({ a: [], b: [value] }))]
    const arms = estimateArms(sumsOf(units, 'boolean'), 'boolean')
    expect(arms.a).toMatchObject({ mean: 0.75, unitVariance: null })
    expect(anytimeDifference(arms, boolean)).toMatchObject({ interval: null, p: 1 })
  })

  it('pending, missing, and failed values are not observed, but counted', () => {
    const all: OutcomeValue[] = [
      { status: 'pending' },
      { status: 'missing' },
      { status: 'failed' },
      { status: 'missing' },
    ]
    const { arms, missingness, difference } = outcomeOf(all, all, boolean)
    expect(arms.a).toMatchObject({ conversations: 4, observed: 0, pending: 1, missing: 2, failed: 1, mean: null })
    expect(difference.estimate).toBeNull()
    expect(missingness).toMatchObject({ shareA: 1, shareB: 1, flags: ['high_missingness'] })
    expect(missingness.worstCase?.difference).toEqual({ low: -1, high: 1 })
  })
})

const spread = Array.from({ length: 60 }, (_, at) => at % 3)

describe('scores', () => {
  it('without variation have no interval', () => {
    const same = (value: number) => Array.from({ length: 20 }, () => observed(value))
    for (const other of [3, 4]) {
      const { difference, lift } = outcomeOf(same(3), same(other))
      expect(difference.estimate).toBe(other - 3)
      expect(difference.anytime).toMatchObject({ interval: null, p: 1, reason: 'zero_variance' })
      expect(difference.fixed).toMatchObject({ interval: null, p: 1, reason: 'zero_variance' })
      expect(lift).toMatchObject({ fixed: null, anytime: null })
    }
  })

  it('that only vary in one arm are as uncertain as both together', () => {
    const varied = [1, 2, 3, 4, 5, 4, 3, 2].map(observed)
    const { difference } = outcomeOf(
      Array.from({ length: 20 }, () => observed(3)),
      varied,
    )
    expect(difference.anytime.degrees).toBe(varied.length - 1)
    expect(difference.anytime.standardError).toBeGreaterThan(0)
    expect(difference.fixed.degrees).toBe(varied.length - 1)
  })

  it('that are not numbers or out of range have failed', () => {
    const ranged = { ...numeric, range: { low: 1, high: 5 } }
    const strange = [Number.NaN, Number.POSITIVE_INFINITY, -1e300, 0.999, 5.001].map(observed)
    const good = [1, 5, 3, 2].map(observed)
    const one = outcomeOf([...good, ...strange], good, ranged)
    expect(one.arms.a).toMatchObject({ observed: 4, failed: 5, mean: 2.75 })
    const other = outcomeOf([...good, ...strange.map((): OutcomeValue => ({ status: 'failed' }))], good, ranged)
    expect(other).toEqual(one)
  })

  it('are values if they can be averaged', () => {
    expect([0, 1].map((value) => isValue(value, boolean))).toEqual([true, true])
    expect([0.5, -1, true, null, '1', Number.NaN].filter((value) => isValue(value, boolean))).toEqual([])
    expect([-1e75, 0.5, 1e75, 1e76].filter((value) => isValue(value, numeric))).toEqual([-1e75, 0.5, 1e75])
  })

  it('below 0 have a positive lift when they rise', () => {
    const { lift } = outcomeOf(
      spread.map((value) => observed(value - 10)),
      spread.map((value) => observed(value - 5)),
    )
    expect(lift.estimate).toBeCloseTo(5 / 9, 9)
    for (const interval of [lift.fixed, lift.anytime]) {
      expect(interval?.low).toBeGreaterThan(0)
      expect(interval?.low).toBeLessThan(5 / 9)
      expect(interval?.high).toBeGreaterThan(5 / 9)
    }
  })

  it('in a range have intervals within it', () => {
    const ranged = { ...numeric, range: { low: 0, high: 10 } }
    const { difference, arms } = outcomeOf([0, 0, 1].map(observed), [9, 10, 10].map(observed), ranged)
    expect(difference.anytime.interval?.high).toBe(10)
    expect(difference.fixed.interval?.high).toBeLessThanOrEqual(10)
    expect(arms.a.anytime?.low).toBe(0)
  })
})

describe('units in both arms', () => {
  const inBoth = (b: (value: number, at: number) => number) =>
    differenceOf(
      estimateArms(
        sumsOf(
          spread.map((value, at) => ({ a: [value], b: [b(value, at)] })),
          'numeric',
        ),
        'numeric',
      ),
      numeric,
    )

  it('make the difference more precise, because differences between units do not count', () => {
    const paired = inBoth((value, at) => value + (at % 2))
    const apart = outcomeOf(
      spread.map(observed),
      spread.map((value, at) => observed(value + (at % 2))),
    ).difference
    expect(paired.estimate).toBe(apart.estimate)
    expect(paired.fixed.standardError).toBeLessThan(0.6 * (apart.fixed.standardError ?? Number.NaN))
    // The always-valid variance is at least the variance of independent conversations.
    expect(paired.anytime.standardError).toBe(apart.anytime.standardError)
  })

  it('that all differ equally have no variance left', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { normal } = seeded(seed)
      const values = Array.from({ length: 50 }, normal)
      const units = values.map((value) => ({ a: [value], b: [value + 0.1] }))
      const { fixed } = differenceOf(estimateArms(sumsOf(units, 'numeric'), 'numeric'), numeric)
      expect(fixed).toMatchObject({ interval: null, p: 1, reason: 'zero_variance' })
    }
  })

  it('without correlation count as separate, whatever rounding leaves', () => {
    // In arm a, one in three units has a 1. In arm b, one in fifteen has a 1: first independently of arm a, and then
    // only units that also have a 1 in arm a.
    const unitsWith = (b: (at: number) => boolean) =>
      Array.from({ length: 45 }, (_, at) => ({ a: [at % 3 === 0 ? 1 : 0], b: [b(at) ? 1 : 0] }))
    const armsWith = (b: (at: number) => boolean) => estimateArms(sumsOf(unitsWith(b), 'boolean'), 'boolean')
    const apart = armsWith((at) => Math.floor(at / 3) === 7)
    expect(apart.covariance).toBe(0)
    expect(fixedDifference(apart, boolean).method).not.toBe('welch')
    expect(
      fixedDifference(
        armsWith((at) => at % 15 === 0),
        boolean,
      ).method,
    ).toBe('welch')
  })

  it('that return count by how much they vary in each arm', () => {
    const twice = spread.map((value, at) => ({ a: [value, value], b: [value + (at % 2), value + (at % 2)] }))
    const { anytime } = differenceOf(estimateArms(sumsOf(twice, 'numeric'), 'numeric'), numeric)
    const without = twice.flatMap(({ a, b }) => [
      { a, b: [] },
      { a: [], b },
    ])
    const apart = differenceOf(estimateArms(sumsOf(without, 'numeric'), 'numeric'), numeric).anytime
    expect(anytime.standardError).toBeLessThan(apart.standardError ?? Number.NaN)
    expect(apart.effectiveConversations).toBeCloseTo(120, -1)
  })
})

describe('missing outcomes', () => {
  const times = (count: number, answer: OutcomeValue) => Array.from({ length: count }, () => answer)
  const arm = (affected: number, not: number, missing: number, failed: number) => [
    ...times(affected, observed(1)),
    ...times(not, observed(0)),
    ...times(missing, { status: 'missing' }),
    ...times(failed, { status: 'failed' }),
  ]

  it('are bounded by the worst case, which the sign of this difference survives', () => {
    const { missingness } = outcomeOf(arm(40, 160, 6, 4), arm(62, 148, 5, 0), boolean)
    const worst = missingness.worstCase
    expect(rounded(worst?.a ?? null)).toEqual([0.190476, 0.238095])
    expect(rounded(worst?.b ?? null)).toEqual([0.288372, 0.311628])
    expect(rounded(worst?.difference ?? null)).toEqual([0.050277, 0.121152])
    expect(worst?.signSurvives).toBe(true)
    expect(missingness.flags).toEqual([])
    // With the uncertainty that 425 conversations have, the interval contains 0.
    expect(worst?.differenceAtAnyLook?.low).toBeLessThan(0)
    expect(worst?.differenceAtAnyLook?.high).toBeGreaterThan(0.24)
  })

  it('are reported if one arm has more of them', () => {
    const { missingness } = outcomeOf(arm(40, 160, 0, 0), arm(40, 100, 50, 10), boolean)
    expect(missingness.flags).toEqual(['differential_missingness', 'high_missingness'])
    expect(missingness.shareB).toBe(0.3)
    expect(missingness.worstCase?.signSurvives).toBe(false)
  })

  it('of scores are bounded by their range', () => {
    const ranged = { ...numeric, range: { low: 1, high: 5 } }
    const a = [...[2, 2, 2, 3].map(observed), { status: 'missing' } as const]
    const b = [4, 5, 5, 5].map(observed)
    expect(outcomeOf(a, b, ranged).missingness.worstCase).toMatchObject({
      a: { low: 2, high: 2.8 },
      b: { low: 4.75, high: 4.75 },
      signSurvives: true,
    })
    expect(outcomeOf(a, b).missingness.worstCase).toBeNull()
  })
})
