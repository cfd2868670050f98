// Checks how traffic was routed to the arms, which determines whether they can be compared.

import { dayMs } from '../platform/durations.ts'
import { concurrency, sameSplit } from '../statistics/concurrency.ts'
import { routing } from '../statistics/routing.ts'
import { type Split as ArmSplit, sampleRatio } from '../statistics/sample-ratio.ts'
import { concernsOf } from '../statistics/verdict.ts'
import type { DimensionSplit } from './observations/queries.ts'
import type { StoredExperiment } from './queries.ts'

const rateDays = 7
/**
 * The maximum number of values to show for a property. If there are more, those with the most conversations are shown.
 */
const mostShown = 50
/** The significance level is low because the test is repeated often. */
const differsBelow = 0.0001

const totalOf = (splits: ArmSplit[]): ArmSplit =>
  splits.reduce((sum, { a, b }) => ({ a: sum.a + a, b: sum.b + b }), { a: 0, b: 0 })

/** Tests whether a property is distributed equally across the arms. Combines rare values. */
const evenness = (splits: DimensionSplit[], all: ArmSplit) => {
  const large = splits.filter(({ a, b }) => a + b >= 20)
  const ofLarge = totalOf(large)
  const rare = { a: all.a - ofLarge.a, b: all.b - ofLarge.b }
  const buckets = rare.a + rare.b > 0 ? [...large, rare] : large
  const { p } = sameSplit(buckets)
  const values = [...splits].sort((one, other) => other.a + other.b - one.a - one.b).slice(0, mostShown)
  const ofShown = totalOf(values)
  return {
    status: buckets.length < 2 ? ('cannot_tell' as const) : p < differsBelow ? ('uneven' as const) : ('even' as const),
    p,
    values: values.map(({ value, a, b }) => ({ value: value === 'none' ? null : value, a, b })),
    others: { a: all.a - ofShown.a, b: all.b - ofShown.b },
  }
}

export const healthOf = (experiment: StoredExperiment, splits: DimensionSplit[], now: Date) => {
  const { expectedArmAPercent, alpha, leastSplitP, startedAt, finishedAt } = experiment
  const of = (dimension: string) => splits.filter((split) => split.dimension === dimension)
  const unitDays = of('unit-day')
  const units = totalOf(unitDays)
  const conversations = totalOf(of('day'))
  const expectedA = expectedArmAPercent === null ? null : expectedArmAPercent / 100
  const sizes = of('unit-size')
  const observedA = units.a + units.b === 0 ? 0.5 : units.a / (units.a + units.b)
  const health = {
    sampleRatio: sampleRatio(units, { expectedA, alpha, smallestP: leastSplitP }),
    concurrency: concurrency(unitDays),
    routing: routing(new Map(sizes.map(({ value, a }) => [Number(value), a])), {
      inBothArms: sizes.reduce((sum, { b }) => sum + b, 0),
      shareOfA: expectedA ?? observedA,
      alpha,
    }),
  }
  const end = finishedAt ?? now
  // The rate covers whole days, apart from the day of the start and the current or last day.
  const firstDay = Math.floor((end.getTime() - (rateDays - 1) * dayMs) / dayMs) * dayMs
  const since = new Date(Math.max(startedAt.getTime(), firstDay))
  const recent = totalOf(of('day').filter(({ value }) => value >= since.toISOString().slice(0, 10)))
  const days = Math.max(1, (end.getTime() - since.getTime()) / dayMs)
  return {
    ...health,
    concerns: concernsOf(health),
    conversations: { ...conversations, perDay: (recent.a + recent.b) / days },
    /** Conversations without a unit. Each one counts as its own unit. */
    withoutUnit: totalOf(of('alone')),
    byDay: of('day').map(({ value, a, b }) => ({ day: value, a, b })),
    byHour: evenness(of('hour'), conversations),
    byCompany: evenness(of('company'), conversations),
    byDirection: evenness(of('direction'), conversations),
    otherVersions: of('other-version')
      .map(({ value, a }) => ({ agentVersionId: value === 'none' ? null : value, conversations: a }))
      .sort((one, other) => other.conversations - one.conversations)
      .slice(0, mostShown),
  }
}

export type Health = ReturnType<typeof healthOf>
