// Finds the monitors that have changed since the earlier period, in the order in which they need attention.

import type { Group } from '../boards/queries.ts'

/** With fewer conversations than this, any rate is possible. */
const fewest = 20
/** The maximum share of marked changes that are due to chance. */
const falseShare = 0.05

type Figure = Pick<Group, 'n' | 'value'>

/**
 * Returns the z-score for two rates: about −2 to 2 if they could be the same, and undefined if there is too little
 * data.
 */
export const zOf = (now: Figure, before: Figure | undefined): number | undefined => {
  if (!before || now.n < fewest || before.n < fewest || now.value === null || before.value === null) return undefined
  const both = (now.value * now.n + before.value * before.n) / (now.n + before.n)
  const spread = Math.sqrt(both * (1 - both) * (1 / now.n + 1 / before.n))
  return spread === 0 ? 0 : (now.value - before.value) / spread
}

/** Returns the probability of a z-score at least this far from 0, after Abramowitz and Stegun, 26.2.17. */
const chanceOf = (z: number): number => {
  const t = 1 / (1 + 0.2316419 * Math.abs(z))
  const terms = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429]
  const sum = terms.reduceRight((rest, term) => (rest + term) * t, 0)
  return Math.min(1, 2 * (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * sum)
}

/** Returns which z-scores are not due to chance. Benjamini and Hochberg's method controls the share of false ones. */
export const marksOf = (scores: (number | undefined)[]): boolean[] => {
  const chances = scores.flatMap((z) => (z === undefined ? [] : [chanceOf(z)])).toSorted((a, b) => a - b)
  const last = chances.findLastIndex((chance, at) => chance <= (falseShare * (at + 1)) / chances.length)
  const most = chances[last] ?? -1
  return scores.map((z) => z !== undefined && chanceOf(z) <= most)
}

export type Change = { z: number | undefined; isMarked: boolean }

/** Describes a change. Returns null if there is nothing to describe. */
export const changeWords = (now: Figure, before: Figure | undefined, { z = 0, isMarked }: Change): string | null => {
  if (now.n === 0 && before && before.n > 0) return 'Nothing scored'
  if (!isMarked) return null
  return z > 0 ? 'Higher than before' : 'Lower than before'
}

type Ranked = Change & { now: Figure; isSpike: boolean }

/** Sorts spikes first, then marked changes, then other changes by size. Monitors without results come last. */
export const byAttention = (a: Ranked, b: Ranked): number =>
  Number(b.isSpike) - Number(a.isSpike) ||
  Number(b.isMarked) - Number(a.isMarked) ||
  Math.abs(b.z ?? 0) - Math.abs(a.z ?? 0) ||
  Number(b.now.n > 0) - Number(a.now.n > 0)
