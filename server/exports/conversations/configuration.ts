import { explainFilter } from '../../filters/explain.ts'
import { type Filter, faultsOf as faultsOfFilter, parseFilter } from '../../filters/filter.ts'
import type { Selection } from '../../filters/queries.ts'
import { faultsOfSort, type Sort } from '../../filters/sort.ts'
import type { Db } from '../../platform/db/database.ts'
import { resolvePeriod } from '../../platform/db/periods.ts'
import { type Issue, invalidAll } from '../../platform/errors.ts'
import { findTimeZone, timeZoneFault } from '../../platform/time-zone.ts'
import { type Column, canonicalColumns, faultsOfColumns } from '../../saved-views/columns.ts'
import { localTime } from '../configuration.ts'
import type { FormatName } from '../formats/formats.ts'
import { cellsOfColumns, monitorsOfColumns } from './columns.ts'
import type { ConversationExportConfig } from './schema.ts'

/** A validated and normalized configuration, including defaults. */
export type ConversationConfiguration = {
  filter: Selection
  columns: Column[]
  sort: Required<Sort>
  format: FormatName
  transcripts: boolean
  regions: boolean
  results: string[]
  reasoning: boolean
  timezone: string
  notificationEndpointId?: string
}

const canonicalSort = (sort: Sort | undefined): Required<Sort> => {
  const { by = 'startedAt', direction = 'desc' } = sort ?? {}
  return { by: by.startsWith('score:') ? by.toLowerCase() : by, direction }
}

const faultsOf = ({ filter, columns, sort, timezone = 'UTC' }: ConversationExportConfig): Issue[] => {
  const faults = faultsOfFilter(filter).map((fault) => ({ ...fault, path: `filter.${fault.path}` }))
  faults.push(...faultsOfColumns(columns, 'columns'), ...faultsOfSort(sort, 'sort', filter))
  if (findTimeZone(timezone) === undefined) faults.push({ path: 'timezone', message: timeZoneFault })
  return faults
}

/**
 * Validates rules that a schema cannot express, and reports all errors at once. `path` is the path of the configuration
 * in the request.
 */
export const parseConversations = (given: ConversationExportConfig, path: string): ConversationConfiguration => {
  const faults = faultsOf(given)
  if (faults.length > 0) throw invalidAll(faults.map((fault) => ({ ...fault, path: `${path}.${fault.path}` })))
  const { timezone = 'UTC', notificationEndpointId } = given
  return {
    filter: parseFilter(given.filter),
    columns: canonicalColumns(given.columns),
    sort: canonicalSort(given.sort),
    format: given.format ?? 'csv',
    transcripts: given.transcripts ?? false,
    regions: given.regions ?? false,
    results: (given.results ?? []).map((id) => id.toLowerCase()),
    reasoning: given.reasoning ?? false,
    timezone: findTimeZone(timezone) ?? timezone,
    ...(notificationEndpointId !== undefined && { notificationEndpointId: notificationEndpointId.toLowerCase() }),
  }
}

/** The period of an export if its list has no period. */
const always = { since: '0001-01-01T00:00:00.000Z', until: '9999-12-31T23:59:59.999Z' }

/** Returns the period of a filter at the current time. */
export const windowOf = async (db: Db, { since, until, period }: Selection): Promise<{ since: Date; until: Date }> =>
  period
    ? resolvePeriod(db, period)
    : { since: new Date(since ?? always.since), until: new Date(until ?? always.until) }

/**
 * Returns the filter with the fixed times of an export, so that each attempt to generate it selects the same
 * conversations.
 */
export const selectionOf = <Alike>(
  { period: _, ...rest }: Selection<Alike>,
  { since, until }: { since: Date; until: Date },
) => {
  return { ...rest, since: since.toISOString(), until: until.toISOString() }
}

const reads = (config: Pick<ConversationConfiguration, 'columns' | 'sort'>, kinds: string[]): boolean =>
  [...config.columns.map(({ key }) => key), config.sort.by].some((key) => kinds.includes(key.split(':')[0] ?? ''))

/** Returns the entitlements that the columns and the sort need. */
export const entitlementsOf = (config: Pick<ConversationConfiguration, 'columns' | 'sort' | 'results'>) => {
  const needsMonitors =
    config.results.length > 0 || reads(config, ['affected', 'result', 'score', 'categories', 'field', 'cost'])
  return [
    ...(needsMonitors ? (['monitors'] as const) : []),
    ...(reads(config, ['metric']) ? (['metrics'] as const) : []),
  ]
}

type Named = { path: string; id: string }

const lists = ['agentIds', 'agentVersionIds', 'agentGroupIds', 'companyIds', 'findingIds', 'topicIds'] as const

const idsOfPart = (part: NonNullable<Filter['anyOf']>[number], path: string): Named[] => [
  ...lists.flatMap((name) => (part[name] ?? []).map((id, index) => ({ path: `${path}.${name}[${index}]`, id }))),
  ...(part.monitors ?? []).map(({ id }, index) => ({ path: `${path}.monitors[${index}].id`, id })),
  ...(part.categories ? [{ path: `${path}.categories.monitorId`, id: part.categories.monitorId }] : []),
  ...(part.fields ?? []).map(({ monitorId: id }, index) => ({ path: `${path}.fields[${index}].monitorId`, id })),
  ...(part.bucketId === undefined ? [] : [{ path: `${path}.bucketId`, id: part.bucketId }]),
]

const idsOfParts = (parts: Filter['anyOf'], path: string): Named[] =>
  (parts ?? []).flatMap((part, index) => idsOfPart(part, `${path}[${index}]`))

/** Returns all IDs in a configuration, each with its path. */
export const idsOf = (
  { filter, columns, results = [], sort }: Pick<ConversationExportConfig, 'filter' | 'columns' | 'results' | 'sort'>,
  path: string,
): { ofFilter: Named[]; monitors: Named[] } => {
  const { anyOf, exclude, ...own } = filter
  const { anyOf: excluded, ...left } = exclude ?? {}
  const ofFilter = [
    ...idsOfPart(own, 'filter'),
    ...idsOfParts(anyOf, 'filter.anyOf'),
    ...idsOfPart(left, 'filter.exclude'),
    ...idsOfParts(excluded, 'filter.exclude.anyOf'),
  ]
  const [, sorted] = /^score:(.*)$/.exec(sort?.by ?? '') ?? []
  const monitors = [
    ...monitorsOfColumns(columns),
    ...results.map((id, index) => ({ path: `results[${index}]`, id })),
    ...(sorted === undefined ? [] : [{ path: 'sort.by', id: sorted }]),
  ]
  const within = (named: Named[]) => named.map((each) => ({ id: each.id.toLowerCase(), path: `${path}.${each.path}` }))
  return { ofFilter: within(ofFilter), monitors: within(monitors) }
}

const isLimited = (time: Date, limit: string): boolean => time.toISOString() !== limit

const periodLines = (timezone: string, { since, until }: { since: Date; until: Date }) => {
  const say = (show: (time: Date) => string) =>
    [isLimited(since, always.since) && `from ${show(since)}`, isLimited(until, always.until) && `before ${show(until)}`]
      .filter((words) => words !== false)
      .join(', ')
  const inUtc = say((time) => time.toISOString())
  if (inUtc === '') return [{ label: 'Started', value: 'at any time' }]
  return [
    { label: 'Started', value: inUtc },
    { label: `In ${timezone}`, value: say((time) => localTime(time.toISOString(), timezone)) },
  ]
}

type Described = {
  id: string
  createdAt: Date
  since: Date
  until: Date
  names: ReadonlyMap<string, string>
}

/** Describes the configuration in words, for people who read the file. `names` maps IDs to names. */
export const describeConversations = (
  config: ConversationConfiguration,
  { id, createdAt, since, until, names }: Described,
): { label: string; value: string }[] => [
  { label: 'Export', value: id },
  { label: 'Requested', value: createdAt.toISOString() },
  { label: 'Conversations', value: explainFilter(config.filter, names) },
  ...periodLines(config.timezone, { since, until }),
  { label: 'Time zone of timestamps', value: 'UTC' },
  { label: 'Sorted by', value: `${config.sort.by}, ${config.sort.direction === 'asc' ? 'ascending' : 'descending'}` },
  { label: 'Results', value: 'The newest version with a stored result for the conversation' },
  { label: 'Transcripts', value: config.transcripts ? 'included' : 'not included' },
  { label: 'Regions', value: config.regions ? 'included' : 'not included' },
  { label: 'Reasoning', value: config.reasoning ? 'included' : 'not included' },
]

export const cellsOf = ({ columns, ...added }: ConversationConfiguration) => cellsOfColumns(columns, added)
