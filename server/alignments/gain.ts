// Decides which proposals are demonstrably better than the current version. Several proposals are tested on the same
// conversations, so the claims are corrected: the chance of any false claim is at most 5%.

import { holm } from '../statistics/families.ts'
import type { Interval } from '../statistics/interval.ts'
import { exactMcNemar, type Pairs, pairedInterval } from '../statistics/paired.ts'
import { type CaseResult, isRight } from './measure.ts'
import type { Verdict } from './truth.ts'

const alpha = 0.05

/** A conversation in the test half, with the results of the current version and a proposal. */
export type Pair = { conversationId: string; truth: Verdict; before: CaseResult; after: CaseResult }

/**
 * The number of conversations that only the proposal gets right, and the number that only the current version gets
 * right.
 */
export type Flips = { fixed: string[]; broken: string[] }

export const flipsOf = (pairs: readonly Pair[]): Flips => {
  const flips: Flips = { fixed: [], broken: [] }
  for (const { conversationId, truth, before, after } of pairs) {
    const [was, is] = [isRight({ truth, result: before }), isRight({ truth, result: after })]
    if (is && !was) flips.fixed.push(conversationId)
    if (was && !is) flips.broken.push(conversationId)
  }
  return flips
}

export type Gain = {
  value: number
  /** The interval is valid for all proposals at once. */
  interval: Interval
  /** Corrected for the number of proposals. */
  p: number
  isShown: boolean
}

/**
 * Returns each proposal's gain in agreement. A gain counts as shown if both the interval and the exact test with Holm's
 * correction confirm it. Intervals are wider if there are more proposals, so that all of them are valid at once.
 */
export const gainsOf = (proposals: readonly Pairs[]): Gain[] => {
  const ps = holm(proposals.map(exactMcNemar))
  return proposals.map((pairs, at) => {
    const { fixed, broken, all } = pairs
    const interval = pairedInterval(pairs, alpha / proposals.length)
    const p = ps[at] ?? 1
    const value = all === 0 ? 0 : (fixed - broken) / all
    return { value, interval, p, isShown: p <= alpha && interval.low > 0 }
  })
}
