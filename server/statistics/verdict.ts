// What the numbers say, in words. It informs and never tells anyone what to do.

import type { AnytimeDifference } from './anytime.ts'
import type { Arms } from './arm.ts'
import type { Concurrency } from './concurrency.ts'
import type { Design } from './design.ts'
import type { Interval } from './interval.ts'
import type { WorstCase } from './missingness.ts'
import type { Routing } from './routing.ts'
import type { SampleRatio } from './sample-ratio.ts'

export type Concern = 'mismatch' | 'arms_not_concurrent' | 'routed_per_conversation'

export type Verdict = {
  verdict: 'not_trustworthy' | 'too_early' | 'no_difference_shown' | 'b_higher' | 'b_lower'
  concerns: Concern[]
  text: string
}

const reasons: Record<Concern, string> = {
  mismatch: 'the arms do not get the shares of units that are expected',
  arms_not_concurrent: 'the arms did not run at the same times',
  routed_per_conversation: 'callers who return change between the arms as if by chance',
}

/** What makes all outcomes of an experiment untrustworthy. */
export const concernsOf = (health: {
  sampleRatio: Pick<SampleRatio, 'status'>
  concurrency: Pick<Concurrency, 'status'>
  routing: Pick<Routing, 'status'>
}): Concern[] => {
  const concerns: Concern[] = []
  if (health.sampleRatio.status === 'mismatch') concerns.push('mismatch')
  if (health.concurrency.status === 'arms_not_concurrent') concerns.push('arms_not_concurrent')
  if (health.routing.status === 'routed_per_conversation') concerns.push('routed_per_conversation')
  return concerns
}

export type Shown = {
  arms: Arms
  anytime: Pick<AnytimeDifference, 'interval' | 'reason'>
  worstCase: Pick<WorstCase, 'signSurvives'> | null
  concerns: readonly Concern[]
  /** Which way the monitor declares to be better. */
  better: 'higher' | 'lower' | null
  finished: boolean
}

export const verdictOf = (shown: Shown, design: Design): Verdict => {
  const { verdict, text } = finding(shown, design)
  const state = shown.finished
    ? 'An operator has finished the experiment.'
    : 'The experiment continues until an operator finishes it.'
  return { verdict, concerns: [...shown.concerns], text: `${text} ${state}` }
}

const finding = (shown: Shown, design: Design): Pick<Verdict, 'verdict' | 'text'> => {
  const { arms, anytime, concerns } = shown
  if (concerns.length > 0) {
    const why = concerns.map((concern) => reasons[concern]).join('; ')
    return { verdict: 'not_trustworthy', text: `The measured difference may not come from the prompt: ${why}.` }
  }
  if (arms.a.units < 2 || arms.b.units < 2) {
    return { verdict: 'too_early', text: 'It is too early to say: each arm needs observations of at least two units.' }
  }
  const { interval } = anytime
  if (!interval) {
    const why =
      anytime.reason === 'zero_variance' ? 'all scores of an arm are the same' : 'there are too few observations'
    return { verdict: 'too_early', text: `It is too early to say: ${why}, so there is no interval yet.` }
  }
  if (interval.low <= 0 && interval.high >= 0) {
    const [low, high] = [inPoints(interval.low, design), inPoints(interval.high, design)]
    const unit = design.kind === 'boolean' ? ' points' : ''
    return {
      verdict: 'no_difference_shown',
      text: `Data are compatible with B between ${low} and ${high}${unit} relative to A.`,
    }
  }
  return difference(interval, shown, design)
}

const difference = (interval: Interval, { worstCase, better }: Shown, design: Design) => {
  const higher = interval.low > 0
  const [least, most] = [interval.low, interval.high].map(Math.abs).sort((one, other) => one - other)
  const by = `by ${inPoints(least ?? 0, design)} to ${inPoints(most ?? 0, design)}`
  const found =
    design.kind === 'boolean'
      ? `B is affected ${higher ? 'more' : 'less'} often than A ${by} points`
      : `B scores ${higher ? 'higher' : 'lower'} than A ${by}`
  const judged = better === null ? '' : `, which is ${(better === 'higher') === higher ? 'better' : 'worse'}`
  const level = `this holds at any look at the ${decimal(100 * (1 - design.alpha))}% level`
  const worst = worstCase?.signSurvives
    ? `, and B is measured ${higher ? 'higher' : 'lower'} even if all unobserved were against it`
    : ''
  return {
    verdict: higher ? ('b_higher' as const) : ('b_lower' as const),
    text: `${found}${judged}; ${level}${worst}.`,
  }
}

const decimals = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3, useGrouping: false })

const decimal = (value: number) => decimals.format(value)

/** Rates as percentages, so that their differences are points. */
const inPoints = (value: number, { kind }: Design) => decimal(kind === 'boolean' ? 100 * value : value)
