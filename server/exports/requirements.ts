import { findAgentGroup } from '../agent-groups/queries.ts'
import { findAgent } from '../agents/queries.ts'
import { findCompanyIds } from '../companies/queries.ts'
import { lockMembershipShared } from '../members/queries.ts'
import { findMonitors } from '../monitors/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { ApiError, invalid, notFoundAt } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { findEndpoint } from '../webhooks/queries.ts'
import type { Configuration } from './configuration.ts'

/**
 * Returns why exports can't be created or downloaded at this time, or undefined if they can. An export of an experiment
 * does not need monitors.
 */
export const refusalOf = async (
  db: Db,
  org: OrgId,
  { experimentId }: { experimentId: string | null },
): Promise<string | undefined> => {
  const { status, entitlements, features } = await getOrganization(db, org)
  if (status === 'suspended') return 'The organization is suspended.'
  if (experimentId === null && !entitlements.monitors) return 'Your organization needs the Monitors entitlement.'
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

type Selected = Pick<Configuration, 'monitors' | 'companyId' | 'agentId' | 'groupId' | 'notificationEndpointId'>

/**
 * Throws if the configuration refers to something that does not exist, listing each path, or if the endpoint can't be
 * notified. `endpointPath` is the path of the endpoint in the request.
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
  const found = new Set(
    (
      await findMonitors(
        trx,
        org,
        monitors.map(({ id }) => id),
      )
    ).map(({ id }) => id),
  )
  monitors.forEach(({ id }, index) => {
    if (!found.has(id)) missing.push(`config.monitors[${index}].id`)
  })
  await requireExisting(companyId, 'config.companyId', async (id) => (await findCompanyIds(trx, org, [id])).length > 0)
  await requireExisting(agentId, 'config.agentId', (id) => findAgent(trx, org, id))
  await requireExisting(groupId, 'config.groupId', (id) => findAgentGroup(trx, org, id))
  await requireExisting(notificationEndpointId, endpointPath, (id) => requireEndpoint(trx, asking, id, endpointPath))
  if (missing.length > 0) throw notFoundAt(missing)
}
