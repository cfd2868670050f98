// Explains why a measure differs from that of an earlier period: finds the groups of conversations that changed it.

import type { Static } from 'typebox'
import { listMetadataKeys } from '../conversations/metadata-keys/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { invalid } from '../platform/errors.ts'
import { type DriverKind, findDrivers, type GroupTotals } from '../statistics/drivers.ts'
import { type AnswerDeps, closed, keyText, readCompared, readQuestion } from './answer.ts'
import type { Change } from './answer-schema.ts'
import { differenceInterval, figureOf, type Kind, kindOf, noSums } from './figures.ts'
import { labelOf, nameKeys } from './labels.ts'
import type { ClosedPeriod } from './period.ts'
import { type GroupSums, type Key, readInSnapshot, type Sums } from './queries.ts'
import { type ChangeQuery, isByCategory } from './query-schema.ts'
import { type Summed, sumMeasure } from './sum-measure.ts'

const columns = ['agent', 'version', 'company', 'channel', 'direction', 'endReason']
const mostGroups = 50
/** The number of newest conversations that are searched for metadata keys. */
const sampled = 1_000
const mostKeys = 5

const readKeys = async (db: Db, org: OrgId, given: string[] | undefined): Promise<string[]> => {
  if (given) return given
  const keys = await listMetadataKeys(db, org, { prefix: '', sampled, limit: mostKeys })
  return keys.map(({ key }) => key)
}

/** Percentiles and sums are explained by the mean. */
const explainedKind = (kind: Kind): { kind: Kind; driver: DriverKind } =>
  kind === 'count' || kind === 'share' ? { kind, driver: kind } : { kind: 'mean', driver: 'mean' }

const totalsOf = (kind: DriverKind, { count, hits, sum, squares }: Sums): GroupTotals =>
  kind === 'share' ? { count, sum: hits, squares: hits } : { count, sum, squares }

type Group = { dimension: string; key: Key; now: Sums; before: Sums }

type Grouped = Omit<Summed, 'show'>

const keysOf = (sums: GroupSums[]): Key[] => sums.flatMap(({ key }) => (key === undefined ? [] : [key]))

/**
 * Sums the groups that are among the largest in either period, because a group that disappeared also explains a change.
 */
const sumBoth = async (on: Db, org: OrgId, request: Grouped, periods: ClosedPeriod[]): Promise<Map<string, Sums>[]> => {
  const largest: GroupSums[][] = []
  for (const period of periods) {
    largest.push((await sumMeasure(on, org, { ...request, show: { most: mostGroups } }, period)).sums)
  }
  const keys = new Map(largest.flatMap(keysOf).map((key) => [keyText(key), key]))
  const both: Map<string, Sums>[] = []
  for (const [at, period] of periods.entries()) {
    const found = new Map(
      (largest[at] ?? []).flatMap(({ key, ...sums }) => (key ? [[keyText(key), sums] as const] : [])),
    )
    const missing = [...keys].flatMap(([text, key]) => (found.has(text) ? [] : [key]))
    const { sums } =
      missing.length > 0 ? await sumMeasure(on, org, { ...request, show: { keys: missing } }, period) : none
    for (const { key, ...more } of sums) if (key) found.set(keyText(key), more)
    both.push(found)
  }
  return both
}

const none: { sums: GroupSums[] } = { sums: [] }

const pairUp = (dimension: string, [now = new Map(), before = new Map()]: Map<string, Sums>[]): Group[] =>
  [...new Set([...now.keys(), ...before.keys()])].map((text) => ({
    dimension,
    key: JSON.parse(text),
    now: now.get(text) ?? noSums,
    before: before.get(text) ?? noSums,
  }))

export const explainChange = async (
  deps: AnswerDeps,
  org: OrgId,
  query: ChangeQuery,
): Promise<Static<typeof Change>> => {
  const { db, replica } = deps
  const { compareTo = 'previous_period' } = query
  if (isByCategory(query.measure)) throw invalid('measure.category', 'is required to explain a change')
  const { measure, selection, timezone, earlier, ...question } = await readQuestion(deps, org, query, (within, zoned) =>
    readCompared(compareTo, closed(within, 'an explanation'), zoned),
  )
  const within = closed(question.within, 'an explanation')
  const dimensions = [...columns, ...(await readKeys(db, org, query.metadataKeys)).map((key) => `metadata:${key}`)]
  const asked = kindOf(measure)
  const { kind, driver } = explainedKind(asked)

  const request = { measure, selection, timezone, quantile: undefined, bounds: undefined }
  const { whole, groups } = await readInSnapshot(replica, async (on) => {
    const found: Group[] = []
    for (const dimension of dimensions) {
      const grouped = { ...request, groupBy: [dimension] }
      found.push(...pairUp(dimension, await sumBoth(on, org, grouped, [within, earlier])))
    }
    const all = pairUp('', await sumBoth(on, org, { ...request, groupBy: [] }, [within, earlier]))
    return { whole: all[0] ?? { now: noSums, before: noSums }, groups: found }
  })

  const drivers = findDrivers(
    driver,
    { now: totalsOf(driver, whole.now), before: totalsOf(driver, whole.before) },
    dimensions.map((dimension) => ({
      groups: groups
        .filter((group) => group.dimension === dimension)
        .map((group) => ({ key: group, now: totalsOf(driver, group.now), before: totalsOf(driver, group.before) })),
    })),
  )
  const names = await nameKeys(
    db,
    org,
    columns,
    drivers.map(({ key: { dimension, key } }) => columns.map((name) => (name === dimension ? (key[0] ?? null) : null))),
  )
  const [now, before] = [figureOf(kind, whole.now), figureOf(kind, whole.before)]
  return {
    period: within,
    comparedPeriod: earlier,
    now,
    before,
    difference: now.value === null || before.value === null ? null : now.value - before.value,
    differenceInterval95: differenceInterval(kind, whole.before, whole.now),
    drivers: drivers.map(({ key: group, contribution, q }) => ({
      dimension: group.dimension,
      key: group.key[0] ?? null,
      label: labelOf(group.dimension, group.key[0] ?? null, names),
      now: figureOf(kind, group.now),
      before: figureOf(kind, group.before),
      contribution,
      q,
    })),
    groups: groups.length,
    warnings: kind === asked ? [] : ['This explains the mean, because groups don’t add up to a percentile or sum.'],
  }
}
