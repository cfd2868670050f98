// Stores the results of each count for the timeline. Each count is an interim analysis. Extreme values are kept
// permanently.

import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { anytimeDifference } from '../../statistics/anytime.ts'
import { estimateArms } from '../../statistics/arm.ts'
import type { Design } from '../../statistics/design.ts'
import { healthOf } from '../health.ts'
import { alarmRouting } from '../notices.ts'
import type { StoredExperiment, StoredOutcome, StoredPoint } from '../queries.ts'
import { type ExactOutcome, outcomeSums } from './exact-sums.ts'
import { listSplits, type OutcomeChange } from './queries.ts'

type LookDeps = Pick<Deps, 'jobs' | 'config' | 'clock' | 'baseUrl' | 'reactions'>

type Counted = {
  experiment: StoredExperiment
  outcomes: StoredOutcome[]
  sums: ExactOutcome[]
  /** The positions of outcomes with changed sums. */
  changed: Set<number>
  now: Date
}

export const designOf = (
  { alpha, tuningConversations }: Pick<StoredExperiment, 'alpha' | 'tuningConversations'>,
  { kind, range }: Pick<StoredOutcome, 'kind' | 'range'>,
): Design => ({ kind, range, alpha, tuningConversations })

/** Above this number, points are removed from the timeline. */
const mostPoints = 200

const growth = 1.1
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)

/**
 * Returns whether to store a point: the first one of a day, or one with ten percent more observations than the last.
 */
const isWorthKeeping = (last: StoredPoint | undefined, point: StoredPoint): boolean => {
  if (!last) return point[1] + point[2] > 0
  return dayOf(last[0]) !== dayOf(point[0]) || point[1] + point[2] >= Math.max(1, last[1] + last[2]) * growth
}

/** Removes every second point if there are too many. The first one stays. */
const thin = (points: StoredPoint[]): StoredPoint[] =>
  points.length <= mostPoints ? points : points.filter((_, at) => at % 2 === 0 || at === points.length - 1)

export const pointOf = (sums: ExactOutcome, design: Design, { at, splitP }: { at: Date; splitP: number | null }) => {
  const arms = estimateArms(outcomeSums(sums, design.kind).observed, design.kind)
  const difference = anytimeDifference(arms, design)
  const { interval, p } = difference
  const point: StoredPoint = [
    at.getTime(),
    arms.a.observed,
    arms.b.observed,
    arms.a.mean,
    arms.b.mean,
    arms.difference,
    interval?.low ?? null,
    interval?.high ?? null,
    p,
    splitP,
  ]
  return { point, difference }
}

/** Returns the values that this analysis adds to the changed sums. */
export const analyzeInterim = async (deps: LookDeps, trx: Db, org: OrgId, counted: Counted) => {
  const { experiment, outcomes, sums, changed, now } = counted
  const health = healthOf(experiment, await listSplits(trx, org, experiment.id), now)
  const leastSplitP = Math.min(experiment.leastSplitP, health.sampleRatio.p)
  const splitP = health.sampleRatio.expectedA === null ? null : leastSplitP
  const changes = outcomes.flatMap((outcome, index): (Omit<OutcomeChange, 'sums'> & { sums: ExactOutcome })[] => {
    const ofOutcome = sums[index]
    if (!ofOutcome || !changed.has(index)) return []
    const { point, difference } = pointOf(ofOutcome, designOf(experiment, outcome), { at: now, splitP })
    const { timeline, firstExcludedZeroAt } = outcome
    const excludesZero = difference.interval && (difference.interval.low > 0 || difference.interval.high < 0)
    return [
      {
        position: outcome.position,
        sums: ofOutcome,
        largestEValue: Math.max(outcome.largestEValue, difference.eValue),
        leastP: Math.min(outcome.leastP, difference.p),
        firstExcludedZeroAt: firstExcludedZeroAt ?? (excludesZero ? now : null),
        timeline: isWorthKeeping(timeline.at(-1), point) ? thin([...timeline, point]) : undefined,
      },
    ]
  })
  const isAlarming = health.concerns.length > 0 || health.routing.status === 'unstable_routing'
  const alarms = isAlarming && experiment.alarmedAt === null && experiment.status === 'running'
  if (alarms) await alarmRouting(deps, trx, org, experiment, health)
  return { outcomes: changes, experiment: { leastSplitP, alarmedAt: alarms ? now : experiment.alarmedAt } }
}
