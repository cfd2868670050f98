// Describes the result of an outcome in words. Never recommends what to do.

import type { AnytimeDifference } from './anytime.ts'
import type { ArmEstimates } from './arm.ts'
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
  mismatch: 'the traffic split differs from the expected one',
  arms_not_concurrent: 'the arms did not run at the same time',
  routed_per_conversation: 'returning callers get a random variant each time',
}

/** Returns the reasons why all outcomes of an experiment are untrustworthy. */
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

type Measure = 'result' | 'category' | 'field'

export type Shown = {
  arms: ArmEstimates
  anytime: Pick<AnytimeDifference, 'interval' | 'reason'>
  worstCase: Pick<WorstCase, 'signSurvives'> | null
  concerns: readonly Concern[]
  /** The direction that the monitor defines as better. */
  better: 'higher' | 'lower' | null
  finished: boolean
  /** The category or field of the monitor that is measured. By default, the result itself is measured. */
  measure?: Measure
}

export const verdictOf = (shown: Shown, design: Design): Verdict => {
  const { verdict, text } = finding(shown, design)
  const state = shown.finished ? 'The experiment is finished.' : 'The experiment runs until an admin finishes it.'
  return { verdict, concerns: [...shown.concerns], text: `${text} ${state}` }
}

const finding = (shown: Shown, design: Design): Pick<Verdict, 'verdict' | 'text'> => {
  const { arms, anytime, concerns } = shown
  if (concerns.length > 0) {
    const why = concerns.map((concern) => reasons[concern]).join('; ')
    return { verdict: 'not_trustworthy', text: `The difference may not be caused by the prompt: ${why}.` }
  }
  if (arms.a.units < 2 || arms.b.units < 2) {
    return { verdict: 'too_early', text: 'Too early to tell: each arm needs observations of at least two units.' }
  }
  const { interval } = anytime
  if (!interval) {
    const why =
      anytime.reason === 'zero_variance' ? 'all values of an arm are the same' : 'there are too few observations'
    return { verdict: 'too_early', text: `Too early to tell: ${why}, so there is no interval yet.` }
  }
  if (interval.low <= 0 && interval.high >= 0) {
    const [low, high] = [inPoints(Math.abs(interval.low), design), inPoints(interval.high, design)]
    const unit = design.kind === 'boolean' ? ' points' : ''
    return {
      verdict: 'no_difference_shown',
      text: `No clear difference yet. B could be ${low}${unit} lower to ${high}${unit} higher than A.`,
    }
  }
  return difference(interval, shown, design)
}

/** The event that is counted and compared, by the kind of measure. */
const shares: Record<Measure, string> = {
  result: 'B is affected',
  category: 'B has this category',
  field: 'This field is true in B',
}

/** Describes the difference between B and A. */
const effectOf = (by: string, higher: boolean, measure: Measure, { kind }: Design): string => {
  if (kind === 'boolean') {
    const than = measure === 'field' ? 'in A' : 'A'
    return `${shares[measure]} ${by} points ${higher ? 'more' : 'less'} often than ${than}`
  }
  const direction = higher ? 'higher' : 'lower'
  return measure === 'result'
    ? `B scores ${by} ${direction} than A`
    : `The mean of B is ${by} ${direction} than that of A`
}

const difference = (interval: Interval, { worstCase, better, measure = 'result' }: Shown, design: Design) => {
  const higher = interval.low > 0
  const [least, most] = [interval.low, interval.high].map(Math.abs).sort((one, other) => one - other)
  const by = `${inPoints(least ?? 0, design)} to ${inPoints(most ?? 0, design)}`
  const effect = effectOf(by, higher, measure, design)
  const judged = better === null ? '' : `, which is ${(better === 'higher') === higher ? 'better' : 'worse'}`
  const level = `This ${decimal(100 * (1 - design.alpha))}% interval is valid at any time.`
  const worst = worstCase?.signSurvives
    ? ` B would still be ${higher ? 'higher' : 'lower'} if all missing results went against it.`
    : ''
  return {
    verdict: higher ? ('b_higher' as const) : ('b_lower' as const),
    text: `${effect}${judged}. ${level}${worst}`,
  }
}

const decimals = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3, useGrouping: false })

const decimal = (value: number) => decimals.format(value)

/** Shows rates as percentages, so that their differences are in percentage points. */
const inPoints = (value: number, { kind }: Design) => decimal(kind === 'boolean' ? 100 * value : value)
