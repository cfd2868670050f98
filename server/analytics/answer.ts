// Answers a query: figures by group, over time, and compared with an earlier period.

import type { Static } from 'typebox'
import { parseFilter } from '../filters/filter.ts'
import { findNames } from '../filters/names/queries.ts'
import type { Selection } from '../filters/queries.ts'
import { findMonitors } from '../monitors/queries.ts'
import { listPeriodBounds } from '../platform/db/calendar.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { invalid } from '../platform/errors.ts'
import { readTimeZone } from '../platform/time-zone.ts'
import { differenceInterval, type Figure, figureOf, type Kind, kindOf, noSums, quantileOf } from './figures.ts'
import { coverageOf, hasWholeHours, type Stored } from './hours/coverage.ts'
import { findState, listChangedHours } from './hours/queries.ts'
import { type ClosedPeriod, earlierPeriod, readPeriod, type Within } from './period.ts'
import { type GroupSums, isStored, type Key, readInSnapshot, type Sums, sumMeasure } from './queries.ts'
import { type AnalyticsQuery, mostGroupsBy } from './query-schema.ts'
import type { Analytics } from './schema.ts'

const mostPeriods = 1_000
/** The limit of a query with groups, because each group has a series. */
const mostPeriodsOfGroups = 400

type AnswerDeps = Pick<Deps, 'db' | 'replica' | 'clock'>

const requireMonitor = async (db: Db, org: OrgId, { measure }: AnalyticsQuery): Promise<void> => {
  if (!('monitorId' in measure) || measure.monitorId === undefined) return
  const [monitor] = await findMonitors(db, org, [measure.monitorId])
  if (!monitor) throw invalid('measure.monitorId', 'does not exist in your organization')
}

/** Stored sums have the monitor’s ID in this spelling. */
const lowerCase = <M extends object>(measure: M): M =>
  'monitorId' in measure ? { ...measure, monitorId: String(measure.monitorId).toLowerCase() } : measure

/** A period with both ends, without which there are neither intervals nor an earlier period. */
const closed = (within: Within, why: string): ClosedPeriod => {
  const { since, until } = within
  if (!since || !until) throw invalid('filter', `needs a period, or since, with ${why}`)
  if (until <= since) throw invalid('filter.since', 'must be in the past if the filter has no until')
  return { since, until }
}

const nameOf = (key: string, names: ReadonlyMap<string, string>): string => names.get(key) ?? key

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const labelOf = (dimension: string, key: string | null, names: ReadonlyMap<string, string>): string => {
  if (key === null) return 'None'
  if (dimension === 'weekday') return weekdays[Number(key) - 1] ?? key
  if (dimension === 'hourOfDay') return `${key.padStart(2, '0')}:00`
  return ['agent', 'version', 'company'].includes(dimension) ? nameOf(key, names) : key
}

const nameKeys = (db: Db, org: OrgId, groupBy: string[], keys: Key[]) => {
  const of = (dimension: string) => keys.flatMap((key) => key[groupBy.indexOf(dimension)] ?? [])
  return findNames(db, org, [{ agentIds: of('agent'), agentVersionIds: of('version'), companyIds: of('company') }])
}

const keyText = (key: Key | undefined): string => JSON.stringify(key ?? 'other')

/** The sums of each group, and those of its periods. */
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

/** Largest first, then everything else. Without groups, there is always one. */
const inOrder = (groups: Map<string, Group>, groupBy: string[]): Group[] => {
  if (groupBy.length === 0) return [groups.get(keyText([])) ?? noGroup]
  return [...groups.values()].sort(
    (a, b) =>
      Number(a.key === undefined) - Number(b.key === undefined) ||
      b.total.count - a.total.count ||
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

/** The zone of the filter's period decides, so that days start where the period does. */
const readZone = (query: AnalyticsQuery, { period }: Selection): string =>
  query.timezone === undefined ? (period?.timezone ?? 'UTC') : readTimeZone(query.timezone, 'timezone')

type Summed = Parameters<typeof isStored>[0] & { groupBy: string[]; timezone: string }

/** Which hours have sums that answer a query, as the transaction sees them. */
const readStored = async (db: Db, org: OrgId, request: Summed): Promise<(within: Within) => Stored> => {
  const nothing = { builtSince: undefined, changed: [] }
  const state = isStored(request) ? await findState(db, org) : undefined
  if (!state) return () => nothing
  const stored = { builtSince: state.builtSince, changed: await listChangedHours(db, org) }
  const isByHour = request.groupBy.some((name) => name === 'hourOfDay' || name === 'weekday')
  return (within) => (isByHour && !hasWholeHours(request.timezone, within) ? nothing : stored)
}

export const answerQuery = async (deps: AnswerDeps, org: OrgId, query: AnalyticsQuery): Promise<Answer> => {
  const { db, replica, clock } = deps
  const { measure, groupBy = [], interval, compareTo } = query
  const given = parseFilter(query.filter ?? {}, 'filter')
  const { since: _since, until: _until, period, ...selection } = given
  const timezone = readZone(query, given)
  await requireMonitor(db, org, query)
  const within = await readPeriod(db, given, clock.now())
  if (interval !== undefined) closed(within, 'an interval')
  const earlier = compareTo && earlierPeriod(compareTo, closed(within, 'compareTo'), { period, timezone })
  const kind = kindOf(measure)
  const mostGroups = mostGroupsBy(groupBy)

  const boundsOf = (of: ClosedPeriod) =>
    interval && listPeriodBounds(db, { interval, timezone }, of, groupBy.length > 0 ? mostPeriodsOfGroups : mostPeriods)
  const bounds = interval && (await boundsOf(closed(within, 'an interval')))
  const earlierBounds = earlier && (await boundsOf(earlier))

  const request = { measure: lowerCase(measure), selection, groupBy, timezone, quantile: quantileOf(kind) }
  const { now, before } = await readInSnapshot(replica, async (on) => {
    const stored = await readStored(on, org, request)
    const sourcesOf = (of: Within, at: Date[] | undefined) => coverageOf({ ...of, bounds: at }, stored(of))
    const sources = sourcesOf(within, bounds)
    const current = await sumMeasure(on, org, { ...request, sources, bounds, show: { most: mostGroups } })
    if (!earlier) return { now: current, before: undefined }
    const keys = current.sums.flatMap(({ key, period: at }) => (key && at === undefined ? [key] : []))
    const compared = await sumMeasure(on, org, {
      ...request,
      sources: sourcesOf(earlier, earlierBounds),
      bounds: earlierBounds,
      show: { keys },
    })
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
  const isLimited = within.since !== undefined || within.until !== undefined
  return {
    period: isLimited ? { since: within.since ?? null, until: within.until ?? null } : null,
    comparedPeriod: earlier ?? null,
    groups: groups.map(answerOf),
    warnings,
  }
}
