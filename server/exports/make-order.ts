import { findNames } from '../filters/names/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import { type Configuration, callsOf, describeConfiguration } from './configuration.ts'
import type { ExportDeps } from './deps.ts'
import type { ObservationOrder, Order } from './generation/order.ts'

type Ordered = { id: string; createdAt: Date; config: object }
type OrderDeps = Pick<ExportDeps, 'db' | 'makeObservationOrder'>

export const makeCallOrder = async (
  { db }: Pick<OrderDeps, 'db'>,
  org: OrgId,
  stored: Ordered,
  key: string,
): Promise<Order> => {
  // Only the endpoint that creates exports writes the configuration, in this format.
  const config = stored.config as Configuration
  const selection = callsOf(config)
  const names = await findNames(db, org, [selection, { monitors: config.monitors }])
  const { format, monitors, match, versionScope, reasoning } = config
  const about = describeConfiguration(config, { id: stored.id, createdAt: stored.createdAt, names })
  return { org, key, format, monitors, match, versionScope, reasoning, selection, about }
}

/** Returns what is needed to generate an export. */
export const makeOrder = (
  deps: OrderDeps,
  org: OrgId,
  { experimentId, ...stored }: Ordered & { experimentId: string | null },
  key: string,
): Promise<Order | ObservationOrder> =>
  experimentId === null
    ? makeCallOrder(deps, org, stored, key)
    : deps.makeObservationOrder(deps, org, { ...stored, experimentId }, key)
