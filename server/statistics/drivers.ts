// Finds the groups that explain why a rate, mean, or count differs between two periods.

import { normalTwoSided } from './distributions.ts'

/**
 * The number of values, their sum, and the sum of their squares. For rates, the two sums are the number of affected
 * conversations.
 */
export type GroupTotals = { count: number; sum: number; squares: number }

export type DriverKind = 'share' | 'mean' | 'count'

type Candidate<K> = { key: K; before: GroupTotals; now: GroupTotals }

export type Dimension<K> = { groups: Candidate<K>[] }

export type Driver<K> = {
  key: K
  /** How much smaller the change would be without the group. */
  contribution: number
  /** The probability that chance produces a contribution this large, corrected for the number of groups. */
  q: number
}

/** A group with fewer values than this in both periods together explains nothing. */
const fewest = 30

const minus = (a: GroupTotals, b: GroupTotals): GroupTotals => ({
  count: a.count - b.count,
  sum: a.sum - b.sum,
  squares: a.squares - b.squares,
})

const meanOf = ({ count, sum }: GroupTotals): number => sum / count

/** Returns the variance of the mean. For a rate, it never gets close to 0, even with few values. */
const errorOf = (kind: DriverKind, { count, sum, squares }: GroupTotals): number => {
  if (kind === 'share') {
    const rate = (sum + 1) / (count + 2)
    return (rate * (1 - rate)) / count
  }
  if (count < 2) return Number.POSITIVE_INFINITY
  return Math.max(0, squares - (sum * sum) / count) / (count - 1) / count
}

type Effect = { contribution: number; z: number }

/**
 * Returns a group's influence on the mean of one period, w (m − r), with its variance. Here, w is the group's share, m
 * is its mean, and r is the mean of all others. The share is also subject to chance.
 */
const pullOf = (kind: DriverKind, group: GroupTotals, all: GroupTotals) => {
  if (group.count === 0) return { pull: 0, variance: 0 }
  const rest = minus(all, group)
  const share = group.count / all.count
  const distance = meanOf(group) - meanOf(rest)
  const ofMeans = share ** 2 * (errorOf(kind, group) + errorOf(kind, rest))
  const ofShare = ((share * (1 - share)) / all.count) * distance ** 2
  return { pull: share * distance, variance: ofMeans + ofShare }
}

/**
 * Returns a group's effect on a mean. The change in the overall mean is the change in the mean of the others plus the
 * change in the group's influence.
 */
const effectOnMean = (kind: DriverKind, { before, now }: Candidate<unknown>, all: Candidate<unknown>): Effect => {
  const [earlier, current] = [pullOf(kind, before, all.before), pullOf(kind, now, all.now)]
  const contribution = current.pull - earlier.pull
  const variance = earlier.variance + current.variance
  return { contribution, z: variance > 0 ? contribution / Math.sqrt(variance) : 0 }
}

/** Returns a group's effect on a count, which is its share of all changes. */
const effectOnCount = ({ before, now }: Candidate<unknown>, all: Candidate<unknown>): Effect => {
  const [earlier, current] = [before.count / all.before.count, now.count / all.now.count]
  const both = (before.count + now.count) / (all.before.count + all.now.count)
  const variance = both * (1 - both) * (1 / all.before.count + 1 / all.now.count)
  const z = variance > 0 ? (current - earlier) / Math.sqrt(variance) : 0
  return { contribution: now.count - before.count, z }
}

/**
 * Returns whether random variation is approximately normal. For a rate, this requires that both the group and the
 * others have several affected values and several that are not.
 */
const isKnown = (kind: DriverKind, group: Candidate<unknown>, all: Candidate<unknown>): boolean => {
  const count = group.before.count + group.now.count
  const total = all.before.count + all.now.count
  if (count < fewest || total - count < fewest) return false
  const isMeasured = [minus(all.before, group.before), minus(all.now, group.now)].every((rest) => rest.count >= fewest)
  if (kind !== 'share') return isMeasured
  const rate = (all.before.sum + all.now.sum) / total
  return isMeasured && count * Math.min(rate, 1 - rate) >= 5
}

/**
 * Corrects p-values for their number. At most a share alpha of the claims at level alpha is false, no matter how the
 * groups depend on each other (Benjamini and Yekutieli 2001). For example, an agent's conversations are also those of
 * its company.
 */
const corrected = (ps: number[]): number[] => {
  const sorted = ps.map((p, at) => ({ p, at })).toSorted((a, b) => a.p - b.p)
  const harmonic = ps.reduce((sum, _, at) => sum + 1 / (at + 1), 0)
  const qs = ps.map(() => 1)
  let smallest = 1
  for (let rank = sorted.length; rank > 0; rank--) {
    const { p, at } = sorted[rank - 1] as { p: number; at: number }
    smallest = Math.min(smallest, (p * ps.length * harmonic) / rank)
    qs[at] = smallest
  }
  return qs
}

/**
 * Returns the groups that explain a change, clearest first. `all` has the totals of all values, and each dimension
 * splits them differently. A group that changes like all others explains nothing.
 */
export const findDrivers = <K>(
  kind: DriverKind,
  all: { before: GroupTotals; now: GroupTotals },
  dimensions: Dimension<K>[],
  falseShare = 0.05,
): Driver<K>[] => {
  if (all.before.count === 0 || all.now.count === 0) return []
  const whole = { key: undefined, ...all }
  const candidates = dimensions
    .flatMap(({ groups }) => groups)
    .filter((group) => isKnown(kind, group, whole))
    .map((group) => ({
      key: group.key,
      ...(kind === 'count' ? effectOnCount(group, whole) : effectOnMean(kind, group, whole)),
    }))
  const move = kind === 'count' ? all.now.count - all.before.count : meanOf(all.now) - meanOf(all.before)
  const qs = corrected(candidates.map(({ z }) => normalTwoSided(z)))
  return (
    candidates
      .map(({ key, contribution, z }, at) => ({ key, contribution, z, q: qs[at] ?? 1 }))
      // Relative to the driver, the other group can change just as clearly, but in the opposite direction.
      .filter(({ q, contribution }) => q <= falseShare && contribution * move > 0)
      .toSorted((a, b) => Math.abs(b.z) - Math.abs(a.z))
      .map(({ key, contribution, q }) => ({ key, contribution, q }))
  )
}
