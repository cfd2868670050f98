// Compares two groups of conversations, such as those of two versions of an agent, measure by measure.

import type { Static } from 'typebox'
import { parseFilter } from '../filters/filter.ts'
import type { Selection } from '../filters/queries.ts'
import { listRedefinedMonitors } from '../monitors/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import { invalid } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { type AnswerDeps, closed, periodOf, readZone, resolveWithin, spanOf } from './answer.ts'
import type { GroupComparison } from './answer-schema.ts'
import { type Chosen, chooseMeasures } from './compared-measures.ts'
import type { Whole } from './days/sum.ts'
import { compareRows } from './differences.ts'
import { kindOf } from './figures.ts'
import { earlierPeriod, readPeriod, type Within } from './period.ts'
import { haveCommon, readInSnapshot } from './queries.ts'
import { type GroupComparisonQuery, type Measure, monitorOf } from './query-schema.ts'
import { openSideSums, type Side } from './sum-sides.ts'

/** The time limit for all measures together. */
const longestMs = 30_000

type Given = { path: Side['path']; given: Selection; now: Date }

const readTimes = async ({ db }: AnswerDeps, { path, given, now }: Given): Promise<Within> => {
  const within = await readPeriod(db, given, now)
  if (within.since && within.until && within.until <= within.since) {
    throw invalid(`${path}.since`, 'must be in the past if the filter has no until')
  }
  return within
}

const readSide = async (deps: AnswerDeps, org: OrgId, { path, given }: Given, within: Within): Promise<Side> => ({
  ...within,
  path,
  selection: await resolveWithin(deps, org, given, within),
})

/** Reads side b, and side a in its own period or in the period before b's. */
const readSides = async (deps: AnswerDeps, org: OrgId, query: GroupComparisonQuery): Promise<[a: Side, b: Side]> => {
  // A relative period must end at the same time on both sides.
  const now = deps.clock.now()
  const a: Given = { path: 'a', given: parseFilter(query.a, 'a'), now }
  const b: Given = { path: 'b', given: parseFilter(query.b, 'b'), now }
  const [ownTimes, times] = [await readTimes(deps, a), await readTimes(deps, b)]
  const timezone = readZone(query, b.given)
  const readBoth = async (within: Within): Promise<[Side, Side]> => [
    await readSide(deps, org, a, within),
    await readSide(deps, org, b, times),
  ]
  const { compareTo } = query
  if (compareTo === undefined) return readBoth(ownTimes)
  for (const field of ['period', 'since', 'until'] as const) {
    if (a.given[field] !== undefined) throw invalid(`a.${field}`, 'cannot be combined with compareTo')
  }
  return readBoth(earlierPeriod(compareTo, closed(times, 'compareTo', 'b'), { period: b.given.period, timezone }))
}

/** Each conversation has at most one value for each of these. */
const singles = ['agentIds', 'agentVersionIds', 'companyIds', 'channels', 'directions', 'statuses'] as const

/** Returns whether no conversation can be on both sides. */
const areApart = (a: Side, b: Side): boolean => {
  if ((a.until && b.since && a.until <= b.since) || (b.until && a.since && b.until <= a.since)) return true
  return singles.some((field) => {
    const [ofA, ofB]: (string[] | undefined)[] = [a.selection[field], b.selection[field]]
    return ofA !== undefined && ofB !== undefined && !ofA.some((value) => ofB.includes(value))
  })
}

const areSame = (a: Side, b: Side): boolean => {
  const textOf = ({ selection, since, until }: Side) => JSON.stringify([selection, since ?? null, until ?? null])
  return textOf(a) === textOf(b)
}

type Row = { measure: Measure; a: Whole; b: Whole }

/** Returns whether to show a row that the request does not name. Most rows need data on at least one side. */
const isWorthShowing = ({ measure: { kind }, a, b }: Row): boolean =>
  kind === 'volume' || kind === 'rate' || a.count > 0 || b.count > 0

const volume: Measure = { kind: 'volume' }

/**
 * Returns whether a conversation can have several values. Each result has its own cost and response time, and the
 * results of one conversation often come from one request.
 */
const hasSeveralValues = (measure: Measure): boolean =>
  (measure.kind === 'cost' || measure.kind === 'latency') && monitorOf(measure) === undefined

/** Limits the total duration of a comparison. */
const openDeadline = () => {
  const startedAt = performance.now()
  return () => {
    if (performance.now() - startedAt < longestMs) return
    const seconds = longestMs / 1_000
    throw invalid('measures', `take more than ${seconds} seconds to count; choose shorter periods or fewer measures`)
  }
}

/** Reads both sides of all measures from one snapshot. */
const readSums = ({ replica }: AnswerDeps, org: OrgId, sides: [Side, Side], { measures, isGiven }: Chosen) => {
  let path: Side['path'] = 'a'
  const begin = (next: Side['path']) => {
    path = next
  }
  return readInSnapshot(
    replica,
    async (on) => {
      const sumBoth = openSideSums(on, org, { sides, measures, begin })
      const checkTime = openDeadline()
      const [all, others] = await sumBoth(volume)
      const rows: Row[] = []
      for (const measure of measures) {
        const [a, b] = await sumBoth(measure)
        rows.push({ measure, a, b })
        checkTime()
      }
      const mayShare = all.count > 0 && others.count > 0 && !areApart(...sides)
      return {
        conversations: { a: all.count, b: others.count },
        rows: isGiven ? rows : rows.filter(isWorthShowing),
        areShared: mayShare && (await haveCommon(on, org, sides)),
      }
    },
    () => path,
  )
}

export const compareSides = async (
  deps: AnswerDeps,
  actor: Pick<Actor, 'org' | 'entitlements'>,
  query: GroupComparisonQuery,
): Promise<Static<typeof GroupComparison>> => {
  const { db } = deps
  const { org } = actor
  const [a, b] = await readSides(deps, org, query)
  if (areSame(a, b)) throw invalid('b', 'selects the same conversations as a')
  const chosen = await chooseMeasures(db, actor, query.measures)

  const { rows, conversations, areShared } = await readSums(deps, org, [a, b], chosen)
  const monitorIds = rows.flatMap(({ measure }) => monitorOf(measure) ?? [])
  const redefined = new Set(await listRedefinedMonitors(db, org, [...new Set(monitorIds)], spanOf(a, b)))
  const differences = compareRows(
    rows.map((row) => ({ ...row, kind: kindOf(row.measure), isDependent: hasSeveralValues(row.measure) })),
  )
  return {
    a: { period: periodOf(a), conversations: conversations.a },
    b: { period: periodOf(b), conversations: conversations.b },
    rows: differences.map((difference, at) => {
      const { measure = volume } = rows[at] ?? {}
      const monitorId = monitorOf(measure)
      return {
        measure,
        monitorName: monitorId === undefined ? null : (chosen.names.get(monitorId) ?? null),
        definitionChanged: monitorId !== undefined && redefined.has(monitorId),
        ...difference,
      }
    }),
    compared: differences.filter(({ p }) => p !== null).length,
    warnings: [
      ...chosen.warnings,
      ...(areShared ? ['Some conversations are on both sides, so the difference between the others is larger.'] : []),
    ],
  }
}
