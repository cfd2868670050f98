// Generates the conversations of simulated experiments.

import type { Design } from '../../server/statistics/design.ts'
import type { Arm } from '../../server/statistics/sums.ts'
import type { ReplayedObservation } from '../../test/support/experiments/replay.ts'
import { normal, type UniformRandom } from '../../test/support/spikes/random-hours.ts'

export const designOf = (kind: Design['kind'], range: Design['range'] = null): Design => ({
  kind,
  alpha: 0.05,
  tuningConversations: 1000,
  range,
})

/** An endless sequence of conversations. */
export type Conversations = Iterable<ReplayedObservation>

/** Generates callers who call once. */
export const strangers = function* (
  random: UniformRandom,
  shareOfA: number,
  valueIn: (arm: Arm) => number,
): Generator<ReplayedObservation> {
  for (;;) {
    const arm = random() < shareOfA ? 'a' : 'b'
    yield { unit: null, arm, value: valueIn(arm) }
  }
}

export type Rates = Record<Arm, number>

export const affected = (random: UniformRandom, rate: number): number => (random() < rate ? 1 : 0)

export type Scores = 'normal' | 'from 1 to 5, skewed'

/** The cumulative shares of the scores 1 to 4. All others are a 5. */
const skewed = [0.05, 0.1, 0.2, 0.4]

export const score = (random: UniformRandom, scores: Scores): number => {
  if (scores === 'normal') return normal(random)
  const at = random()
  return 1 + skewed.filter((below) => at >= below).length
}

export type Callers = {
  /** The share of conversations that come from new callers. */
  newShare: number
  /** The correlation of two conversations of the same caller. */
  correlation: number
  /**
   * With `anyone`, each known caller is equally likely. With `often the same`, each earlier conversation is equally
   * likely to determine the caller, so a few callers call very often.
   */
  returning: 'anyone' | 'often the same'
  routed: 'by caller' | 'by conversation'
}

export const callers = function* (
  random: UniformRandom,
  { newShare, correlation, returning, routed }: Callers,
  shareOfA: number,
  rates: Rates,
): Generator<ReplayedObservation> {
  // Two conversations are equal if both have the caller's usual value.
  const asAlways = Math.sqrt(correlation)
  const drawArm = (): Arm => (random() < shareOfA ? 'a' : 'b')
  const known: { unit: string; arm: Arm; always: Rates }[] = []
  /** The caller of each earlier conversation. */
  const called: typeof known = []
  const draw = () => {
    const from = returning === 'anyone' ? known : called
    const again = random() < newShare ? undefined : from[Math.floor(random() * from.length)]
    if (again) return again
    const always = { a: affected(random, rates.a), b: affected(random, rates.b) }
    const caller = { unit: String(known.length), arm: drawArm(), always }
    known.push(caller)
    return caller
  }
  for (;;) {
    const caller = draw()
    called.push(caller)
    const arm = routed === 'by caller' ? caller.arm : drawArm()
    const value = random() < asAlways ? caller.always[arm] : affected(random, rates[arm])
    yield { unit: caller.unit, arm, value }
  }
}
