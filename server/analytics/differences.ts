// Calculates the differences between two groups of conversations for several measures at once. Pure.

import { valueOfStep } from '../platform/db/rounded-values.ts'
import { holm } from '../statistics/families.ts'
import type { Interval } from '../statistics/interval.ts'
import { meanTest } from '../statistics/means.ts'
import {
  cumulative,
  type Distribution,
  percentileDifference,
  percentilePositions,
  percentileTest,
} from '../statistics/percentiles.ts'
import { rateTest } from '../statistics/rate-intervals.ts'
import type { Whole } from './days/sum.ts'
import { differenceInterval, type Figure, figureOf, type Kind, noSums, quantileOf } from './figures.ts'

/** The maximum share of comparisons that have a notable difference although there is no real difference. */
const falseShare = 0.05

/** With fewer values, Welch's test is wrong too often if they are far from normally distributed. */
const fewest = 30

export type Row = {
  kind: Kind
  a: Whole
  b: Whole
  /**
   * Whether a conversation can have several values. Values of the same conversation are similar, so no test treats them
   * as independent.
   */
  isDependent?: boolean
}

export type Difference = {
  a: Figure
  b: Figure
  /** b − a. */
  difference: number | null
  differenceInterval95: Interval | null
  p: number | null
  /** Corrected for the number of rows. */
  adjustedP: number | null
  isNotable: boolean
}

const distributionOf = ({ steps }: Whole): Distribution => {
  const inOrder = [...steps].sort(([a], [b]) => a - b)
  return {
    values: inOrder.map(([step]) => valueOfStep(step)),
    upto: cumulative(inOrder.map(([, count]) => count)),
  }
}

const percentileFigure = ({ values, upto }: Distribution, quantile: number): Figure => {
  const { at, low, high } = percentilePositions(upto, quantile)
  return {
    n: upto[upto.length - 1] ?? 0,
    value: at === null ? null : (values[at] ?? null),
    interval95: low === null || high === null ? null : { low: values[low] ?? 0, high: values[high] ?? 0 },
  }
}

type Compared = Pick<Difference, 'a' | 'b' | 'differenceInterval95' | 'p'>

const comparePercentiles = (quantile: number, { a, b }: Row): Compared => {
  const [ofA, ofB] = [distributionOf(a), distributionOf(b)]
  return {
    a: percentileFigure(ofA, quantile),
    b: percentileFigure(ofB, quantile),
    differenceInterval95: percentileDifference(ofA, ofB, quantile),
    p: percentileTest(ofA, ofB, quantile),
  }
}

/** Counts and sums have no p-value, because they are not estimates. */
const testOf = ({ kind, a, b }: Row): number | null => {
  if (kind === 'share') return rateTest({ affected: a.hits, all: a.count }, { affected: b.hits, all: b.count })
  return kind === 'mean' && Math.min(a.count, b.count) >= fewest ? meanTest(a, b) : null
}

const compareIndependent = (row: Row): Compared => {
  const { kind } = row
  const quantile = quantileOf(kind)
  if (quantile !== undefined) return comparePercentiles(quantile, row)
  const [a, b] = [
    { ...noSums, ...row.a },
    { ...noSums, ...row.b },
  ]
  const isKnown = a.count > 0 && b.count > 0
  return {
    a: figureOf(kind, a),
    b: figureOf(kind, b),
    differenceInterval95: differenceInterval(kind, a, b),
    p: isKnown ? testOf(row) : null,
  }
}

const compareRow = ({ isDependent = false, ...row }: Row): Compared =>
  isDependent ? { ...compareIndependent(row), differenceInterval95: null, p: null } : compareIndependent(row)

/**
 * Compares each row on its own, and marks the differences that are unlikely to be chance even though several rows were
 * compared (Holm's method).
 */
export const compareRows = (rows: Row[]): Difference[] => {
  const compared = rows.map(compareRow)
  const adjusted = holm(compared.map(({ p }) => p))
  return compared.map((row, at) => {
    const [ofA, ofB] = [row.a.value, row.b.value]
    const adjustedP = adjusted[at] ?? null
    return {
      ...row,
      difference: ofA === null || ofB === null ? null : ofB - ofA,
      adjustedP,
      isNotable: adjustedP !== null && adjustedP <= falseShare,
    }
  })
}
