import { parseFilter } from '../filters/filter.ts'
import { findNames } from '../filters/names/queries.ts'
import { resolve } from '../filters/resolve.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { type Configuration, callsOf, describeConfiguration } from './configuration.ts'
import { makeConversationOrder } from './conversations/make-order.ts'
import type { ExportDeps } from './deps.ts'
import type { AnyOrder, Order } from './generation/order.ts'
import type { Previewed } from './preview.ts'
import type { StoredExport } from './queries.ts'

type Ordered = { id: string; createdAt: Date; config: object }
type OrderDeps = Pick<ExportDeps, 'db' | 'meanings' | 'makeObservationOrder'>

const makeCallOrder = async (
  deps: Pick<OrderDeps, 'db' | 'meanings'>,
  org: OrgId,
  stored: Ordered,
  key: string,
): Promise<Order> => {
  // Only the endpoint that creates exports writes the configuration, in this format.
  const config = stored.config as Configuration
  const selection = await resolve(deps, org, callsOf(config))
  const names = await findNames(deps.db, org, [selection, { monitors: config.monitors }])
  const { format, monitors, match, versionScope, reasoning } = config
  const about = describeConfiguration(config, { id: stored.id, createdAt: stored.createdAt, names })
  return { org, key, format, monitors, match, versionScope, reasoning, selection, about }
}

/** Returns everything that is needed to generate an export. */
export const makeOrder = (deps: OrderDeps, org: OrgId, stored: StoredExport, key: string): Promise<AnyOrder> => {
  const { kind, experimentId } = stored
  if (kind === 'conversation') return makeConversationOrder(deps, org, stored, key)
  if (experimentId === null) return makeCallOrder(deps, org, stored, key)
  return deps.makeObservationOrder(deps, org, { ...stored, experimentId }, key)
}

/** Returns the contents that an export would have if it were created now. */
export const previewCalls = async (
  deps: Pick<Deps, 'db' | 'clock' | 'meanings'>,
  org: OrgId,
  config: Configuration,
): Promise<Previewed> => {
  const order = await makeCallOrder(deps, org, { id: '', createdAt: deps.clock.now(), config }, '')
  const { monitors, match, versionScope: scope } = config
  const selection = await resolve(deps, org, { ...callsOf(config), ...parseFilter({ monitors, match }) })
  return { order, selection, scope }
}
