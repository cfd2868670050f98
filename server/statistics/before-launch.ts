// Adjusts the difference using values from before the launch (CUPED; Deng, Xu, Kohavi and Walker 2013).

import { degreesOfFreedom } from './arm.ts'
import { tQuantile, tTwoSided } from './distributions.ts'
import { around, type Interval } from './interval.ts'

/**
 * The sums of the values before and after the launch, of their squares, and of their products. Only includes units with
 * both values.
 */
export type BeforeAndAfter = {
  units: number
  after: number
  afterSquares: number
  before: number
  beforeSquares: number
  products: number
}

export type AdjustedDifference = {
  estimate: number
  interval: Interval
  p: number
  standardError: number
  theta: number
}

const covarianceOf = (units: number, x: number, y: number, products: number) =>
  (products - (x * y) / units) / (units - 1)

const spreadOf = (arm: BeforeAndAfter) => ({
  after: covarianceOf(arm.units, arm.after, arm.after, arm.afterSquares),
  before: covarianceOf(arm.units, arm.before, arm.before, arm.beforeSquares),
  both: covarianceOf(arm.units, arm.after, arm.before, arm.products),
})

/** Returns the adjusted difference. Returns null if an arm has fewer than two units, or if there is no variation. */
export const adjustForBefore = (a: BeforeAndAfter, b: BeforeAndAfter, alpha: number): AdjustedDifference | null => {
  if (a.units < 2 || b.units < 2) return null
  // All units form one sample here, because the arms did not differ before the launch.
  const together = spreadOf({
    units: a.units + b.units,
    after: a.after + b.after,
    afterSquares: a.afterSquares + b.afterSquares,
    before: a.before + b.before,
    beforeSquares: a.beforeSquares + b.beforeSquares,
    products: a.products + b.products,
  })
  const theta = together.before > 0 ? together.both / together.before : 0
  const [ofA, ofB] = [spreadOf(a), spreadOf(b)]
  const varianceOf = (spread: typeof ofA, units: number) =>
    (spread.after - 2 * theta * spread.both + theta * theta * spread.before) / units
  const [varianceA, varianceB] = [varianceOf(ofA, a.units), varianceOf(ofB, b.units)]
  if (!(varianceA + varianceB > 0)) return null
  const estimate = b.after / b.units - a.after / a.units - theta * (b.before / b.units - a.before / a.units)
  const standardError = Math.sqrt(varianceA + varianceB)
  const degrees = degreesOfFreedom(varianceA, a.units, varianceB, b.units)
  return {
    estimate,
    interval: around(estimate, tQuantile(1 - alpha / 2, degrees) * standardError),
    p: tTwoSided(estimate / standardError, degrees),
    standardError,
    theta,
  }
}
