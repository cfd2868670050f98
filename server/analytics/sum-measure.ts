// Adds up a measure from the stored sums of days and from conversations and results.

import type { Db, OrgId } from '../platform/db/database.ts'
import { type Coverage, coverageOf, hasWholeHours } from './days/coverage.ts'
import { listChangedHours, listStoredDays } from './days/queries.ts'
import { daysToRead, sumDays } from './days/sum.ts'
import type { Within } from './period.ts'
import {
  type GroupSums,
  isOfTime,
  listCells,
  listGroups,
  listPackedDays,
  type SumRequest,
  storedBy,
  sumRows,
} from './queries.ts'

export type Summed = Omit<SumRequest, 'ranges'>

const isOfResults = ({ kind }: Summed['measure']): boolean => ['rate', 'score', 'cost', 'latency'].includes(kind)

/** Reads which days have sums, and which of their hours have changed since. */
export type StoredReader = {
  days: (within: Within, of: 'conversations' | 'metrics') => Promise<Date[]>
  changed: (of: 'conversations' | 'results') => Promise<Date[]>
}

export const openStored = (db: Db, org: OrgId): StoredReader => ({
  days: ({ since, until }, of) => listStoredDays(db, org, since, until, of),
  changed: (of) => listChangedHours(db, org, of),
})

/** Returns the hours with sums that can answer a query, as seen by the transaction. */
export const readCoverage = async (reader: StoredReader, request: Summed, within: Within): Promise<Coverage> => {
  const { bounds, measure } = request
  const isByHour = request.groupBy.some(isOfTime)
  const by = storedBy(request)
  const isUsable = by !== undefined && (!isByHour || hasWholeHours(request.timezone, within))
  if (!isUsable) return coverageOf({ ...within, bounds }, { days: [], changed: [] })
  const stored = {
    days: await reader.days(within, measure.kind === 'metric' ? 'metrics' : 'conversations'),
    changed: await reader.changed(isOfResults(measure) ? 'results' : 'conversations'),
  }
  return coverageOf({ ...within, bounds }, stored, { wholeDays: by === 'day' })
}

/**
 * Sums a measure by group, and by group and period, for the largest groups and for all others together. Groups and
 * periods without a value are omitted. The interval of a percentile makes no assumption about the distribution: its
 * bounds are two of the values, far enough apart in rank that 95% of samples have the true percentile between them.
 */
export const sumMeasure = async (
  db: Db,
  org: OrgId,
  given: Summed,
  within: Within,
): Promise<{ groups: number; sums: GroupSums[] }> => {
  const coverage = await readCoverage(openStored(db, org), given, within)
  const request = { ...given, ranges: coverage.ranges }
  const { groupBy, timezone, bounds, quantile, show } = request
  if (coverage.days.size === 0) return sumRows(db, org, request)
  return sumDays({
    groups: await listGroups(db, org, request),
    packed: await listPackedDays(db, org, request, daysToRead(coverage.days, groupBy.some(isOfTime))),
    cells: await listCells(db, org, request),
    days: coverage.days,
    groupBy,
    timezone,
    intervals: bounds && bounds.length - 1,
    quantile,
    show,
  })
}
