// Returns names for the groups of an answer.

import { findNames } from '../filters/names/queries.ts'
import { categoryLabels } from '../monitors/categories.ts'
import { findMonitors } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Key } from './queries.ts'

const nameOf = (key: string, names: ReadonlyMap<string, string>): string => names.get(key) ?? key

const weekdays = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

export const labelOf = (dimension: string, key: string | null, names: ReadonlyMap<string, string>): string => {
  if (key === null) return 'None'
  if (dimension === 'weekday') return weekdays[Number(key) - 1] ?? key
  if (dimension === 'hourOfDay') return `${key.padStart(2, '0')}:00`
  if (dimension.startsWith(category)) return nameOf(key, names)
  return ['agent', 'version', 'company', 'topic'].includes(dimension) ? nameOf(key, names) : key
}

const category = 'category:'

/** Returns the names of agents, versions, companies, and topics, and of the categories of a monitor. */
export const nameKeys = async (db: Db, org: OrgId, groupBy: string[], keys: Key[]): Promise<Map<string, string>> => {
  const of = (dimension: string) => keys.flatMap((key) => key[groupBy.indexOf(dimension)] ?? [])
  const ids = {
    agentIds: of('agent'),
    agentVersionIds: of('version'),
    companyIds: of('company'),
    topicIds: of('topic'),
  }
  const names = await findNames(db, org, [ids])
  const monitorIds = groupBy.flatMap((name) => (name.startsWith(category) ? name.slice(category.length) : []))
  const monitors = monitorIds.length > 0 ? await findMonitors(db, org, monitorIds) : []
  return new Map([...names, ...monitors.flatMap((monitor) => [...categoryLabels(monitor)])])
}
