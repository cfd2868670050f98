// Determines the sides of a comparison: their filters, and the default sides. Pure.

import type { Group } from '../boards/queries.ts'
import type { Filter } from '../filters/filter.ts'
import { type CompareTo, codeOfRange } from '../filters/range.ts'
import type { CompareSearch, SideSearch } from './search.ts'

export type Sides = { a: SideSearch; b: SideSearch }

export type Precedence = 'previous_period' | 'previous_year'

/** Returns the earlier period of side A, if it is defined relative to side B. The service finds its dates. */
export const precedenceOf = ({ time }: SideSearch): Precedence | undefined =>
  time === 'previous_period' || time === 'previous_year' ? time : undefined

/** Returns a side's conversations, without its period. The side's fields replace those of the filter for both sides. */
export const filterOfSide = ({ agent, version, company }: SideSearch, both: Filter): Filter => {
  const { agentIds, agentVersionIds, companyIds, ...others } = both
  const ofBoth = {
    ...(agentIds && { agentIds }),
    ...(agentVersionIds && { agentVersionIds }),
  }
  const ofAgent = agent === undefined ? undefined : { agentIds: [agent] }
  const ofVersion = version === undefined ? ofAgent : { agentVersionIds: [version] }
  const companies = company === undefined ? companyIds : [company]
  return { ...others, ...(ofVersion ?? ofBoth), ...(companies && { companyIds: companies }) }
}

/** Returns a filter with dates in place of its period. */
export const withDates = (filter: Filter, period: { since: string | null; until: string | null } | null): Filter => ({
  ...filter,
  ...(period?.since && { since: period.since }),
  ...(period?.until && { until: period.until }),
})

type Counted = Pick<Group, 'key' | 'n' | 'isOther'>

/** Returns the last two versions of the agent with the most conversations, given groups by agent and version. */
export const lastVersions = (groups: Counted[]): Sides | undefined => {
  const versions = Map.groupBy(
    groups.flatMap(({ key: [agent, version], n, isOther }) =>
      agent && version && !isOther ? [{ agent, version, n }] : [],
    ),
    ({ agent }) => agent,
  )
  const countOf = (list: { n: number }[]) => list.reduce((sum, { n }) => sum + n, 0)
  const [agents] = [...versions.values()]
    .filter((list) => list.length > 1)
    .toSorted((one, other) => countOf(other) - countOf(one))
  if (!agents) return undefined
  // IDs sort by creation time.
  const [b, a] = agents.toSorted((one, other) => (one.version < other.version ? 1 : -1))
  if (!a || !b) return undefined
  return { a: { agent: a.agent, version: a.version }, b: { agent: b.agent, version: b.version } }
}

/** Returns a period and the previous one. */
export const twoPeriods = (agent: string | undefined, time: string = 'previous_period'): Sides => {
  const side = agent === undefined ? {} : { agent }
  return { a: { ...side, time }, b: side }
}

/**
 * Returns the sides in the opposite order. Returns undefined if the period of side A is defined relative to that of
 * side B.
 */
export const swapped = ({ a, b, time }: Sides & { time: string | undefined }): CompareSearch | undefined => {
  if (precedenceOf(a)) return undefined
  const { time: own, ...ofA } = a
  if (own === undefined) return { a: b, b: ofA }
  return time === undefined ? undefined : { a: { ...b, time }, b: ofA, time: own }
}

/** The fields of a side that charts can be grouped by. */
const fields: Record<string, 'agent' | 'company'> = { agent: 'agent', company: 'company' }

type SideRequest = {
  groupBy: string[] | undefined
  groups: Counted[]
  filter: Filter
  compareTo: CompareTo | undefined
}

/** Returns the two largest agents or companies in a chart. */
const largestOf = ({ groupBy = [], groups }: SideRequest): Sides | undefined => {
  const field = fields[groupBy[0] ?? '']
  const [largest, next] = groups.flatMap(({ key: [key], isOther }) => (key && !isOther ? [key] : []))
  if (!field || groupBy.length > 1 || !largest || !next) return undefined
  return { a: { [field]: largest }, b: { [field]: next } }
}

/**
 * Returns the comparison that a chart suggests: with its earlier period, or between its largest groups, using the
 * chart's filter and period.
 */
export const searchOfChart = (drawn: SideRequest, timezone: string): CompareSearch => {
  const { period, since, until, ...filter } = drawn.filter
  const { agentIds = [], ...others } = filter
  const [agent, ...moreAgents] = agentIds
  const one = moreAgents.length === 0 ? agent : undefined
  const both = one === undefined ? filter : others
  const time = codeOfRange({ ...(period && { period }), ...(since && { since }), ...(until && { until }) }, timezone)
  const { compareTo } = drawn
  const earlier = typeof compareTo === 'object' ? codeOfRange(compareTo, timezone) : compareTo
  const sides = earlier ? twoPeriods(one, earlier) : largestOf(drawn)
  return {
    ...(sides ?? (one !== undefined && { agent: one })),
    ...(time !== undefined && { time }),
    ...(Object.keys(both).length > 0 && { filter: both }),
  }
}
