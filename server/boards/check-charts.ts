// Checks the charts of a board, and converts their filters to canonical form.

import { faultOfGroups, groupingMonitor, isByCategory, monitorOf } from '../analytics/query-schema.ts'
import { faultsOf, parseFilter } from '../filters/filter.ts'
import { findMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Chart, ChartInput } from './schema.ts'

const shapeFaults = ({ kind, query: { measure, groupBy = [], interval } }: ChartInput): Issue[] => {
  const faults: Issue[] = []
  const fault = faultOfGroups(measure, groupBy)
  if (fault !== undefined) faults.push({ path: 'query.groupBy', message: fault })
  // The categories of a measure count as its first group.
  const groups = groupBy.length + (isByCategory(measure) ? 1 : 0)
  const needs = (isMet: boolean, path: string, message: string) => isMet || faults.push({ path, message })
  if (kind === 'line') needs(interval !== undefined, 'query.interval', 'is required for a line')
  if (kind === 'heatmap') needs(groups === 2, 'query.groupBy', 'needs two groups for a heat map')
  if (kind === 'number') {
    needs(groupBy.length === 0, 'query.groupBy', 'must be empty for a number')
    needs(!isByCategory(measure), 'query.measure.category', 'is required for a number')
  }
  if (kind === 'heatmap' || kind === 'number' || kind === 'table') {
    needs(interval === undefined, 'query.interval', 'is only used by lines and bars')
  }
  return faults
}

const filterFaults = ({ query: { filter } }: ChartInput): Issue[] => {
  if (!filter) return []
  const faults = faultsOf(filter)
  for (const name of ['since', 'until', 'period'] as const) {
    if (filter[name] !== undefined) faults.push({ path: name, message: 'is set for the whole board' })
  }
  return faults.map(({ path, message }) => ({ path: `query.filter.${path}`, message }))
}

/** Returns the monitors that a chart measures or groups by, each with its path. */
const monitorsOf = ({ query: { measure, groupBy } }: ChartInput): { id: string; path: string }[] => {
  const measured = monitorOf(measure)?.toLowerCase()
  const grouping = groupingMonitor(groupBy)
  return [
    ...(measured === undefined ? [] : [{ id: measured, path: 'query.measure.monitorId' }]),
    ...(grouping ? [{ id: grouping.id, path: `query.groupBy[${grouping.at}]` }] : []),
  ]
}

/**
 * Throws if a chart contradicts itself, refers to a monitor that does not exist, or has the same ID as another chart.
 */
export const checkCharts = async (db: Db, org: OrgId, charts: ChartInput[]): Promise<Chart[]> => {
  const ids = charts.map((chart) => chart.id?.toLowerCase() ?? newId())
  const monitorIds = [...new Set(charts.flatMap((chart) => monitorsOf(chart).map(({ id }) => id)))]
  const known = new Set((await findMonitors(db, org, monitorIds)).map(({ id }) => id))
  const issues = charts.flatMap((chart, at) => {
    const faults = [...shapeFaults(chart), ...filterFaults(chart)]
    for (const { id, path } of monitorsOf(chart)) {
      if (!known.has(id)) faults.push({ path, message: 'does not exist in your organization' })
    }
    if (ids.indexOf(ids[at] ?? '') < at) faults.push({ path: 'id', message: 'is used by another chart' })
    return faults.map(({ path, message }) => ({ path: `charts[${at}].${path}`, message }))
  })
  if (issues.length > 0) throw invalidAll(issues)
  return charts.map(
    ({ title, kind, width, query: { filter, ...query } }, at): Chart => ({
      id: ids[at] ?? newId(),
      title,
      kind,
      width,
      query: { ...query, ...(filter && { filter: parseFilter(filter) }) },
    }),
  )
}
