// Returns an experiment: its launch, the current results of each outcome, and its health.

import { estimateArms } from '../statistics/arm.ts'
import { correctSecondaries } from '../statistics/families.ts'
import { differenceOf, outcomeResult } from '../statistics/outcome.ts'
import { verdictOf } from '../statistics/verdict.ts'
import { correctionOf } from './correction/correct.ts'
import type { Reviewed } from './correction/queries.ts'
import type { Health } from './health.ts'
import { measureName, shownMeasure } from './measures.ts'
import { outcomeSums, readOutcome } from './observations/exact-sums.ts'
import { designOf, pointOf } from './observations/interim-analysis.ts'
import type { StoredUnit } from './observations/queries.ts'
import type { StoredExperiment, StoredOutcome, StoredPoint } from './queries.ts'

const momentOf = ([at, observedA, observedB, meanA, meanB, difference, low, high, p, splitP]: StoredPoint) => ({
  at: new Date(at),
  observedA,
  observedB,
  meanA,
  meanB,
  difference,
  interval: low === null || high === null ? null : { low, high },
  p,
  splitP,
})

export const launchedOf = (experiment: StoredExperiment) => {
  const { emails, alpha: _, tuningConversations: __, leastSplitP: ___, alarmedAt: ____, ...shown } = experiment
  const { countedAt: _____, measures, ...launched } = shown
  return {
    ...launched,
    outcomeMeasures: measures.map(shownMeasure),
    stableRoutingConfirmed: true,
    notifications: { emails },
  }
}

const measureOf = ({ measure }: StoredOutcome) => ({
  kind: measure?.kind ?? ('result' as const),
  key: measure?.kind === 'category' ? measure.category : (measure?.field ?? null),
  label: measureName({ measure }) ?? null,
})

type Reading = {
  experiment: StoredExperiment
  outcomes: StoredOutcome[]
  health: Health
  /** People's judgments of fair samples, and the units they belong to. */
  reviews: Reviewed[]
  units: ReadonlyMap<string, StoredUnit>
}

export const outcomesOf = ({ experiment, outcomes, health, reviews, units }: Reading) => {
  const splitP = health.sampleRatio.expectedA === null ? null : health.sampleRatio.p
  const results = outcomes.map((outcome) => {
    const design = designOf(experiment, outcome)
    const exact = readOutcome(outcome.sums)
    const sums = outcomeSums(exact, outcome.kind)
    const result = outcomeResult(sums, design, { target: null, conversationsPerDay: health.conversations.perDay })
    const { point } = pointOf(exact, design, { at: experiment.countedAt, splitP })
    // People judge the monitor's result, not a category or field.
    const corrected =
      outcome.measure === null
        ? correctionOf({ reviews, units, sums: exact, position: outcome.position, design })
        : null
    return { outcome, design, result, point, corrected, arms: estimateArms(sums.observed, outcome.kind) }
  })
  const secondaries = results.filter(({ outcome }) => !outcome.isPrimary)
  const { size, corrected } = correctSecondaries(
    secondaries.map(({ result: { difference } }) => {
      const isKnown = difference.anytime.reason === null
      return {
        eValue: isKnown ? difference.anytime.eValue : null,
        p: isKnown ? difference.anytime.p : null,
        fixedP: difference.fixed.reason === null ? difference.fixed.p : null,
      }
    }),
  )
  return results.map(({ outcome, design, result, point, corrected: correctedByPeople, arms }) => {
    const at = secondaries.findIndex((one) => one.outcome === outcome)
    const { difference } = result
    const last = outcome.timeline.at(-1)
    const timeline = last && last[0] === point[0] ? outcome.timeline : [...outcome.timeline, point]
    return {
      metricId: outcome.monitorId,
      name: outcome.monitorName,
      monitorVersion: outcome.monitorVersion,
      primary: outcome.isPrimary,
      measure: measureOf(outcome),
      kind: outcome.kind,
      range: outcome.range,
      ...result,
      corrected: correctedByPeople,
      correction:
        at < 0
          ? null
          : {
              familySize: size,
              ...(corrected[at] ?? { p: null, q: null, fixedP: null, fixedQ: null }),
              simultaneous: size > 0 ? differenceOf(arms, design, design.alpha / size) : difference,
            },
      extremes: {
        eValue: Math.max(outcome.largestEValue, difference.anytime.eValue),
        p: Math.min(outcome.leastP, difference.anytime.p),
        firstExcludedZeroAt: outcome.firstExcludedZeroAt,
      },
      verdict: verdictOf(
        {
          arms,
          anytime: difference.anytime,
          worstCase: result.missingness.worstCase,
          concerns: health.concerns,
          better: null,
          finished: experiment.status === 'finished',
          measure: outcome.measure?.kind ?? 'result',
        },
        design,
      ),
      timeline: (point[1] + point[2] === 0 ? [] : timeline).map(momentOf),
    }
  })
}
