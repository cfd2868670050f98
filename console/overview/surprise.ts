// How far yesterday is from what a monitor usually finds.

import { rateOf, type Totals, totalsOf } from '../monitors/figures.ts'
import type { Trend } from '../monitors/queries.ts'

export type Surprise = {
  yesterday: Totals
  usual: Totals
  /** Where both could be of one rate it is within about two of zero; 0 where there is too little to compare. */
  z: number
}

/** Of fewer calls than these a rate may be anything. */
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

/** How many were scored. */
const scoredOf = ({ yesterday, usual }: Surprise) =>
  [yesterday.affected + yesterday.notAffected, usual.affected + usual.notAffected] as const

/** Null where it is as usual. */
export const wordOf = (surprise: Surprise): string | null => {
  const { z } = surprise
  const [now, before] = scoredOf(surprise)
  if (now === 0 && before > 0) return 'nothing scored yesterday'
  if (Math.abs(z) < notable) return null
  return z > 0 ? 'more than usual' : 'less than usual'
}

const ranksOf = (surprise: Surprise): number[] => {
  const [now, before] = scoredOf(surprise)
  return [Number(wordOf(surprise) !== null), Math.abs(surprise.z), Number(now + before > 0)]
}

/** What is worth a look first, and what has found nothing yet last. */
export const bySurprise = (a: Surprise, b: Surprise): number => {
  const [left, right] = [ranksOf(a), ranksOf(b)]
  return right.map((rank, at) => rank - (left[at] ?? 0)).find((difference) => difference !== 0) ?? 0
}
