import { describe, expect, it } from 'vitest'
import { cohensKappa, kappa, type Matrix, share } from './agreement.ts'

const matrix = (...[truePositives, falsePositives, falseNegatives, trueNegatives]: number[]): Matrix => ({
  truePositives: truePositives ?? 0,
  falsePositives: falsePositives ?? 0,
  falseNegatives: falseNegatives ?? 0,
  trueNegatives: trueNegatives ?? 0,
})

describe('a share', () => {
  // The intervals are from R. G. Newcombe, Two-sided confidence intervals for the single proportion, Statistics in
  // Medicine 17 (1998), table I.
  it.each([
    [81, 263, 0.2553, 0.3662],
    [15, 148, 0.0624, 0.1605],
    [0, 20, 0, 0.1611],
    [1, 29, 0.0061, 0.1718],
  ])('%i of %i has the published interval', (some, all, low, high) => {
    const estimate = share(some, all)
    expect(estimate?.value).toBe(some / all)
    expect(estimate?.low).toBeCloseTo(low, 4)
    expect(estimate?.high).toBeCloseTo(high, 4)
  })

  it('of nothing is unknown, and always in its interval', () => {
    expect(share(0, 0)).toBeNull()
    for (let all = 1; all < 200; all++) {
      for (let some = 0; some <= all; some++) {
        const { value, low, high } = share(some, all) ?? { value: 2, low: 3, high: 0 }
        expect(low >= 0 && low <= value && value <= high && high <= 1, `${some} in ${all}`).toBe(true)
      }
    }
  })
})

describe('kappa', () => {
  it('is as published', () => {
    // The example is from the documentation of ci.kappa in the R package statpsych.
    const published = cohensKappa([
      [58, 4],
      [12, 31],
    ])
    expect(published?.value).toBeCloseTo(0.6756757, 7)
    expect(published?.standardError).toBeCloseTo(0.07344761, 7)
    // J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20 (1960),
    // describes two psychiatrists and 200 patients.
    const psychiatrists = [
      [88, 14, 18],
      [10, 40, 10],
      [2, 6, 12],
    ]
    expect(cohensKappa(psychiatrists)?.value).toBeCloseTo(0.492, 3)
    // This is the first example in the Wikipedia article on Cohen's kappa.
    expect(kappa(matrix(20, 5, 10, 15))?.value).toBeCloseTo(0.4, 12)
  })

  it('is unknown with only one kind of answer, and 0 or -1 for chance or contradiction', () => {
    expect(kappa(matrix())).toBeNull()
    expect(kappa(matrix(7))).toBeNull()
    expect(kappa(matrix(0, 0, 0, 7))).toBeNull()
    expect(kappa(matrix(5, 5, 5, 5))?.value).toBe(0)
    expect(kappa(matrix(0, 5, 5, 0))).toMatchObject({ value: -1, low: -1 })
    expect(kappa(matrix(10, 0, 0, 10))).toMatchObject({ value: 1, high: 1 })
    expect(kappa(matrix(10, 0, 0, 10))?.low).toBeLessThan(0.9)
  })

  const logFactorials = [0]
  const logFactorial = (n: number): number => {
    const known = logFactorials[n] ?? logFactorial(n - 1) + Math.log(n)
    logFactorials[n] = known
    return known
  }

  /** Yields all four-cell tables with this many pairs. */
  function* tablesOf(pairs: number): Generator<[number, number, number, number]> {
    for (let a = 0; a <= pairs; a++) {
      for (let b = 0; a + b <= pairs; b++) {
        for (let c = 0; a + b + c <= pairs; c++) yield [a, b, c, pairs - a - b - c]
      }
    }
  }

  /**
   * Returns how often the interval contains the true kappa, as the total probability of the tables for which it does.
   */
  const coverage = (pairs: number, chances: [number, number, number, number]): number => {
    const truth = kappa(matrix(...chances))?.value ?? Number.NaN
    let covered = 0
    let known = 0
    for (const counts of tablesOf(pairs)) {
      const interval = kappa(matrix(...counts))
      if (!interval) continue
      const logs = counts.map((count, cell) => count * Math.log(chances[cell] ?? 0) - logFactorial(count))
      const chance = Math.exp(logs.reduce((sum, log) => sum + log, logFactorial(pairs)))
      known += chance
      if (interval.low <= truth && truth <= interval.high) covered += chance
    }
    return covered / known
  }

  it.each([
    [20, [0.45, 0.05, 0.05, 0.45]],
    [20, [0.16, 0.04, 0.04, 0.76]],
    [20, [0.292, 0.008, 0.006, 0.694]],
    [40, [0.45, 0.05, 0.05, 0.45]],
    [40, [0.04, 0.019, 0.01, 0.931]],
  ] as [number, [number, number, number, number]][])(
    'of %i pairs has an interval that contains the truth',
    (pairs, chances) => {
      expect(coverage(pairs, chances)).toBeGreaterThan(0.935)
    },
  )
})
