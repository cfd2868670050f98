import { explainFilter } from '../filters/explain.ts'
import { faultsOf as filterFaultsOf, parseFilter } from '../filters/filter.ts'
import type { Selection } from '../filters/queries.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { findTimeZone, timeZoneFault } from '../platform/time-zone.ts'
import type { MonitorExportConfig } from './schema.ts'

type OptionalSetting = 'versionScope' | 'format' | 'reasoning' | 'match' | 'metadata'
type Monitor = Required<MonitorExportConfig['monitors'][number]>

/** A validated and normalized configuration, including defaults. */
export type Configuration = Omit<MonitorExportConfig, OptionalSetting | 'monitors'> &
  Required<Pick<MonitorExportConfig, OptionalSetting>> & { monitors: Monitor[] }

/** Returns the filter of the calls. It does not include the monitor conditions, which select the results to count. */
export const callsOf = (config: Configuration): Selection =>
  parseFilter({
    since: config.since,
    until: config.until,
    ...(config.companyId !== undefined && { companyIds: [config.companyId] }),
    ...(config.agentId !== undefined && { agentIds: [config.agentId] }),
    ...(config.groupId !== undefined && { agentGroupIds: [config.groupId] }),
    metadata: config.metadata,
  })

const faultsOf = ({ monitors, since, until, timezone, metadata = [] }: MonitorExportConfig): Issue[] => {
  const faults = filterFaultsOf({ monitors, since, until, metadata })
  if (findTimeZone(timezone) === undefined) faults.push({ path: 'timezone', message: timeZoneFault })
  return faults
}

/**
 * Validates rules that a schema cannot express, and reports all errors at once. `path` is the path of the configuration
 * in the request.
 */
export const parseConfiguration = (given: MonitorExportConfig, path: string): Configuration => {
  const faults = faultsOf(given)
  if (faults.length > 0) throw invalidAll(faults.map((fault) => ({ ...fault, path: `${path}.${fault.path}` })))
  const id = <N extends 'companyId' | 'agentId' | 'groupId' | 'notificationEndpointId'>(name: N) =>
    given[name] === undefined ? {} : ({ [name]: given[name].toLowerCase() } as { [K in N]: string })
  return {
    monitors: given.monitors.map(({ id, result = 'all' }) => ({ id: id.toLowerCase(), result })),
    since: new Date(given.since).toISOString(),
    until: new Date(given.until).toISOString(),
    timezone: findTimeZone(given.timezone) ?? given.timezone,
    versionScope: given.versionScope ?? 'historical',
    format: given.format ?? 'csv',
    reasoning: given.reasoning ?? false,
    match: given.match ?? 'all',
    ...id('companyId'),
    ...id('agentId'),
    ...id('groupId'),
    metadata: parseFilter({ metadata: given.metadata ?? [] }).metadata ?? [],
    ...id('notificationEndpointId'),
  }
}

export const localTime = (instant: string, timeZone: string): string =>
  new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' }).format(new Date(instant))

const scopes = {
  historical: 'The newest version with a stored result for the call',
  current: 'Only versions that were current when the export was created',
}

/** Describes the configuration in words, for people who read the file. `names` maps IDs to names. */
export const describeConfiguration = (
  config: Configuration,
  { id, createdAt, names }: { id: string; createdAt: Date; names: ReadonlyMap<string, string> },
): { label: string; value: string }[] => {
  const { since, until, timezone, monitors, match } = config
  const { since: _since, until: _until, ...calls } = callsOf(config)
  const asking = monitors.filter(({ result }) => result !== 'all')
  return [
    { label: 'Export', value: id },
    { label: 'Requested', value: createdAt.toISOString() },
    { label: 'Calls started', value: `From ${since} to before ${until}` },
    { label: `In ${timezone}`, value: `From ${localTime(since, timezone)} to before ${localTime(until, timezone)}` },
    { label: 'Time zone of timestamps', value: 'UTC' },
    { label: 'Calls', value: explainFilter(calls, names) },
    {
      label: 'Result conditions',
      value: asking.length === 0 ? 'any result' : explainFilter({ monitors: asking, match }, names),
    },
    { label: 'Monitor versions', value: scopes[config.versionScope] },
    { label: 'Reasoning', value: config.reasoning ? 'included' : 'not included' },
  ]
}
