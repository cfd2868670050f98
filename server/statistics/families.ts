// Corrects the results of several outcomes, because each outcome is another opportunity for chance. A null result needs
// no correction and does not count.

/** Corrects each known value according to its rank. The smallest value has rank 1. */
const byRank = (ps: readonly (number | null)[], correct: (sorted: number[]) => number[]): (number | null)[] => {
  const order = ps.flatMap((p, at) => (p === null ? [] : [{ p, at }])).sort((one, other) => one.p - other.p)
  const corrected = correct(order.map(({ p }) => p))
  const result: (number | null)[] = ps.map(() => null)
  order.forEach(({ at }, rank) => {
    result[at] = corrected[rank] ?? null
  })
  return result
}

/**
 * Corrects p-values by Holm's method. At level alpha, the probability of any false claim is at most alpha, whether or
 * not the outcomes are dependent.
 */
export const holm = (ps: readonly (number | null)[]): (number | null)[] =>
  byRank(ps, (sorted) => {
    let largest = 0
    return sorted.map((p, rank) => {
      largest = Math.max(largest, Math.min(1, (sorted.length - rank) * p))
      return largest
    })
  })

/**
 * Corrects p-values by the method of Benjamini and Hochberg. If the outcomes are positively dependent, at most a share
 * alpha of the claims at level alpha is false.
 */
export const benjaminiHochberg = (ps: readonly (number | null)[]): (number | null)[] =>
  byRank(ps, (sorted) => {
    let smallest = 1
    return sorted
      .map((p, rank) => ({ p, rank }))
      .reverse()
      .map(({ p, rank }) => {
        smallest = Math.min(smallest, (p * sorted.length) / (rank + 1))
        return smallest
      })
      .reverse()
  })

const pOfE = (eValue: number | null) => (eValue === null ? null : eValue <= 1 ? 1 : 1 / eValue)

/**
 * Does the same for e-values. The result is always valid, whether or not the outcomes are dependent (Wang and Ramdas
 * 2022).
 */
export const eBenjaminiHochberg = (eValues: readonly (number | null)[]): (number | null)[] =>
  benjaminiHochberg(eValues.map(pOfE))

export const holmOfE = (eValues: readonly (number | null)[]): (number | null)[] => holm(eValues.map(pOfE))

/** One outcome's uncorrected result. Null if there is none. */
export type Alone = { eValue: number | null; p: number | null; fixedP: number | null }

export type Corrected = { p: number | null; q: number | null; fixedP: number | null; fixedQ: number | null }

/** Corrects all outcomes except the primary one, which is never corrected for the others. */
export const correctSecondaries = (outcomes: readonly Alone[]): { size: number; corrected: Corrected[] } => {
  const ps = holm(outcomes.map(({ p }) => p))
  const qs = eBenjaminiHochberg(outcomes.map(({ eValue }) => eValue))
  const fixedPs = holm(outcomes.map(({ fixedP }) => fixedP))
  const fixedQs = benjaminiHochberg(outcomes.map(({ fixedP }) => fixedP))
  return {
    size: outcomes.filter(({ p }) => p !== null).length,
    corrected: outcomes.map((_, at) => ({
      p: ps[at] ?? null,
      q: qs[at] ?? null,
      fixedP: fixedPs[at] ?? null,
      fixedQ: fixedQs[at] ?? null,
    })),
  }
}
