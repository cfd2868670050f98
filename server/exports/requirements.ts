import { findAgentGroup } from '../agent-groups/queries.ts'
import { findAgent } from '../agents/queries.ts'
import { findCompanyIds } from '../companies/queries.ts'
import { lockMembershipShared } from '../members/queries.ts'
import { findMonitors, type StoredMonitor } from '../monitors/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError, invalid, notFoundAt } from '../platform/errors.ts'
import type { Actor, Entitlement } from '../platform/identity/actor.ts'
import { entitlementOff } from '../platform/identity/entitlements.ts'
import { findEndpoint } from '../webhooks/queries.ts'
import type { Configuration } from './configuration.ts'
import { findTooManyColumns } from './conversations/columns.ts'
import { type ConversationConfiguration, entitlementsOf } from './conversations/configuration.ts'
import type { StoredExport } from './queries.ts'

/**
 * Returns the entitlements that an export needs. Exports of experiments do not need monitors, and exports of
 * conversations only need them if they show monitor results.
 */
const neededBy = ({ kind, config }: Pick<StoredExport, 'kind' | 'config'>): Entitlement[] => {
  if (kind === 'experiment') return []
  // Only the endpoint that creates exports writes the configuration, in this format.
  return kind === 'monitor' ? ['monitors'] : entitlementsOf(config as unknown as ConversationConfiguration)
}

/** Returns the reason why exports can't currently be created or downloaded, or undefined if they can be. */
export const refusalOf = async (
  db: Db,
  org: OrgId,
  stored: Pick<StoredExport, 'kind' | 'config'>,
): Promise<string | undefined> => {
  const { status, entitlements, features } = await getOrganization(db, org)
  if (status === 'suspended') return 'The organization is suspended.'
  const lacking = neededBy(stored).find((entitlement) => !entitlements[entitlement])
  if (lacking) return entitlementOff[lacking]
  return features.monitorExports ? undefined : 'Exports are disabled for this organization.'
}

/** The person who requests the export, or the owner of its schedule. */
export type Asking = Pick<Actor, 'org' | 'userId' | 'features'>

const requireEndpoint = async (trx: Db, { org, userId, features }: Asking, id: string, path: string) => {
  if (!features.exportWebhooks) {
    throw new ApiError('forbidden', 'Export webhooks are disabled for this organization.')
  }
  await lockMembershipShared(trx, org, userId)
  const endpoint = await findEndpoint(trx, org, id)
  if (endpoint && endpoint.status !== 'active') {
    throw invalid(path, `must be an active webhook endpoint, but its status is ${endpoint.status}`)
  }
  return endpoint
}

/** Returns the path of the endpoint in the request if the endpoint does not exist. Throws if it can't be notified. */
export const findMissingEndpoint = async (
  trx: Db,
  asking: Asking,
  id: string | undefined,
  path: string,
): Promise<string[]> => (id !== undefined && !(await requireEndpoint(trx, asking, id, path)) ? [path] : [])

/**
 * Throws if the scorecards among the monitors have too many columns. `path` is the path of the monitors in the request.
 */
export const requireFewColumns = (monitors: StoredMonitor[], path: string): void => {
  const fault = findTooManyColumns(monitors)
  if (fault !== undefined) throw invalid(path, fault)
}

type Selected = Pick<Configuration, 'monitors' | 'companyId' | 'agentId' | 'groupId' | 'notificationEndpointId'>

/**
 * Throws if the configuration refers to resources that do not exist (listing each path), if the endpoint can't be
 * notified, or if the scorecards have too many columns. `endpointPath` is the path of the endpoint in the request.
 */
export const requireSelected = async (
  trx: Db,
  asking: Asking,
  { monitors, companyId, agentId, groupId, notificationEndpointId }: Selected,
  endpointPath = 'config.notificationEndpointId',
): Promise<void> => {
  const { org } = asking
  const missing: string[] = []
  const requireExisting = async (id: string | undefined, path: string, find: (id: string) => Promise<unknown>) => {
    if (id !== undefined && !(await find(id))) missing.push(path)
  }
  const ids = monitors.map(({ id }) => id)
  const found = await findMonitors(trx, org, ids)
  const known = new Set(found.map(({ id }) => id))
  monitors.forEach(({ id }, index) => {
    if (!known.has(id)) missing.push(`config.monitors[${index}].id`)
  })
  await requireExisting(companyId, 'config.companyId', async (id) => (await findCompanyIds(trx, org, [id])).length > 0)
  await requireExisting(agentId, 'config.agentId', (id) => findAgent(trx, org, id))
  await requireExisting(groupId, 'config.groupId', (id) => findAgentGroup(trx, org, id))
  missing.push(...(await findMissingEndpoint(trx, asking, notificationEndpointId, endpointPath)))
  if (missing.length > 0) throw notFoundAt(missing)
  requireFewColumns(found, 'config.monitors')
}
