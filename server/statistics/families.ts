// Several outcomes at once: what each shows when chance had several tries. Null where there is nothing to correct; it
// does not count.

/** Each known value corrected with its rank, 1 being the smallest. */
const byRank = (ps: readonly (number | null)[], correct: (sorted: number[]) => number[]): (number | null)[] => {
  const order = ps.flatMap((p, at) => (p === null ? [] : [{ p, at }])).sort((one, other) => one.p - other.p)
  const corrected = correct(order.map(({ p }) => p))
  const result: (number | null)[] = ps.map(() => null)
  order.forEach(({ at }, rank) => {
    result[at] = corrected[rank] ?? null
  })
  return result
}

/** Holm: the probability of any false claim at alpha is at most alpha, whatever the dependence of outcomes. */
export const holm = (ps: readonly (number | null)[]): (number | null)[] =>
  byRank(ps, (sorted) => {
    let largest = 0
    return sorted.map((p, rank) => {
      largest = Math.max(largest, Math.min(1, (sorted.length - rank) * p))
      return largest
    })
  })

/** Benjamini and Hochberg: at most a share alpha of the claims at alpha is false, for positively dependent outcomes. */
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

/** The same from e-values: always valid, whatever the dependence (Wang and Ramdas 2022). */
export const eBenjaminiHochberg = (eValues: readonly (number | null)[]): (number | null)[] =>
  benjaminiHochberg(eValues.map(pOfE))

export const holmOfE = (eValues: readonly (number | null)[]): (number | null)[] => holm(eValues.map(pOfE))

/** The uncorrected result of one of several outcomes; null without one. */
export type Alone = { eValue: number | null; p: number | null; fixedP: number | null }

export type Corrected = { p: number | null; q: number | null; fixedP: number | null; fixedQ: number | null }

/** All outcomes except the primary, which is never corrected for them. */
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
