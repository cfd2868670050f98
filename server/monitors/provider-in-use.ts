import { instanceFault } from '../model-providers/instance.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { listMonitorsOfProvider } from './queries.ts'

const mostNamed = 10

const join = (names: string[], others: number): string =>
  others > 0 ? `${names.join(', ')}, and ${others} more` : names.join(', ')

/** Throws if monitors use the model provider, because deleting it would break them. */
export const refuseWhileUsed = async (
  { config }: Deps,
  trx: Db,
  org: OrgId,
  { providerId, name, isDefault }: { providerId: string; name: string; isDefault: boolean },
): Promise<void> => {
  // A model without a provider belongs to the operator, if the operator has one.
  const isForAnyModel = instanceFault(config.judge, 'any') !== undefined
  const all = await listMonitorsOfProvider(trx, org, { providerId, isDefault, isForAnyModel })
  if (all.length === 0) return
  const listed = all.slice(0, mostNamed)
  const names = join(
    listed.map(({ name: monitor, isCurrent, version }) =>
      isCurrent ? `“${monitor}”` : `“${monitor}” (version ${version}, which a scorecard uses)`,
    ),
    all.length - listed.length,
  )
  const how = isDefault ? ', or make another provider the default,' : ''
  throw new ApiError('conflict', `Monitors use “${name}”: ${names}. Choose another model for them${how} first.`, {
    monitors: listed.map((monitor) => ({ id: monitor.id, name: monitor.name })),
  })
}
