// Checks that all resources in a launch exist in the organization.

import { findAgents, findVersions } from '../agents/queries.ts'
import { findCompanyIds } from '../companies/queries.ts'
import { isPlain } from '../filters/resolve.ts'
import { findMonitors, lockMonitorsShared } from '../monitors/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { type Issue, invalidAll } from '../platform/errors.ts'
import { unitFaults } from './assignment-unit.ts'
import { cohortFaults, companyIdsOf } from './cohort.ts'
import { lockGroupShared } from './groups/queries.ts'
import { measureFaults } from './measures.ts'
import type { ExperimentLaunch } from './schema.ts'

type Monitor = Awaited<ReturnType<typeof findMonitors>>[number]

const isDisabled = 'must be an enabled monitor; enable it first'
const isUnknown = 'must exist in this organization'
/**
 * A different embedding model would change which conversations count, so the experiment would no longer measure the
 * same thing.
 */
const comparesMeaning = 'must not have a scope with similarTo, which depends on the embedding model'

type Monitors = { monitors: Monitor[]; issues: Issue[] }

/** Locks the monitors in the given order until the transaction ends. Throws unless they are distinct and enabled. */
const holdSoundMonitors = async (trx: Db, org: OrgId, ids: string[], path: string): Promise<Monitors> => {
  const wanted = ids.map((id) => id.toLowerCase())
  await lockMonitorsShared(trx, org, wanted)
  const found = new Map((await findMonitors(trx, org, wanted)).map((monitor) => [monitor.id, monitor]))
  const issues: Issue[] = []
  const monitors = wanted.flatMap((id, at) => {
    const monitor = found.get(id)
    const message =
      wanted.indexOf(id) < at ? 'is listed twice' : !monitor ? isUnknown : monitor.enabled ? undefined : isDisabled
    if (message !== undefined) issues.push({ path: `${path}[${at}]`, message })
    return monitor ?? []
  })
  return { monitors, issues }
}

export const requireMonitors = async (trx: Db, org: OrgId, ids: string[], path: string): Promise<Monitor[]> => {
  const { monitors, issues } = await holdSoundMonitors(trx, org, ids, path)
  if (issues.length > 0) throw invalidAll(issues)
  return monitors
}

/** Checks the agent and its versions. */
const armFaults = async (trx: Db, org: OrgId, { agentId, armAVersionId, armBVersionId }: ExperimentLaunch) => {
  const [agent] = await findAgents(trx, org, { ids: [agentId.toLowerCase()], externalIds: [] })
  if (!agent) return [{ path: 'agentId', message: isUnknown }]
  const ids = [armAVersionId, armBVersionId].map((id) => id.toLowerCase())
  const found = await findVersions(trx, org, { agentIds: [agentId.toLowerCase()], ids, labels: [], hashes: [] })
  const issues: Issue[] = []
  for (const [at, path] of (['armAVersionId', 'armBVersionId'] as const).entries()) {
    if (!found.some(({ id }) => id === ids[at])) issues.push({ path, message: 'must be a version of this agent' })
  }
  if (ids[0] === ids[1]) issues.push({ path: 'armBVersionId', message: 'must differ from the version of arm A' })
  return issues
}

const companyFaults = async (trx: Db, org: OrgId, { cohortFilters = [] }: ExperimentLaunch): Promise<Issue[]> => {
  const named = companyIdsOf(cohortFilters)
  const found = await findCompanyIds(
    trx,
    org,
    named.map(({ id }) => id),
  )
  return named.filter(({ id }) => !found.includes(id)).map(({ path }) => ({ path, message: isUnknown }))
}

const groupFaults = async (trx: Db, org: OrgId, launch: ExperimentLaunch): Promise<Issue[]> => {
  const { monitorGroupId, newMonitorGroupName, outcomeMetricIds } = launch
  if (monitorGroupId === undefined) return []
  if (newMonitorGroupName !== undefined) {
    return [{ path: 'newMonitorGroupName', message: 'cannot be combined with monitorGroupId' }]
  }
  const group = await lockGroupShared(trx, org, monitorGroupId.toLowerCase())
  if (!group) return [{ path: 'monitorGroupId', message: isUnknown }]
  const spelled = (ids: string[]) =>
    ids
      .map((id) => id.toLowerCase())
      .sort()
      .join()
  if (spelled(group.metricIds) === spelled(outcomeMetricIds)) return []
  return [{ path: 'outcomeMetricIds', message: 'must equal the current metricIds of the group' }]
}

const ownFaults = (launch: ExperimentLaunch): Issue[] => {
  const { stableRoutingConfirmed, outcomeMetricIds, primaryMetricId, cohortFilters = [], assignmentUnit } = launch
  const issues: Issue[] = []
  if (!stableRoutingConfirmed) {
    issues.push({
      path: 'stableRoutingConfirmed',
      message: 'must be true: without stable routing, the results are not valid',
    })
  }
  if (!outcomeMetricIds.some((id) => id.toLowerCase() === primaryMetricId.toLowerCase())) {
    issues.push({ path: 'primaryMetricId', message: 'must be one of outcomeMetricIds' })
  }
  return [...issues, ...cohortFaults(cohortFilters), ...(assignmentUnit ? unitFaults(assignmentUnit) : [])]
}

/** Returns the monitors to measure if the launch is valid. Otherwise, reports all errors at once. */
export const requireSound = async (trx: Db, org: OrgId, launch: ExperimentLaunch): Promise<Monitor[]> => {
  const issues = [
    ...ownFaults(launch),
    ...(await armFaults(trx, org, launch)),
    ...(await companyFaults(trx, org, launch)),
    ...(await groupFaults(trx, org, launch)),
  ]
  const found = await holdSoundMonitors(trx, org, launch.outcomeMetricIds, 'outcomeMetricIds')
  const { outcomeMeasures = [], outcomeMetricIds } = launch
  outcomeMetricIds.forEach((id, at) => {
    const monitor = found.monitors.find((one) => one.id === id.toLowerCase())
    if (monitor && !isPlain(monitor.scope)) issues.push({ path: `outcomeMetricIds[${at}]`, message: comparesMeaning })
  })
  issues.push(...found.issues, ...measureFaults(found.monitors, outcomeMeasures, outcomeMetricIds))
  if (issues.length > 0) throw invalidAll(issues)
  return found.monitors
}
