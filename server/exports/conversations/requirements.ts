import { findNames } from '../../filters/names/queries.ts'
import { findMonitors } from '../../monitors/queries.ts'
import type { Db } from '../../platform/db/database.ts'
import { notFoundAt } from '../../platform/errors.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { requireEntitlement } from '../../platform/identity/entitlements.ts'
import { type Asking, findMissingEndpoint, requireFewColumns } from '../requirements.ts'
import { type ConversationConfiguration, entitlementsOf, idsOf } from './configuration.ts'
import type { ConversationExportConfig } from './schema.ts'

type Options = {
  /** The original configuration from the request, for the paths in errors. */
  given?: ConversationExportConfig
  path?: string
  endpointPath?: string
}

/**
 * Throws if the configuration refers to resources that do not exist (listing each path), if the organization lacks an
 * entitlement for the columns, if the endpoint can't be notified, or if the scorecards have too many columns.
 */
export const requireListed = async (
  trx: Db,
  asking: Asking & Pick<Actor, 'entitlements'>,
  config: ConversationConfiguration,
  { given = config, path = 'config', endpointPath = `${path}.notificationEndpointId` }: Options = {},
): Promise<void> => {
  for (const entitlement of entitlementsOf(config)) requireEntitlement(asking, entitlement)
  const { ofFilter, monitors } = idsOf(given, path)
  const asMonitors = monitors.map(({ id }) => ({ id, result: 'all' as const }))
  const found = await findNames(trx, asking.org, [config.filter, { monitors: asMonitors }])
  const missing = [...ofFilter, ...monitors].filter(({ id }) => !found.has(id)).map((named) => named.path)
  missing.push(...(await findMissingEndpoint(trx, asking, config.notificationEndpointId, endpointPath)))
  if (missing.length > 0) throw notFoundAt(missing)
  if (config.results.length > 0)
    requireFewColumns(await findMonitors(trx, asking.org, config.results), `${path}.results`)
}
