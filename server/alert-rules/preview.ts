import type { Db, OrgId } from '../platform/db/database.ts'
import { dayMs, minuteMs } from '../platform/durations.ts'
import { invalid } from '../platform/errors.ts'
import type { AlertCondition, ConditionOf } from './condition-schema.ts'
import {
  type AlertQuestion,
  decideMeasure,
  isMeasured,
  lastWholeWindow,
  type MeasureCondition,
  measureOf,
} from './conditions/read-condition.ts'
import { type Decision, decideChange, decideFieldChange, eachPeriod, nothingMeasured } from './measures/is-met.ts'
import { findGroupNames, sumMeasure, sumPairs, type WindowSums } from './measures/queries.ts'

// Calculates when a rule would have fired in the past, in consecutive windows.

export const previewDays = 90
const mostPeriods = 20_000
const mostIncidents = 200
const mostPoints = 500
/** The maximum product of groups and periods. More rows would take too much memory. */
const mostSteps = 500_000

type Incident = { key: string; openedAt: Date; resolvedAt: Date | null; value: number | null }

type Previewed = MeasureCondition | ConditionOf<'no_data'>

const isPreviewed = (condition: AlertCondition): condition is Previewed =>
  isMeasured(condition) || condition.kind === 'no_data'

/** Returns the length of the counted periods. For a rule about silence, a period is a quarter of its time. */
const stepMinutesOf = (condition: Previewed, windowMinutes: number): number => {
  if (condition.kind !== 'no_data') return windowMinutes
  return Math.max(1, Math.floor(condition.forMinutes / 4), Math.ceil((previewDays * 1_440) / mostPeriods))
}

const boundsOf = (until: Date, stepMinutes: number): Date[] => {
  const stepMs = stepMinutes * minuteMs
  const periods = Math.min(mostPeriods, Math.max(1, Math.floor((previewDays * dayMs) / stepMs)))
  return Array.from({ length: periods + 1 }, (_, index) => new Date(until.getTime() - (periods - index) * stepMs))
}

/** Returns the number of windows between a window and the one that it is compared with. */
const backOf = ({ comparedTo }: ConditionOf<'change'>, windowMinutes: number): number =>
  comparedTo === 'same_weekday' ? Math.max(1, Math.round(10_080 / windowMinutes)) : 1

const decide = (condition: Previewed, periods: WindowSums[], question: AlertQuestion, groups: number): Decision[] => {
  const { windowMinutes, minimumSample } = question
  switch (condition.kind) {
    case 'change': {
      const back = backOf(condition, windowMinutes)
      const about = { windowMinutes, groups, minimumSample }
      return periods.map((now, at) =>
        decideChange({ before: periods[at - back] ?? nothingMeasured, now }, condition, about),
      )
    }
    case 'no_data': {
      const needed = Math.max(1, Math.ceil(condition.forMinutes / stepMinutesOf(condition, windowMinutes)))
      let empty: number | undefined
      return periods.map(({ count }) => {
        if (count > 0) empty = 0
        // Nothing is missing before the first conversation.
        else if (empty !== undefined) empty++
        const isMet = empty !== undefined && empty >= needed
        return { verdict: isMet ? 'met' : 'clear', value: count, interval: null, sample: count }
      })
    }
    default:
      return periods.map((sums) => decideMeasure(condition, sums, minimumSample))
  }
}

/** Opens and resolves incidents as checks do. An incident stays open for a day without enough data. */
const replay = (key: string, decisions: Decision[], bounds: Date[]): Incident[] => {
  const incidents: Incident[] = []
  let open: (Incident & { metAt: Date }) | undefined
  decisions.forEach(({ verdict, value }, index) => {
    const at = bounds[index + 1] as Date
    if (verdict === 'met') {
      open ??= { key, openedAt: at, resolvedAt: null, value, metAt: at }
      open.metAt = at
      return
    }
    if (!open || (verdict === 'unknown' && at.getTime() - open.metAt.getTime() < dayMs)) return
    incidents.push({ key, openedAt: open.openedAt, resolvedAt: at, value: open.value })
    open = undefined
  })
  if (open) incidents.push({ key, openedAt: open.openedAt, resolvedAt: null, value: open.value })
  return incidents
}

/** Reduces the points to the number that a chart can show. */
const thin = <T>(points: T[]): T[] => {
  const every = Math.ceil(points.length / mostPoints)
  return points.filter((_, index) => index % every === every - 1 || every === 1)
}

type GroupPreview = { key: string; total: number; decisions: Decision[] }

const tooMany = () =>
  invalid('groupBy', 'has too many groups for windows this short; choose a longer window or a filter')

/** Groups rows by key. Without groups, returns a single group, even if nothing was measured. */
const byGroupOf = <Row extends { key: string }>(rows: Row[], groupBy: string | null, periods: number) => {
  const byGroup = Map.groupBy(rows, ({ key }) => key)
  if (byGroup.size * (periods + 1) > mostSteps || rows.length === mostSteps) throw tooMany()
  if (groupBy === null && byGroup.size === 0) byGroup.set('', [])
  return byGroup
}

const totalOf = (sums: { count: number }[]): number => sums.reduce((total, { count }) => total + count, 0)

const previewGroups = async (
  db: Db,
  org: OrgId,
  question: AlertQuestion,
  condition: Previewed,
  bounds: Date[],
): Promise<GroupPreview[]> => {
  const { selection, groupBy } = question
  const measure = condition.kind === 'no_data' ? ({ kind: 'volume' } as const) : measureOf(condition)
  const rows = await sumMeasure(db, org, { measure, selection, groupBy, bounds, limit: mostSteps })
  const byGroup = byGroupOf(rows, groupBy, bounds.length - 1)
  return [...byGroup].map(([key, sums]) => ({
    key,
    total: totalOf(sums),
    decisions: decide(condition, eachPeriod(sums, bounds.length - 1), question, byGroup.size),
  }))
}

/**
 * Previews a condition about the change of a field, which compares the values in each window with those in an earlier
 * one.
 */
const previewFieldChanges = async (
  db: Db,
  org: OrgId,
  question: AlertQuestion,
  condition: ConditionOf<'change'>,
  bounds: Date[],
): Promise<GroupPreview[]> => {
  const { selection, groupBy, windowMinutes, minimumSample } = question
  const [measure, back] = [measureOf(condition), backOf(condition, windowMinutes)]
  const rows = await sumPairs(db, org, { measure, selection, groupBy, bounds, back, limit: mostSteps })
  const byGroup = byGroupOf(rows, groupBy, bounds.length - 1)
  const about = { windowMinutes, groups: byGroup.size, minimumSample }
  const nothing = decideFieldChange({ before: nothingMeasured, now: nothingMeasured }, condition, about)
  return [...byGroup].map(([key, pairs]) => {
    const decisions = new Array<Decision>(bounds.length - 1).fill(nothing)
    for (const pair of pairs) decisions[pair.period] = decideFieldChange(pair, condition, about)
    return { key, total: totalOf(pairs.map(({ now }) => now)), decisions }
  })
}

export const previewRule = async (db: Db, org: OrgId, question: AlertQuestion, now: Date) => {
  const { condition, groupBy, windowMinutes } = question
  if (!isPreviewed(condition)) {
    throw invalid('condition.kind', 'cannot be previewed; only conditions that count conversations can')
  }
  const stepMinutes = stepMinutesOf(condition, windowMinutes)
  const bounds = boundsOf(lastWholeWindow(now, stepMinutes), stepMinutes)
  const previewed = await (condition.kind === 'change' && condition.field !== undefined
    ? previewFieldChanges(db, org, question, condition, bounds)
    : previewGroups(db, org, question, condition, bounds))
  const groups = previewed.map((group) => ({ ...group, incidents: replay(group.key, group.decisions, bounds) }))
  const incidents = groups
    .flatMap((group) => group.incidents)
    .sort((a, b) => b.openedAt.getTime() - a.openedAt.getTime())
  const shown = incidents.slice(0, mostIncidents)
  const names = groupBy ? await findGroupNames(db, org, groupBy, [...new Set(shown.map(({ key }) => key))]) : undefined
  const busiest = groups.toSorted((a, b) => b.total - a.total)[0]
  const series = (busiest?.decisions ?? []).map(({ value, interval, sample }, index) => ({
    at: bounds[index + 1] as Date,
    value,
    low: interval?.low ?? null,
    high: interval?.high ?? null,
    sample,
  }))
  return {
    since: bounds[0] as Date,
    until: bounds.at(-1) as Date,
    incidentCount: incidents.length,
    incidents: shown.map(({ key, ...incident }) => ({
      group: key === '' ? null : { key, label: names?.get(key) ?? null },
      ...incident,
    })),
    series: thin(series),
  }
}
