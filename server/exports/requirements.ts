import { getAgentGroup } from '../agent-groups/queries.ts'
import { getAgent } from '../agents/queries.ts'
import { getCompany } from '../companies/queries.ts'
import { holdMembership } from '../members/queries.ts'
import { findMonitors } from '../monitors/queries.ts'
import type { Db } from '../platform/db/database.ts'
import { ApiError, invalid, notFound } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { findEndpoint } from '../webhooks/queries.ts'
import type { Configuration } from './configuration.ts'

/** Somebody who asks, or on whose behalf a schedule does. */
export type Asking = Pick<Actor, 'org' | 'userId' | 'features'>

const requireEndpoint = async (trx: Db, { org, userId, features }: Asking, id: string, path: string): Promise<void> => {
  if (!features.exportWebhooks) {
    throw new ApiError('forbidden', 'Export webhooks are switched off for the organization.')
  }
  await holdMembership(trx, org, userId)
  const endpoint = await findEndpoint(trx, org, id)
  if (!endpoint) throw notFound()
  if (endpoint.status !== 'active') {
    throw invalid(path, `names an endpoint that is ${endpoint.status}; it must be active`)
  }
}

type Selected = Pick<Configuration, 'monitors' | 'companyId' | 'agentId' | 'groupId' | 'notificationEndpointId'>

/**
 * Everything that a configuration names must be there, and its endpoint must be one that may be told. `endpointPath` is
 * where the request names it.
 */
export const requireSelected = async (
  trx: Db,
  asking: Asking,
  config: Selected,
  endpointPath = 'config.notificationEndpointId',
): Promise<void> => {
  const { org } = asking
  // First, since a fault of the request comes before what is not there.
  if (config.notificationEndpointId !== undefined) {
    await requireEndpoint(trx, asking, config.notificationEndpointId, endpointPath)
  }
  const ids = config.monitors.map(({ id }) => id)
  if ((await findMonitors(trx, org, ids)).length < ids.length) throw notFound()
  if (config.companyId !== undefined) await getCompany(trx, org, config.companyId)
  if (config.agentId !== undefined) await getAgent(trx, org, config.agentId)
  if (config.groupId !== undefined) await getAgentGroup(trx, org, config.groupId)
}
