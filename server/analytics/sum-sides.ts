// Sums measures for both sides of a comparison. Data that several measures need is read once.

import type { Resolved } from '../filters/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Coverage } from './days/coverage.ts'
import { daysToRead, sumWhole, type Whole } from './days/sum.ts'
import { kindOf, quantileOf } from './figures.ts'
import type { Within } from './period.ts'
import {
  type Cell,
  listCells,
  listGroups,
  listPackedDays,
  listResultCounts,
  type PackedDay,
  type ResultCounts,
  type SumRequest,
  storedGrain,
} from './queries.ts'
import { type Measure, monitorOf } from './query-schema.ts'
import { openStored, readCoverage } from './sum-measure.ts'

export type Side = Within & { path: 'a' | 'b'; selection: Resolved }

/** Runs a read once for each name, and shares the result. */
const openOnce = () => {
  const known = new Map<string, Promise<unknown>>()
  return <T>(name: unknown[], read: () => Promise<T>): Promise<T> => {
    const text = JSON.stringify(name)
    // The same name always stands for the same read, and therefore for its type.
    const found = known.get(text) as Promise<T> | undefined
    if (found) return found
    const reading = read()
    known.set(text, reading)
    return reading
  }
}

type Once = ReturnType<typeof openOnce>

const openStoredOnce = (db: Db, org: OrgId, once: Once) => {
  const { days, changed } = openStored(db, org)
  return {
    days: (within: Within, of: 'conversations' | 'metrics') =>
      once(['days', within.since, within.until, of], () => days(within, of)),
    changed: (of: 'conversations' | 'results') => once(['changed', of], () => changed(of)),
  }
}

type Read = { side: Side; request: SumRequest; coverage: Coverage }

/** Returns whether both sides read the same stored sums, but select different groups. */
const shareDays = (one: Read, other: Read): boolean => {
  const daysOf = ({ coverage }: Read) => [...coverage.days.keys()].join()
  return storedGrain(one.request) === storedGrain(other.request) && daysOf(one) === daysOf(other)
}

/** Returns the hours of either side. Days that are whole on both sides are read as whole days. */
const daysOfBoth = ([one, other]: Read[]): Coverage['days'] =>
  new Map(
    [...(one?.coverage.days ?? [])].map(([day, hours]) => {
      const others = other?.coverage.days.get(day) ?? hours
      return [day, hours.map((interval, at) => Math.min(interval, others[at] ?? -1))]
    }),
  )

const isCounted = (measure: Measure): boolean =>
  measure.kind === 'rate' || (measure.kind === 'score' && measure.statistic === 'mean')

const cellOf = (measure: Measure, { results, affected, scores, sum, squares }: ResultCounts): Cell => {
  const cell = { k1: '', k2: '', interval: 0, step: null }
  return measure.kind === 'rate'
    ? { ...cell, count: results, hits: affected, sum: 0, squares: 0 }
    : { ...cell, count: scores, hits: 0, sum, squares }
}

/**
 * Returns a function that sums both sides of a measure. Before each statement, calls `begin` with the side that the
 * statement is about. The results of all monitors in `measures` are counted together.
 */
export const openSideSums = (
  db: Db,
  org: OrgId,
  { sides, measures, begin }: { sides: [Side, Side]; measures: Measure[]; begin: (path: Side['path']) => void },
) => {
  const once = openOnce()
  const stored = openStoredOnce(db, org, once)
  const monitorIds = [...new Set(measures.filter(isCounted).flatMap((measure) => monitorOf(measure) ?? []))]

  const readCells = async (measure: Measure, { side, request }: Read): Promise<Cell[]> => {
    if (!isCounted(measure)) return listCells(db, org, request)
    const counts = await once(['results', side.path], () => listResultCounts(db, org, request, monitorIds))
    return counts.filter(({ monitorId }) => monitorId === monitorOf(measure)).map((each) => cellOf(measure, each))
  }

  const readPacked = ({ request }: Read, days: Coverage['days']): Promise<PackedDay[]> =>
    days.size === 0 ? Promise.resolve([]) : listPackedDays(db, org, request, daysToRead(days, false))

  const readGroups = ({ side, request, coverage }: Read) =>
    coverage.days.size === 0
      ? Promise.resolve([])
      : once(['groups', side.path, storedGrain(request)], () => listGroups(db, org, request))

  const sumBoth = async (measure: Measure): Promise<[Whole, Whole]> => {
    const quantile = quantileOf(kindOf(measure))
    const reads: Read[] = []
    for (const side of sides) {
      begin(side.path)
      const asked = { measure, selection: side.selection, quantile, groupBy: [], timezone: 'UTC', bounds: undefined }
      const request = { ...asked, show: { most: 1 } }
      const coverage = await readCoverage(stored, request, side)
      reads.push({ side, coverage, request: { ...request, ranges: coverage.ranges } })
    }
    const [first, second] = reads
    const shared = first && second && shareDays(first, second) ? await readPacked(first, daysOfBoth(reads)) : undefined
    const sums: Whole[] = []
    for (const read of reads) {
      begin(read.side.path)
      const { days } = read.coverage
      sums.push(
        sumWhole({
          groups: await readGroups(read),
          packed: shared ?? (await readPacked(read, days)),
          cells: await readCells(measure, read),
          days,
        }),
      )
    }
    // One entry for each side.
    return sums as [Whole, Whole]
  }

  return (measure: Measure): Promise<[Whole, Whole]> => {
    const quantile = quantileOf(kindOf(measure))
    // Several percentiles of a measure share the same distribution.
    return once(['measure', { ...measure, statistic: quantile !== undefined }], () => sumBoth(measure))
  }
}
