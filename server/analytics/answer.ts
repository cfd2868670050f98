// Answers a query: figures by group, over time, and compared with an earlier period.

import type { Static } from 'typebox'
import { notApplicable } from '../filters/category.ts'
import { parseFilter } from '../filters/filter.ts'
import type { Selection } from '../filters/queries.ts'
import { resolve } from '../filters/resolve.ts'
import { definedCategories } from '../monitors/categories.ts'
import { findMonitors } from '../monitors/queries.ts'
import { listPeriodBounds } from '../platform/db/calendar.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { invalid } from '../platform/errors.ts'
import { readTimeZone } from '../platform/time-zone.ts'
import type { Analytics } from './answer-schema.ts'
import { differenceInterval, type Figure, figureOf, type Kind, kindOf, noSums, quantileOf } from './figures.ts'
import { labelOf, nameKeys } from './labels.ts'
import { type ClosedPeriod, earlierPeriod, readPeriod, type Within } from './period.ts'
import { type GroupSums, type Key, listFoundCategories, readInSnapshot, type Sums } from './queries.ts'
import {
  type AnalyticsQuery,
  type CompareTo,
  faultOfGroups,
  groupingMonitor,
  isByCategory,
  type Measure,
  monitorOf,
  mostGroupsBy,
  withLowerCaseId,
} from './query-schema.ts'
import { type Summed, sumMeasure } from './sum-measure.ts'

const mostPeriods = 1_000
/** The limit of a query with groups, because each group has a series. */
const mostPeriodsOfGroups = 400

export type AnswerDeps = Pick<Deps, 'db' | 'replica' | 'clock' | 'meanings'>

type Monitor = Awaited<ReturnType<typeof findMonitors>>[number]

const missing = 'does not exist in your organization'

/** Returns the monitor that the query measures, if it measures one. */
const requireMonitors = async (
  db: Db,
  org: OrgId,
  { measure, groupBy }: Pick<AnalyticsQuery, 'measure' | 'groupBy'>,
): Promise<Monitor | undefined> => {
  const fault = faultOfGroups(measure, groupBy)
  if (fault !== undefined) throw invalid('groupBy', fault)
  const monitorId = monitorOf(measure)?.toLowerCase()
  const grouping = groupingMonitor(groupBy)
  const ids = [...(monitorId === undefined ? [] : [monitorId]), ...(grouping ? [grouping.id] : [])]
  if (ids.length === 0) return undefined
  const found = new Map((await findMonitors(db, org, ids)).map((monitor) => [monitor.id, monitor]))
  if (monitorId !== undefined && !found.has(monitorId)) throw invalid('measure.monitorId', missing)
  if (grouping && !found.has(grouping.id)) throw invalid(`groupBy[${grouping.at}]`, missing)
  return monitorId === undefined ? undefined : found.get(monitorId)
}

/** Returns the period, or null if neither end is limited. */
export const periodOf = ({ since, until }: Within) =>
  since || until ? { since: since ?? null, until: until ?? null } : null

/** Returns a period with both ends. Throws if one is missing, because intervals and comparisons need both. */
export const closed = (within: Within, why: string, path = 'filter'): ClosedPeriod => {
  const { since, until } = within
  if (!since || !until) throw invalid(path, `needs a period, or since, with ${why}`)
  if (until <= since) throw invalid(`${path}.since`, 'must be in the past if the filter has no until')
  return { since, until }
}

export const keyText = (key: Key | undefined): string => JSON.stringify(key ?? 'other')

/** The sums of each group, and of each group and period. */
type Group = { key: Key | undefined; total: Sums; periods: Map<number, Sums> }

const groupsOf = (sums: GroupSums[]): Map<string, Group> => {
  const groups = new Map<string, Group>()
  for (const { key, period, ...sum } of sums) {
    const group = groups.get(keyText(key)) ?? { key, total: noSums, periods: new Map<number, Sums>() }
    groups.set(keyText(key), group)
    if (period === undefined) group.total = sum
    else group.periods.set(period, sum)
  }
  return groups
}

const noGroup: Group = { key: [], total: noSums, periods: new Map() }

/**
 * Sorts groups by size, and puts the group of all other conversations last. All categories have the same number of
 * results, so they are sorted by share.
 */
const inOrder = (groups: Map<string, Group>, groupBy: string[]): Group[] => {
  // Without `groupBy`, there is only one group.
  if (groupBy.length === 0) return [groups.get(keyText([])) ?? noGroup]
  return [...groups.values()].sort(
    (a, b) =>
      Number(a.key === undefined) - Number(b.key === undefined) ||
      b.total.count - a.total.count ||
      (groupBy[0]?.startsWith('category:') ? b.total.hits - a.total.hits : 0) ||
      (keyText(a.key) < keyText(b.key) ? -1 : 1),
  )
}

const seriesOf = (kind: Kind, { periods }: Group, bounds: Date[]) =>
  bounds.slice(0, -1).map((start, at) => ({
    start,
    end: bounds[at + 1] ?? start,
    ...figureOf(kind, periods.get(at) ?? noSums),
  }))

type Answer = Static<typeof Analytics>

const comparisonOf = (kind: Kind, before: Group, now: Group, bounds: Date[] | undefined) => {
  const [earlier, current] = [figureOf(kind, before.total), figureOf(kind, now.total)]
  const isKnown = earlier.value !== null && current.value !== null && now.key !== undefined
  return {
    ...earlier,
    difference: isKnown ? (current.value as number) - (earlier.value as number) : null,
    differenceInterval95: isKnown ? differenceInterval(kind, before.total, now.total) : null,
    ...(bounds && { series: seriesOf(kind, before, bounds) }),
  }
}

/**
 * Returns the time zone of a query. By default, it is that of the filter's period, so that days start when the period
 * does.
 */
export const readZone = (query: Pick<AnalyticsQuery, 'timezone'>, { period }: Pick<Selection, 'period'>): string =>
  query.timezone === undefined ? (period?.timezone ?? 'UTC') : readTimeZone(query.timezone, 'timezone')

type AnswerRequest = Pick<AnalyticsQuery, 'measure' | 'filter' | 'timezone' | 'groupBy'>

type Zoned = { period: Selection['period']; timezone: string }

/** Returns the period to compare with: an earlier one, or one with the given dates. */
export const readCompared = (compareTo: CompareTo, within: Within, zoned: Zoned): ClosedPeriod => {
  if (typeof compareTo === 'string') return earlierPeriod(compareTo, closed(within, 'compareTo'), zoned)
  const [since, until] = [new Date(compareTo.since), new Date(compareTo.until)]
  if (until <= since) throw invalid('compareTo.until', 'must be later than since')
  return { since, until }
}

/**
 * Returns the span from the start of the earlier period to the end of the later one. If either period is open, so is
 * the span.
 */
export const spanOf = (a: Within, b: Within): Within => ({
  since: a.since && b.since && (a.since < b.since ? a.since : b.since),
  until: a.until && b.until && (a.until > b.until ? a.until : b.until),
})

/** Replaces a filter's meanings with the matching conversations in a period. The result contains no times. */
export const resolveWithin = (
  deps: Pick<Deps, 'meanings'>,
  org: OrgId,
  { since: _since, until: _until, period: _period, ...selection }: Selection,
  { since, until }: Within,
) =>
  resolve(deps, org, selection, {
    ...(since && { since: since.toISOString() }),
    ...(until && { until: until.toISOString() }),
  })

/**
 * Returns a query's filter without times, its period, and its time zone. `readEarlier` returns the period to compare
 * with, if there is one.
 */
export const readQuestion = async <Earlier extends ClosedPeriod | undefined>(
  deps: AnswerDeps,
  org: OrgId,
  query: AnswerRequest,
  readEarlier: (within: Within, zoned: Zoned) => Earlier,
) => {
  const { db, clock } = deps
  const given = parseFilter(query.filter ?? {}, 'filter')
  const timezone = readZone(query, given)
  const monitor = await requireMonitors(db, org, query)
  const { period } = given
  const within = await readPeriod(db, given, clock.now())
  const earlier = readEarlier(within, { period, timezone })
  const selection = await resolveWithin(deps, org, given, earlier ? spanOf(within, earlier) : within)
  return { measure: withLowerCaseId(query.measure), monitor, selection, timezone, within, earlier }
}

/** The maximum number of categories in an answer. */
const mostShown = 50

/** Adds the categories to show: those in the definition, and those in the results of any of the periods. */
const withCategories = async (
  on: Db,
  org: OrgId,
  measure: Measure,
  monitor: Monitor | undefined,
  periods: Within[],
): Promise<Summed['measure']> => {
  if (!monitor || measure.kind !== 'category' || measure.category !== undefined) return measure
  const found = await Promise.all(
    periods.map(({ since, until }) => listFoundCategories(on, org, monitor.id, { since, until }, mostShown)),
  )
  const known = new Set([...definedCategories(monitor), ...found.flat()])
  known.delete(notApplicable)
  return { ...measure, categories: [...known].slice(0, mostShown) }
}

export const answerQuery = async (deps: AnswerDeps, org: OrgId, query: AnalyticsQuery): Promise<Answer> => {
  const { db, replica } = deps
  const { measure, interval, compareTo } = query
  const question = await readQuestion(deps, org, query, (within, zoned) => {
    if (interval !== undefined) closed(within, 'an interval')
    return compareTo && readCompared(compareTo, within, zoned)
  })
  const { measure: given, monitor, selection, timezone, within, earlier } = question
  const groupBy = isByCategory(given) ? [`category:${monitor?.id}`, ...(query.groupBy ?? [])] : (query.groupBy ?? [])
  const kind = kindOf(measure)
  const mostGroups = mostGroupsBy(measure, groupBy)

  const boundsOf = (of: ClosedPeriod) =>
    interval && listPeriodBounds(db, { interval, timezone }, of, groupBy.length > 0 ? mostPeriodsOfGroups : mostPeriods)
  const bounds = interval && (await boundsOf(closed(within, 'an interval')))
  const earlierBounds = earlier && (await boundsOf(earlier))

  const { now, before } = await readInSnapshot(replica, async (on) => {
    const measured = await withCategories(on, org, given, monitor, earlier ? [within, earlier] : [within])
    const request = { measure: measured, selection, groupBy, timezone, quantile: quantileOf(kind) }
    const current = await sumMeasure(on, org, { ...request, bounds, show: { most: mostGroups } }, within)
    if (!earlier) return { now: current, before: undefined }
    const keys = current.sums.flatMap(({ key, period: at }) => (key && at === undefined ? [key] : []))
    const compared = await sumMeasure(on, org, { ...request, bounds: earlierBounds, show: { keys } }, earlier)
    return { now: current, before: groupsOf(compared.sums) }
  })

  const groups = inOrder(groupsOf(now.sums), groupBy)
  const names = await nameKeys(
    db,
    org,
    groupBy,
    groups.flatMap(({ key }) => (key ? [key] : [])),
  )
  const answerOf = (group: Group) => {
    const { key, total } = group
    const figure: Figure = figureOf(kind, total)
    const compared = before && (before.get(keyText(key)) ?? { ...noGroup, key })
    return {
      key: key ?? groupBy.map(() => null),
      label: groupBy.map((dimension, at) => (key ? labelOf(dimension, key[at] ?? null, names) : 'Other')),
      isOther: key === undefined,
      ...figure,
      ...(bounds && { series: seriesOf(kind, group, bounds) }),
      ...(compared && { comparison: comparisonOf(kind, compared, group, earlierBounds) }),
    }
  }
  const warnings =
    now.groups > mostGroups
      ? [
          `There are ${now.groups.toLocaleString('en')} groups. The ${mostGroups} largest are shown, and the others together.`,
        ]
      : []
  return {
    period: periodOf(within),
    comparedPeriod: earlier ?? null,
    groups: groups.map(answerOf),
    warnings,
  }
}
