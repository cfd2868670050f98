import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boolean, numeric, seeded, table, tableSums } from '../../test/support/statistics.ts'
import { anytimeArmInterval, estimateArms, fixedArmInterval } from './arm.ts'
import { chiSquareTail, normalQuantile, normalTail, tQuantile, tTwoSided } from './distributions.ts'
import { correctSecondaries } from './families.ts'
import { correctArm, correctedDifference, type ReviewedArm, type ReviewedUnit } from './judge-correction.ts'
import { tLogE } from './mixtures.ts'
import { differenceOf } from './outcome.ts'
import { defaultTarget, expectedPrecision, powerAt, timesMore } from './precision.ts'
import { noSums, sumsOf } from './sums.ts'

describe('distributions', () => {
  it('keep the digits of small tails', () => {
    const near = (found: number, expected: number) => expect(Math.abs(found / expected - 1)).toBeLessThan(1e-9)
    near(chiSquareTail(136.951781862, 5), 7.95146210383e-28)
    near(normalTail(30), 4.906713927148187e-198)
    near(tTwoSided(1e5, 3), 2.205315581063698e-15)
  })

  it('return the quantile of a tail', () => {
    const degrees = fc.oneof(fc.double({ min: 1, max: 5, noNaN: true }), fc.integer({ min: 5, max: 1_000_000 }))
    fc.assert(
      fc.property(fc.double({ min: 0.5, max: 1 - 1e-6, noNaN: true }), degrees, (p, df) => {
        expect(1 - tTwoSided(tQuantile(p, df), df) / 2).toBeCloseTo(p, 10)
        expect(1 - normalTail(normalQuantile(p))).toBeCloseTo(p, 12)
        expect(normalQuantile(1 - p)).toBeCloseTo(-normalQuantile(p), 9)
      }),
    )
  })
})

describe('evidence', () => {
  it('for an infinite t value is finite', () => {
    expect(tLogE(Number.POSITIVE_INFINITY, 10, 3)).toBeCloseTo(0.5 * Math.log(1 / 4) + 5.5 * Math.log(4), 9)
  })
})

describe('the intervals of an arm', () => {
  it('that are always valid come from a beta mixture that is narrowest at 500', () => {
    const { a } = estimateArms(tableSums(40, 200, 62, 210), 'boolean')
    const { low = 0, high = 0 } = anytimeArmInterval(a, boolean) ?? {}
    expect(low).toBeCloseTo(0.12162325064401, 9)
    expect(high).toBeCloseTo(0.29685855470089, 9)
  })

  it('contain its rate, and the always-valid one is wider', () => {
    fc.assert(
      fc.property(table, (counts) => {
        const { a } = estimateArms(tableSums(...counts), 'boolean')
        const [fixed, anytime] = [fixedArmInterval(a, boolean), anytimeArmInterval(a, boolean)]
        const rate = a.mean ?? Number.NaN
        expect(fixed?.low).toBeLessThanOrEqual(rate)
        expect(fixed?.high).toBeGreaterThanOrEqual(rate)
        expect((anytime?.high ?? 0) - (anytime?.low ?? 0)).toBeGreaterThan((fixed?.high ?? 0) - (fixed?.low ?? 0))
      }),
    )
  })

  it('are as wide as units require', () => {
    const { uniform } = seeded(9)
    const callers = Array.from({ length: 60 }, () => (uniform() < 0.3 ? 1 : 0))
    const widthOf = (times: number) => {
      const units = callers.flatMap((value) => [
        { a: Array<number>(times).fill(value), b: [] },
        { a: [], b: Array<number>(times).fill(1 - value) },
      ])
      const { a } = estimateArms(sumsOf(units, 'boolean'), 'boolean')
      const { low, high } = fixedArmInterval(a, boolean) ?? { low: 0, high: 0 }
      return high - low
    }
    // Ten equal conversations with the same caller are worth as much as one.
    expect(widthOf(10)).toBeCloseTo(widthOf(1), 2)
  })
})

describe('expected precision', () => {
  const precision = (counts: readonly [number, number, number, number], target: number | null) => {
    const arms = estimateArms(tableSums(...counts), 'boolean')
    return expectedPrecision(arms, boolean, differenceOf(arms, boolean), {
      target: target ?? defaultTarget(arms, boolean),
      conversationsPerDay: 50,
    })
  }

  it('needs more conversations for smaller differences, and none for one that is already clear', () => {
    const [small, large, huge] = [0.02, 0.1, 0.5].map((target) => precision([40, 200, 62, 210], target))
    expect(small?.moreConversations).toBeGreaterThan(10 * (large?.moreConversations ?? Number.NaN))
    expect(small?.moreDays).toBeCloseTo((small?.moreConversations ?? 0) / 50, 9)
    expect(huge?.moreConversations).toBe(0)
    expect(large?.anytimeDifference).toBeGreaterThan(large?.fixedDifference ?? Number.NaN)
    expect(precision([40, 200, 62, 210], 1e-9).moreConversations).toBeNull()
  })

  it('has a fifth of the rate as its target, if there is a rate', () => {
    expect(precision([40, 200, 62, 210], null).target).toBeCloseTo(0.04, 12)
    expect(precision([0, 200, 62, 210], null)).toMatchObject({ target: null, moreConversations: null })
  })

  it('reaches the requested power', () => {
    const look = { variance: 0.01, conversations: 500, mode: 'anytime', alpha: 0.05, informationRate: 0.008 } as const
    expect(powerAt(0.1, look, timesMore(0.1, look, 0.8) ?? Number.NaN)).toBeCloseTo(0.8, 9)
  })
})

describe('several outcomes', () => {
  it('are corrected for each other, without those that have no result', () => {
    const { size, corrected } = correctSecondaries([
      { p: 0.01, eValue: 100, fixedP: 0.001 },
      { p: null, eValue: null, fixedP: null },
      { p: 0.04, eValue: 25, fixedP: 0.02 },
    ])
    expect(size).toBe(2)
    expect(corrected).toEqual([
      { p: 0.02, q: 0.02, fixedP: 0.002, fixedQ: 0.002 },
      { p: null, q: null, fixedP: null, fixedQ: null },
      { p: 0.04, q: 0.04, fixedP: 0.02, fixedQ: 0.02 },
    ])
  })
})

describe('the correction with human reviews', () => {
  /**
   * Generates an arm with a judge that correctly identifies 8 of 10 affected conversations, and wrongly marks 1 of 10
   * others as affected.
   */
  const armOf = (uniform: () => number, rate: number, reviewed: number, others: number): ReviewedArm => {
    const conversation = () => {
      const human = uniform() < rate ? 1 : 0
      return { human, judge: uniform() < (human === 1 ? 0.8 : 0.1) ? 1 : 0 }
    }
    const units = Array.from({ length: reviewed }, (): ReviewedUnit => {
      const { human, judge } = conversation()
      const none = { unreviewed: 0, unreviewedJudge: 0, unreviewedJudgeSquares: 0 }
      return { reviewed: 1, human, judge, judgeSquares: judge, products: human * judge, ...none }
    })
    const judged = sumsOf(
      Array.from({ length: others }, () => ({ a: [conversation().judge], b: [] })),
      'boolean',
    )
    return { units, others: judged.a }
  }

  it('covers the truth even if the judge misses it', () => {
    const { uniform } = seeded(31)
    const [rate, runs] = [0.1, 400]
    let covered = 0
    let coveredByJudge = 0
    for (let run = 0; run < runs; run++) {
      const arm = armOf(uniform, rate, 200, 1000)
      const corrected = correctArm(arm)
      if (!corrected) throw new Error('Two hundred reviews are enough')
      if (Math.abs(corrected.mean - rate) < 1.96 * Math.sqrt(corrected.variance)) covered += 1
      const judge = arm.others.sum / arm.others.count
      if (Math.abs(judge - rate) < 1.96 * Math.sqrt((judge * (1 - judge)) / arm.others.count)) coveredByJudge += 1
    }
    expect(covered / runs).toBeGreaterThan(0.92)
    expect(covered / runs).toBeLessThan(0.98)
    expect(coveredByJudge / runs).toBeLessThan(0.1)
  })

  it('is narrower than the human sample if the judge is good, and equal to it without a judge', () => {
    const { uniform } = seeded(32)
    const arm = armOf(uniform, 0.3, 200, 5000)
    const alone = correctArm({ units: arm.units, others: noSums().a })
    const corrected = correctArm(arm)
    const human = arm.units.reduce((sum, unit) => sum + unit.human, 0) / 200
    expect(alone).toMatchObject({ mean: human, weight: 0 })
    expect(alone?.variance).toBeCloseTo((human * (1 - human)) / 199, 12)
    expect(corrected?.variance).toBeLessThan(alone?.variance ?? Number.NaN)
  })

  it('counts callers with repeated observations once', () => {
    const { uniform } = seeded(33)
    const arm = armOf(uniform, 0.3, 100, 1000)
    const { a } = sumsOf([], 'boolean')
    const twice = arm.units.map((unit) => ({
      ...unit,
      reviewed: 2,
      human: 2 * unit.human,
      judge: 2 * unit.judge,
      judgeSquares: 2 * unit.judgeSquares,
      products: 2 * unit.products,
    }))
    const once = correctArm({ units: arm.units, others: a })
    expect(correctArm({ units: twice, others: a })?.variance).toBeCloseTo(once?.variance ?? Number.NaN, 12)
  })

  it('requires thirty reviews in each arm', () => {
    const { uniform } = seeded(34)
    const [few, many] = [armOf(uniform, 0.2, 29, 500), armOf(uniform, 0.2, 60, 500)]
    expect(correctedDifference(few, many, boolean)).toBeNull()
    expect(correctedDifference(many, few, boolean)).toBeNull()
    const found = correctedDifference(many, armOf(uniform, 0.6, 60, 500), numeric)
    expect(found).toMatchObject({ reviewedA: 60, reviewedB: 60 })
    const { fixed, anytime, estimate = 0 } = found ?? {}
    expect(fixed?.low).toBeLessThan(estimate)
    const half = tQuantile(0.975, 59) * (found?.standardError ?? Number.NaN)
    expect(fixed?.high).toBeCloseTo(estimate + half, 12)
    expect(anytime?.low).toBeLessThan(fixed?.low ?? Number.NaN)
  })
})
