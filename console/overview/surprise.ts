// Calculates how unusual yesterday's rate of a monitor is.

import { rateOf, type Totals, totalsOf } from '../monitors/figures.ts'
import type { Trend } from '../monitors/queries.ts'

export type Surprise = {
  yesterday: Totals
  usual: Totals
  /** A z-score. It is about −2 to 2 if both rates could be the same, and 0 if there is too little data to compare. */
  z: number
}

/** With fewer conversations than this, any rate is possible. */
const fewest = 20

export const surpriseOf = ({ data }: Trend): Surprise => {
  const yesterday = totalsOf(data.slice(-2, -1))
  const usual = totalsOf(data.slice(0, -2))
  const [now, before] = [rateOf(yesterday), rateOf(usual)]
  const both = (yesterday.affected + usual.affected) / (now.n + before.n)
  const spread = Math.sqrt(both * (1 - both) * (1 / now.n + 1 / before.n))
  const isTold = now.n >= fewest && before.n >= fewest && spread > 0
  const z = isTold && now.rate !== null && before.rate !== null ? (now.rate - before.rate) / spread : 0
  return { yesterday, usual, z }
}

const notable = 3

/** Describes a surprise in words. Returns null if the rate is as usual. */
export const wordOf = ({ yesterday, usual, z }: Surprise): string | null => {
  if (rateOf(yesterday).n === 0 && rateOf(usual).n > 0) return 'Nothing scored yesterday'
  if (Math.abs(z) < notable) return null
  return z > 0 ? 'Higher than usual' : 'Lower than usual'
}

const isUnusual = (surprise: Surprise) => wordOf(surprise) !== null
const isScored = ({ yesterday, usual }: Surprise) => rateOf(yesterday).n + rateOf(usual).n > 0

/** Sorts monitors so that the most unusual come first, and those without scored results last. */
export const bySurprise = (a: Surprise, b: Surprise): number =>
  Number(isUnusual(b)) - Number(isUnusual(a)) ||
  Math.abs(b.z) - Math.abs(a.z) ||
  Number(isScored(b)) - Number(isScored(a))
