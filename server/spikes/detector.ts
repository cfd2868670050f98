// Detects, hour by hour, whether and when a monitor's rate has risen. All functions are pure.
// docs/decisions/0012-spikes.md explains the method and its measured error rates.

import { share } from '../statistics/agreement.ts'
import {
  addGroup,
  addSpreads,
  correlation,
  emptySpread,
  type Group,
  independent,
  type SpikeCounts,
  type Spread,
  scaleSpread,
} from './spread.ts'

/** The scored results of calls that started in one hour, which has at least one. Hours are counted from 1970 in UTC. */
export type Hour = SpikeCounts & { hour: number }

/** The counts for ordinary hours, which form the baseline. */
type Tally = SpikeCounts & {
  /** The effective number of calls, which is lower if days differ. */
  independentCalls: number
  hours: Spread
  thirds: Spread
  days: Spread
}

/** The evidence for one size of increase. Each factor has its own evidence. */
type Suspicion = {
  /** The logarithm of an e-value for the days before the current day. */
  evidence: number
  /** The counts for the current day. */
  today: SpikeCounts
  /** The hour in which the increase started, or null if there is none. */
  since: number | null
}

export type Detector = {
  /** The version of the format. States with another version are not used. */
  form: number
  firstHour: number | null
  lastHour: number | null
  baseline: Tally
  /** Suspicious hours. If the suspicion ends, they join the baseline. */
  pending: Tally
  /** The counts for the current third of a day, and for the current day so far. */
  third: Group
  day: Group
  /** One suspicion for each factor in `rises`, in the same order. */
  suspicions: Suspicion[]
  /** Set while the rate is elevated. */
  spike: { since: number } | null
}

/** The sizes of increases to detect, as factors of the odds. */
const rises = [1.5, 2, 4, 8]

/**
 * The alarm threshold. If the rate does not change, the evidence reaches it at most once in twenty years, counted in
 * hours.
 */
const alarm = Math.log(20 * 365 * 24)
/** Below this threshold, the rate is no longer elevated. */
const calm = alarm / 2

const learningHours = 7 * 24
const learningCalls = 100

/** The half-life of the baseline, in days with calls. It keeps at least `leastKept` calls of the rarer kind. */
const halfLifeDays = 28
const leastKept = 200

/** The minimum standard deviation of log odds, because no two hours or days are equal. */
const leastSpread = 0.05

const emptyTally: Tally = {
  affected: 0,
  calls: 0,
  independentCalls: 0,
  hours: emptySpread,
  thirds: emptySpread,
  days: emptySpread,
}

const emptyGroup: Group = { affected: 0, calls: 0, squares: 0 }

const unsuspected: Suspicion = { evidence: 0, today: { affected: 0, calls: 0 }, since: null }

export const newDetector: Detector = {
  form: 1,
  firstHour: null,
  lastHour: null,
  baseline: emptyTally,
  pending: emptyTally,
  third: emptyGroup,
  day: emptyGroup,
  suspicions: rises.map(() => unsuspected),
  spike: null,
}

const addTallies = (a: Tally, b: Tally): Tally => ({
  affected: a.affected + b.affected,
  calls: a.calls + b.calls,
  independentCalls: a.independentCalls + b.independentCalls,
  hours: addSpreads(a.hours, b.hours),
  thirds: addSpreads(a.thirds, b.thirds),
  days: addSpreads(a.days, b.days),
})

const forgetDay = (tally: Tally): Tally => {
  if (Math.min(tally.affected, tally.calls - tally.affected) <= leastKept) return tally
  const factor = 0.5 ** (1 / halfLifeDays)
  return {
    affected: tally.affected * factor,
    calls: tally.calls * factor,
    independentCalls: tally.independentCalls * factor,
    hours: scaleSpread(tally.hours, factor),
    thirds: scaleSpread(tally.thirds, factor),
    days: scaleSpread(tally.days, factor),
  }
}

const addCounts = <T extends SpikeCounts>(counts: T, more: SpikeCounts): T => ({
  ...counts,
  affected: counts.affected + more.affected,
  calls: counts.calls + more.calls,
})

const worth = ({ affected, calls }: SpikeCounts, correlated: number): SpikeCounts => {
  const factor = calls === 0 ? 0 : independent(calls, correlated) / calls
  return { affected: affected * factor, calls: calls * factor }
}

/** Returns the expectations that result from the baseline. */
const modelOf = ({ affected, calls, independentCalls, hours, thirds, days }: Tally) => {
  const rate = (affected + 0.5) / (calls + 1)
  const least = leastSpread ** 2 * rate * (1 - rate)
  const known = Math.max(1, independentCalls)
  // If the baseline is uncertain, its upper limit is used.
  const expected = share(rate * known, known)?.high ?? rate
  return {
    hourly: Math.max(least, correlation(hours, rate)),
    // A daily pattern also appears as a spread between the thirds of a day.
    daily: Math.max(least, correlation(days, rate), correlation(thirds, rate)),
    /** The log evidence that a call adds for each size of increase. */
    rises: rises.map((times) => {
      // This form avoids dividing by 1 - expected, which can be 0.
      const notAffected = -Math.log1p(expected * (times - 1))
      return { affected: Math.log(times) + notAffected, notAffected }
    }),
  }
}

type Model = ReturnType<typeof modelOf>

const evidenceOf = ({ evidence, today }: Suspicion, rise: number, { rises, daily }: Model): number => {
  const said = rises[rise]
  if (!said) throw new Error('A suspicion must have a rise')
  const { affected, calls } = worth(today, daily)
  return evidence + affected * said.affected + (calls - affected) * said.notAffected
}

/** Returns the logarithm of the mean. The mean of e-values is also an e-value. */
const logMean = (logs: number[]): number => {
  const most = Math.max(...logs)
  return most + Math.log(logs.reduce((sum, log) => sum + Math.exp(log - most), 0) / logs.length)
}

/** Completes the third of the day, and the day, if they end before this hour. */
const turnTo = (detector: Detector, hour: number): Detector => {
  const { lastHour } = detector
  if (lastHour === null) return { ...detector, firstHour: hour, lastHour: hour }
  let { baseline, pending, third, day, suspicions } = detector
  if (Math.floor(hour / 8) !== Math.floor(lastHour / 8)) {
    if (third.calls > 0) pending = { ...pending, thirds: addGroup(pending.thirds, third) }
    third = emptyGroup
  }
  if (Math.floor(hour / 24) !== Math.floor(lastHour / 24)) {
    const model = modelOf(baseline)
    if (day.calls > 0) {
      const independentCalls = pending.independentCalls + independent(day.calls, model.daily)
      pending = { ...pending, independentCalls, days: addGroup(pending.days, day) }
    }
    day = emptyGroup
    suspicions = suspicions.map((suspicion, rise) => ({
      ...unsuspected,
      evidence: evidenceOf(suspicion, rise, model),
      since: suspicion.since,
    }))
    baseline = forgetDay(baseline)
  }
  return { ...detector, lastHour: hour, baseline, pending, third, day, suspicions }
}

const isReady = ({ firstHour, baseline }: Detector, hour: number): boolean =>
  firstHour !== null && hour - firstHour >= learningHours && baseline.calls >= learningCalls

/** Returns the detector after the end of a spike. The hours of the spike do not become part of the baseline. */
export const withoutSpike = (detector: Detector): Detector => ({
  ...detector,
  pending: emptyTally,
  third: emptyGroup,
  day: emptyGroup,
  suspicions: newDetector.suspicions,
  spike: null,
})

/** Starts or ends a spike after an hour was added to the evidence. */
const judge = (detector: Detector, model: Model): Detector => {
  const evidence = detector.suspicions.map((suspicion, rise) => evidenceOf(suspicion, rise, model))
  const total = logMean(evidence)
  if (detector.spike && total < calm) return withoutSpike(detector)
  if (total >= alarm) {
    const strongest = detector.suspicions[evidence.indexOf(Math.max(...evidence))]
    // The evidence is capped, so that the end of a spike is detected as quickly as its start.
    const beyond = total - alarm
    const suspicions = detector.suspicions.map((one) => ({ ...one, evidence: one.evidence - beyond }))
    const spike = detector.spike ?? { since: strongest?.since ?? detector.lastHour ?? 0 }
    return { ...detector, suspicions, spike }
  }
  if (detector.spike) return detector
  const suspicions = detector.suspicions.map((one, rise) => ((evidence[rise] ?? 0) > 0 ? one : unsuspected))
  return { ...detector, suspicions }
}

/** Counts the next hour with calls. Hours must be counted in order, each once. */
export const observe = (before: Detector, { hour, ...counts }: Hour): Detector => {
  const turned = turnTo(before, hour)
  const model = modelOf(turned.baseline)
  const ready = isReady(turned, hour)
  const worthOfHour = worth(counts, model.hourly)
  const part: Group = { ...worthOfHour, squares: worthOfHour.calls ** 2 }
  const addPart = (group: Group): Group => ({ ...addCounts(group, part), squares: group.squares + part.squares })
  const hours = addGroup(turned.pending.hours, { ...counts, squares: counts.calls })
  const counted: Detector = {
    ...turned,
    pending: { ...addCounts(turned.pending, counts), hours },
    third: addPart(turned.third),
    day: addPart(turned.day),
    suspicions: ready
      ? turned.suspicions.map(({ evidence, today, since }) => ({
          evidence,
          today: addCounts(today, worthOfHour),
          since: since ?? hour,
        }))
      : turned.suspicions,
  }
  const judged = ready ? judge(counted, model) : counted
  if (judged.suspicions.some(({ since }) => since !== null)) return judged
  return { ...judged, baseline: addTallies(judged.baseline, judged.pending), pending: emptyTally }
}
