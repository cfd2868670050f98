// Calculates tails and quantiles. Tails are never computed by subtracting from 1, so that small tails keep their
// digits.

import { incompleteBeta, logBeta, upperGamma } from './special-functions.ts'

const mostSteps = 100
/**
 * Newton's method doubles the digits with each step, so after a step this small, the next one would only change
 * rounding errors.
 */
const enough = 1e-10

/** Returns P(χ² > x) for these degrees of freedom. */
export const chiSquareTail = (x: number, degrees: number): number => upperGamma(degrees / 2, x / 2)

/** Returns P(Z > z). */
export const normalTail = (z: number): number => (z < 0 ? 1 - normalTail(-z) : 0.5 * upperGamma(0.5, (z * z) / 2))

/** Returns P(|Z| > |z|). */
export const normalTwoSided = (z: number): number => upperGamma(0.5, (z * z) / 2)

/** Returns P(|T| > |t|). */
export const tTwoSided = (t: number, degrees: number): number => {
  if (degrees === Number.POSITIVE_INFINITY) return normalTwoSided(t)
  const square = t * t
  if (square === Number.POSITIVE_INFINITY) return 0
  return incompleteBeta(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square))
}

/** The 0.975 quantile of the normal distribution, for 95% intervals. */
export const z95 = 1.959963984540054

/** Returns the z below which a share p of the normal distribution lies. */
export const normalQuantile = (p: number): number => {
  if (p < 0.5) return -upperNormalQuantile(p)
  return upperNormalQuantile(1 - p)
}

/** Returns the z with P(Z > z) = tail, for a tail up to 1/2. */
const upperNormalQuantile = (tail: number): number => {
  if (tail <= 0) return Number.POSITIVE_INFINITY
  // The start is above the result: P(Z > z) ≤ exp(−z²/2) / 2. The logarithm of the tail is concave, so Newton's method
  // stays above it.
  let z = Math.sqrt(Math.max(0, -2 * Math.log(2 * tail)))
  for (let step = 0; step < mostSteps; step++) {
    const above = normalTail(z)
    const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)
    const change = (Math.log(above / tail) * above) / density
    z += change
    if (Math.abs(change) < enough * Math.max(1, z)) break
  }
  return z
}

/** Returns the t below which a share p of Student's distribution lies. The share p must be at least 1/2. */
export const tQuantile = (p: number, degrees: number): number => {
  const tail = 1 - p
  const normal = upperNormalQuantile(tail)
  if (degrees === Number.POSITIVE_INFINITY || normal === 0) return normal
  // The logarithm of the tail is also concave in ln t, and the normal quantile is below the result.
  const logScale = -0.5 * Math.log(degrees) - logBeta(degrees / 2, 0.5)
  let t = normal
  for (let step = 0; step < mostSteps; step++) {
    const above = tTwoSided(t, degrees) / 2
    const density = Math.exp(logScale - ((degrees + 1) / 2) * Math.log1p((t * t) / degrees))
    const change = (Math.log(above / tail) * above) / (density * t)
    t *= Math.exp(change)
    if (Math.abs(change) < enough) break
  }
  return t
}
