import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { ObservationOrder } from './generation/order.ts'

type StoredOrder = { id: string; experimentId: string; createdAt: Date; config: object }

/** Returns the contents of an experiment's export. `server/experiments` implements it. */
type MakeObservationOrder = (
  deps: Pick<Deps, 'db'>,
  org: OrgId,
  stored: StoredOrder,
  key: string,
) => Promise<ObservationOrder>

export type ExportDeps = Deps & { makeObservationOrder: MakeObservationOrder }
