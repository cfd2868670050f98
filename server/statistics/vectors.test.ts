import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type ArmEstimate, type ArmEstimates, estimateArms } from './arm.ts'
import { adjustForBefore } from './before-launch.ts'
import { sameSplit } from './concurrency.ts'
import { chiSquareTail, normalQuantile, normalTail, tQuantile, tTwoSided } from './distributions.ts'
import { benjaminiHochberg, eBenjaminiHochberg, holm, holmOfE } from './families.ts'
import { fixedDifference } from './fixed.ts'
import { around, type Interval } from './interval.ts'
import { fieller, relativeLift } from './lift.ts'
import {
  anytimeRateInterval,
  informationRate,
  normalMultiplier,
  pValueOf,
  rateLogE,
  tLogE,
  tMultiplier,
} from './mixtures.ts'
import { powerAt, timesMore } from './precision.ts'
import { fisher, newcombe, scoreInterval, scoreTest, twoSidedZ, wilson } from './rate-intervals.ts'
import { dirichletLogE, splitChiSquare } from './sample-ratio.ts'
import { logBeta, logGamma } from './special-functions.ts'
import { addUnit, noSums, noUnit, sumsOf, type ValueSums } from './sums.ts'

/** Published numbers, and results from other software. STATS_VECTORS selects another file with the same structure. */

type Vector = { name: string; fn: string; input: never; expected: unknown; tolerance: number | string; source: string }

const file = process.env.STATS_VECTORS ?? join(import.meta.dirname, 'vectors.json')
// The structure is not validated, because anything unsuitable fails the test.
const vectors = JSON.parse(readFileSync(file, 'utf8')) as Vector[]

const ci = ({ low, high }: Interval) => [low, high]

const numeric = { kind: 'numeric', alpha: 0.05, tuningConversations: 1000, range: null } as const

type Moments = { n: number; sum: number; sumSquares: number }

/** Returns an arm of which only the sums are known. Its mean is subtracted as the shift. */
const armOf = ({ n, sum, sumSquares }: Moments): ArmEstimate => {
  const deviations = sumSquares - sum ** 2 / n
  const variance = deviations / (n - 1) / n
  return {
    units: n,
    observed: n,
    sum,
    mean: sum / n,
    deviations,
    unitVariance: variance,
    designEffect: 1,
    independentVariance: variance,
    variance,
    single: true,
  }
}

const armsOf = (a: Moments, b: Moments): ArmEstimates => ({
  a: armOf(a),
  b: armOf(b),
  covariance: 0,
  difference: b.sum / b.n - a.sum / a.n,
  single: true,
})

const fixedOf = (arms: ArmEstimates, alpha = 0.05) => {
  const fixed = fixedDifference(arms, numeric, alpha)
  return {
    rateA: arms.a.mean,
    rateB: arms.b.mean,
    varA: arms.a.unitVariance,
    varB: arms.b.unitVariance,
    diff: arms.difference,
    se: fixed.standardError,
    t: (arms.difference ?? Number.NaN) / (fixed.standardError ?? Number.NaN),
    df: fixed.degrees,
    p: fixed.p,
    ci: fixed.interval && ci(fixed.interval),
  }
}

type Pair = { xA: number; nA: number; xB: number; nB: number; alpha: number }

const sharesOf = ({ xA, nA, xB, nB }: Pair) =>
  [
    { affected: xA, all: nA },
    { affected: xB, all: nB },
  ] as const

const held = ([sum, count]: [number, number]): ValueSums => ({ count, sum, squares: 0 })

type Power = { se2: number; n: number; mde: number; power: number; alpha: number; tuningN?: number; scale?: number }

const lookOf = ({ se2, n, alpha, tuningN = 1000, mode }: Power & { mode: 'fixed' | 'anytime' }) => ({
  variance: se2,
  conversations: n,
  mode,
  alpha,
  informationRate: informationRate({ alpha, tuningConversations: tuningN }),
})

/** Returns the sums up to each block. */
const running = (blocks: readonly number[][]) => {
  let sums: number[] = []
  return blocks.map((block) => {
    sums = block.map((count, at) => count + (sums[at] ?? 0))
    return sums
  })
}

const runningMin = (ps: number[]) => ps.map((_, at) => Math.min(...ps.slice(0, at + 1)))

/** The functions by their names in the vectors. */
const functions: Record<string, (input: never) => unknown> = {
  welch: ({ a, b, alpha }: { a: Moments; b: Moments; alpha: number }) => fixedOf(armsOf(a, b), alpha),
  welchRaw: ({ a, b, alpha }: { a: number[]; b: number[]; alpha: number }) => {
    const arms = estimateArms(
      sumsOf([...a.map((value) => ({ a: [value], b: [] })), ...b.map((value) => ({ a: [], b: [value] }))], 'numeric'),
      'numeric',
    )
    const spread = (arm: ArmEstimate) => arm.deviations / (arm.observed - 1)
    return { ...fixedOf(arms, alpha), varA: spread(arms.a), varB: spread(arms.b) }
  },
  clusterDiff: ({ a, b, alpha }: { a: [number, number][]; b: [number, number][]; alpha?: number }) => {
    let sums = noSums()
    for (const each of a) sums = addUnit(sums, { ...noUnit, a: held(each) })
    for (const each of b) sums = addUnit(sums, { ...noUnit, b: held(each) })
    return fixedOf(estimateArms(sums, 'numeric'), alpha)
  },
  crossoverVariance: ({ data }: { data: [string, 'A' | 'B', number][] }) => {
    const units = new Map<string, { a: number[]; b: number[] }>()
    for (const [unit, arm, value] of data) {
      const values = units.get(unit) ?? { a: [], b: [] }
      values[arm === 'A' ? 'a' : 'b'].push(value)
      units.set(unit, values)
    }
    const { diff, se } = fixedOf(estimateArms(sumsOf([...units.values()], 'numeric'), 'numeric'))
    return { diff, se, variance: (se ?? Number.NaN) ** 2 }
  },
  sequentialRho: ({ alpha, tuningN }: { alpha: number; tuningN: number }) =>
    Math.sqrt(informationRate({ alpha, tuningConversations: tuningN })),
  normalAnytimeHalfwidth: ({ s2, n, alpha, tuningN }: { s2: number; n: number; alpha: number; tuningN: number }) =>
    normalMultiplier(n * informationRate({ alpha, tuningConversations: tuningN }), alpha) * Math.sqrt(s2 / n),
  normalAnytimeDiff: (input: { a: Moments; b: Moments; alpha: number; tuningN: number }) => {
    const { a, b, alpha, tuningN } = input
    const arms = armsOf(a, b)
    const difference = arms.difference ?? Number.NaN
    const variance = arms.a.variance + arms.b.variance
    const x = (a.n + b.n) * informationRate({ alpha, tuningConversations: tuningN })
    return {
      ci: ci(around(difference, normalMultiplier(x, alpha) * Math.sqrt(variance))),
      p: pValueOf(tLogE(difference ** 2 / variance, Number.POSITIVE_INFINITY, x)),
    }
  },
  normalMixtureBestRho: ({ vOpt, alpha }: { vOpt: number; alpha: number }) =>
    1 / informationRate({ alpha, tuningConversations: vOpt }),
  normalMixtureLogE: ({ s, v, vOpt, alphaOpt }: { s: number; v: number; vOpt: number; alphaOpt: number }) =>
    tLogE(s ** 2 / v, Number.POSITIVE_INFINITY, v * informationRate({ alpha: alphaOpt, tuningConversations: vOpt })),
  normalMixtureBound: ({ v, alpha, vOpt, alphaOpt }: { v: number; alpha: number; vOpt: number; alphaOpt: number }) =>
    Math.sqrt(v) * normalMultiplier(v * informationRate({ alpha: alphaOpt, tuningConversations: vOpt }), alpha),
  tAnytimeMultiplier: ({ nu, x, alpha }: { nu: number; x: number; alpha: number }) => tMultiplier(nu, x, alpha),
  tAnytimeLogE: ({ t2, nu, x }: { t2: number; nu: number; x: number }) => {
    const logE = tLogE(t2, nu, x)
    return { logE, p: pValueOf(logE) }
  },
  mnRiskDifference: (input: Pair) => ({ ci: ci(scoreInterval(...sharesOf(input), input.alpha)) }),
  mnScoreTest: (input: Pair) => scoreTest(...sharesOf(input)),
  newcombe: (input: Pair) => ({ ci: ci(newcombe(...sharesOf(input), input.alpha)) }),
  agrestiCaffo: (input: Pair) => {
    // Only the width is compared, because the published interval is around the adjusted difference.
    const { xA, nA, xB, nB, alpha } = input
    let sums = noSums()
    for (let at = 0; at < nA; at++) sums = addUnit(sums, { ...noUnit, a: held([at < xA ? 1 : 0, 1]) })
    for (let at = 0; at < nB; at++) sums = addUnit(sums, { ...noUnit, b: held([at < xB ? 1 : 0, 1]) })
    const { a, b } = estimateArms(sums, 'boolean')
    const difference = (xB + 1) / (nB + 2) - (xA + 1) / (nA + 2)
    const half = twoSidedZ(alpha) * Math.sqrt(a.independentVariance + b.independentVariance)
    return { ci: ci(around(difference, half)) }
  },
  wilson: ({ x, n, alpha }: { x: number; n: number; alpha: number }) => ({
    ci: ci(wilson({ affected: x, all: n }, alpha)),
  }),
  fisherTwoSided: ({ table: [[a, b], [c, d]] }: { table: [[number, number], [number, number]] }) => ({
    p: fisher({ affected: a, all: a + b }, { affected: c, all: c + d }),
  }),
  fieller: (input: { num: number; den: number; varNum: number; varDen: number; cov: number; k: number }) => {
    const { num, den, varNum, varDen, cov, k } = input
    const ratio = {
      numerator: num,
      denominator: den,
      numeratorVariance: varNum,
      denominatorVariance: varDen,
      covariance: cov,
    }
    const interval = fieller(ratio, k)
    return { ratio: num / den, ci: interval && ci(interval) }
  },
  relativeLift: ({ meanA, meanB }: { meanA: number; meanB: number }) => relativeLift(meanA, meanB),
  srmChiSquare: ({ nA, nB, expectedA }: { nA: number; nB: number; expectedA: number }) =>
    splitChiSquare({ a: nA, b: nB }, expectedA),
  srmSequentialMultinomial: (input: {
    expected: number[]
    blocks: number[][]
    concentration?: number
    dirichletAlpha?: number[]
  }) => {
    const { expected, blocks, concentration = 1, dirichletAlpha } = input
    const prior = dirichletAlpha ?? expected.map((share) => share * concentration)
    const logBF = running(blocks).map((counts) => dirichletLogE(counts, expected, prior))
    const ps = runningMin(logBF.map(pValueOf))
    return { logBF, finalBayesFactor: Math.exp(logBF.at(-1) ?? 0), finalP: ps.at(-1), pRunningMin: ps }
  },
  srmSequential: (input: { expectedA: number; concentration: number; blocks: [number, number][] }) => {
    const logBF = running(input.blocks).map(([a = 0, b = 0]) =>
      rateLogE({ affected: a, all: a + b }, input.expectedA, input.concentration),
    )
    return { logBF, pRunningMin: runningMin(logBF.map(pValueOf)) }
  },
  bernoulliConfidenceSequence: (input: {
    successes: number
    trials: number
    alpha: number
    tOpt: number
    alphaOpt: number
  }) => {
    const { successes, trials, alpha, tOpt, alphaOpt } = input
    const share = { affected: successes, all: trials }
    return { ci: ci(anytimeRateInterval(share, { alpha, alphaTuned: alphaOpt, tunedFor: tOpt })) }
  },
  holm,
  bh: benjaminiHochberg,
  ebh: ({ e }: { e: number[] }) => eBenjaminiHochberg(e),
  holmOfE: ({ e }: { e: number[] }) => holmOfE(e),
  scalingFactor: (input: Power & { mode: 'fixed' | 'anytime' }) => timesMore(input.mde, lookOf(input), input.power),
  powerAt: (input: Power & { mode: 'fixed' | 'anytime' }) => powerAt(input.mde, lookOf(input), input.scale ?? 0),
  armTimeHomogeneity: ({ a, b }: { a: number[]; b: number[] }) => {
    const { chiSquare, degrees, p } = sameSplit(a.map((count, at) => ({ a: count, b: b[at] ?? Number.NaN })))
    return { chi2: chiSquare, df: degrees, p }
  },
  cuped: (input: { a: PreAndPost; b: PreAndPost; alpha: number }) => {
    const adjusted = adjustForBefore(beforeAndAfter(input.a), beforeAndAfter(input.b), input.alpha)
    return (
      adjusted && {
        theta: adjusted.theta,
        diff: adjusted.estimate,
        se: adjusted.standardError,
        p: adjusted.p,
        ci: ci(adjusted.interval),
      }
    )
  },
  normalQuantile: (ps: number[]) => ps.map(normalQuantile),
  normalSf: (zs: number[]) => zs.map(normalTail),
  tQuantile: (inputs: [number, number][]) => inputs.map(([p, degrees]) => tQuantile(p, degrees)),
  tTwoSidedP: (inputs: [number, number][]) => inputs.map(([t, degrees]) => tTwoSided(t, degrees)),
  chi2Sf1: (inputs: number[]) => inputs.map((x) => chiSquareTail(x, 1)),
  logGamma: (inputs: number[]) => inputs.map(logGamma),
  logBeta: (inputs: [number, number][]) => inputs.map(([a, b]) => logBeta(a, b)),
}

type PreAndPost = { n: number; postSum: number; postSumSq: number; preSum: number; preSumSq: number; cross: number }

const beforeAndAfter = ({ n, postSum, postSumSq, preSum, preSumSq, cross }: PreAndPost) => ({
  units: n,
  after: postSum,
  afterSquares: postSumSq,
  before: preSum,
  beforeSquares: preSumSq,
  products: cross,
})

/** Checks that the result contains every expected number within the tolerance. It can contain additional numbers. */
const expectClose = (found: unknown, expected: unknown, tolerance: number | string, path: string): void => {
  if (typeof expected === 'number') {
    const relative = typeof tolerance === 'string'
    const allowed = relative ? Number(tolerance.replace('rel ', '')) * Math.abs(expected) : tolerance
    expect(found, path).toBeTypeOf('number')
    const off = Math.abs(Number(found) - expected)
    expect(off <= allowed, `${path}: ${found} is not within ${allowed} of ${expected}`).toBe(true)
  } else if (expected !== null && typeof expected === 'object') {
    for (const [key, value] of Object.entries(expected)) {
      if (key !== 'note') expectClose(Object(found)[key], value, tolerance, `${path}.${key}`)
    }
  } else {
    expect(found, path).toBe(expected)
  }
}

describe('vectors', () => {
  it('exist', () => {
    expect(vectors.length).toBeGreaterThan(0)
  })

  it.each(vectors)('$name', ({ fn, input, expected, tolerance }) => {
    const run = functions[fn]
    if (!run) throw new Error(`No function is called ${fn}`)
    expectClose(run(input), expected, tolerance, fn)
  })
})
