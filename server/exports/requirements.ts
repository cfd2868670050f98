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

const requireEndpoint = async (trx: Db, { org, userId, features }: Actor, id: string): Promise<void> => {
  if (!features.exportWebhooks) {
    throw new ApiError('forbidden', 'Export webhooks are switched off for the organization.')
  }
  await holdMembership(trx, org, userId)
  const endpoint = await findEndpoint(trx, org, id)
  if (!endpoint) throw notFound()
  if (endpoint.status !== 'active') {
    throw invalid('config.notificationEndpointId', `names an endpoint that is ${endpoint.status}; it must be active`)
  }
}

/** Everything that a configuration names must be there, and its endpoint must be one that may be told. */
export const requireSelected = async (trx: Db, actor: Actor, config: Configuration): Promise<void> => {
  const { org } = actor
  // First, since a fault of the request comes before what is not there.
  if (config.notificationEndpointId !== undefined) await requireEndpoint(trx, actor, config.notificationEndpointId)
  const ids = config.monitors.map(({ id }) => id)
  if ((await findMonitors(trx, org, ids)).length < ids.length) throw notFound()
  if (config.companyId !== undefined) await getCompany(trx, org, config.companyId)
  if (config.agentId !== undefined) await getAgent(trx, org, config.agentId)
  if (config.groupId !== undefined) await getAgentGroup(trx, org, config.groupId)
}
