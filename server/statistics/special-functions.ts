// Calculates the functions that all distributions are based on. They are implemented here because npm libraries are
// either inaccurate where it matters (far tails, many degrees of freedom) or add hundreds of modules. See
// docs/decisions/0015-statistics.md.

const logSqrtTwoPi = 0.9189385332046728
const stirlingFrom = 15
/** Slightly more than the rounding error of a relative change. */
const enough = 5e-16
const mostSteps = 100_000

/** Returns the remainder of Stirling's formula. Starting at `stirlingFrom`, the next term is below 1e-17. */
const stirlingRest = (x: number): number => {
  const square = x * x
  return (
    (1 / 12 -
      (1 / 360 - (1 / 1260 - (1 / 1680 - (1 / 1188 - 691 / 360360 / square) / square) / square) / square) / square) /
    x
  )
}

/** Returns the logarithm of the gamma function for x > 0. */
export const logGamma = (x: number): number => {
  let product = 1
  let at = x
  while (at < stirlingFrom) {
    product *= at
    at += 1
  }
  return (at - 0.5) * Math.log(at) - at + logSqrtTwoPi + stirlingRest(at) - Math.log(product)
}

/**
 * Returns the logarithm of the beta function for a and b > 0. If both are large, the digits of their gamma functions
 * would cancel out.
 */
export const logBeta = (a: number, b: number): number => {
  const [small, large] = a < b ? [a, b] : [b, a]
  if (small < stirlingFrom) return logGamma(small) + logGammaRatio(large, small)
  const share = small / (small + large)
  const rest = stirlingRest(small) + stirlingRest(large) - stirlingRest(small + large)
  return -0.5 * Math.log(large) + logSqrtTwoPi + rest + (small - 0.5) * Math.log(share) + large * Math.log1p(-share)
}

/** Returns ln Γ(x) − ln Γ(x + more). */
const logGammaRatio = (x: number, more: number): number => {
  if (x < stirlingFrom) return logGamma(x) - logGamma(x + more)
  const rest = stirlingRest(x) - stirlingRest(x + more)
  return rest + (x - 0.5) * -Math.log1p(more / x) + more * (1 - Math.log(x + more))
}

/**
 * Evaluates a continued fraction with the modified Lentz method. `term(i)` returns the i-th numerator and denominator.
 */
const continuedFraction = (first: number, term: (index: number) => [number, number]): number => {
  const tiny = 1e-300
  const apart = (value: number) => (Math.abs(value) < tiny ? tiny : value)
  let value = apart(first)
  let c = value
  let d = 0
  for (let index = 1; index < mostSteps; index++) {
    const [numerator, denominator] = term(index)
    d = 1 / apart(denominator + numerator * d)
    c = apart(denominator + numerator / c)
    const step = c * d
    value *= step
    if (Math.abs(step - 1) < enough) break
  }
  return value
}

/** Returns the regularized upper incomplete gamma function Q(a, x). Small tails keep their digits. */
export const upperGamma = (a: number, x: number): number => {
  if (x <= 0) return 1
  if (x === Number.POSITIVE_INFINITY) return 0
  const front = Math.exp(a * Math.log(x) - x - logGamma(a))
  if (x > a + 1) {
    return front / continuedFraction(x + 1 - a, (index) => [-index * (index - a), x + 1 - a + 2 * index])
  }
  let term = 1 / a
  let sum = term
  for (let index = 1; index < mostSteps && term > sum * enough; index++) {
    term *= x / (a + index)
    sum += term
  }
  return 1 - front * sum
}

/**
 * Returns the regularized incomplete beta function I_x(a, b). `rest` is 1 − x. It is a parameter because x can be
 * almost 1.
 */
export const incompleteBeta = (a: number, b: number, x: number, rest: number): number => {
  if (x <= 0) return 0
  if (rest <= 0) return 1
  // The fraction converges quickly on one side, and the mirrored fraction on the other.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, rest, x)
  const logX = x > 0.5 ? Math.log1p(-rest) : Math.log(x)
  const logRest = rest > 0.5 ? Math.log1p(-x) : Math.log(rest)
  const fraction = continuedFraction(1, (index) => {
    const half = index >> 1
    const numerator =
      index % 2 === 0
        ? (half * (b - half) * x) / ((a + index - 1) * (a + index))
        : (-(a + half) * (a + b + half) * x) / ((a + index - 1) * (a + index))
    return [numerator, 1]
  })
  return Math.exp(a * logX + b * logRest - logBeta(a, b)) / (a * fraction)
}
