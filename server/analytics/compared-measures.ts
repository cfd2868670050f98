// The measures of a comparison: those in the request, or otherwise general measures and those of enabled monitors.

import { findMonitors, listMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { isByCategory, type Measure, monitorOf, withLowerCaseId } from './query-schema.ts'

/** The maximum number of monitors to compare if the request names no measures. */
const mostMonitors = 50

const general: Measure[] = [
  { kind: 'volume' },
  { kind: 'duration', statistic: 'p50' },
  { kind: 'duration', statistic: 'p95' },
  { kind: 'signal', signal: 'responseLatencyMs.p50', statistic: 'p50' },
  { kind: 'signal', signal: 'responseLatencyMs.p95', statistic: 'p95' },
]

const costOfResults: Measure = { kind: 'cost', statistic: 'mean' }

type Monitor = Awaited<ReturnType<typeof findMonitors>>[number]

export type Chosen = {
  measures: Measure[]
  /** The name of each monitor, by its ID. */
  names: Map<string, string>
  /** Whether the request names the measures. */
  isGiven: boolean
  warnings: string[]
}

/** Returns whether its results may have scores. */
const mayScore = ({ kind, definition }: Monitor): boolean => {
  if (kind === 'judge') return (definition.output as { type?: unknown } | undefined)?.type === 'score'
  return kind === 'external' || kind === 'scorecard' || definition.score !== undefined
}

const measuresOf = (monitor: Monitor): Measure[] => [
  { kind: 'rate', monitorId: monitor.id },
  ...(mayScore(monitor) ? [{ kind: 'score', monitorId: monitor.id, statistic: 'mean' } as const] : []),
]

const namesOf = (monitors: Monitor[]) => new Map(monitors.map(({ id, name }) => [id, name]))

/** Reads the measures in the request. Their monitors must exist. */
const readMeasures = async (db: Db, org: OrgId, given: Measure[]): Promise<Chosen> => {
  const measures = given.map(withLowerCaseId)
  const ids = measures.flatMap((measure) => monitorOf(measure) ?? [])
  const names = namesOf(await findMonitors(db, org, [...new Set(ids)]))
  const issues = measures.flatMap((measure, at): Issue[] => {
    if (isByCategory(measure)) return [{ path: `measures[${at}].category`, message: 'is required to compare' }]
    const id = monitorOf(measure)
    if (id === undefined || names.has(id)) return []
    return [{ path: `measures[${at}].monitorId`, message: 'does not exist in your organization' }]
  })
  if (issues.length > 0) throw invalidAll(issues)
  return { measures, names, isGiven: true, warnings: [] }
}

export const chooseMeasures = async (
  db: Db,
  { org, entitlements }: Pick<Actor, 'org' | 'entitlements'>,
  given: Measure[] | undefined,
): Promise<Chosen> => {
  if (given) return readMeasures(db, org, given)
  if (!entitlements.monitors) return { measures: general, names: new Map(), isGiven: false, warnings: [] }
  // Reads one more than the limit to detect whether there are more.
  const found = await listMonitors(db, org, { enabled: true }, { limit: mostMonitors, after: undefined })
  const monitors = found.slice(0, mostMonitors)
  return {
    measures: [...general, costOfResults, ...monitors.flatMap(measuresOf)],
    names: namesOf(monitors),
    isGiven: false,
    warnings:
      found.length > mostMonitors
        ? [`Only the ${mostMonitors} newest enabled monitors are compared. Name others in measures.`]
        : [],
  }
}
