import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { listExperimentsOfMonitor } from './queries.ts'

/**
 * Throws if an experiment measures the monitor or still accepts its late results, so that the monitor is not deleted.
 */
export const refuseWhileMeasured = async (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { monitorId }: { monitorId: string },
): Promise<void> => {
  const [experiment] = await listExperimentsOfMonitor(trx, org, monitorId)
  if (!experiment) return
  const { name, status } = experiment
  const running = `The experiment “${name}” measures this monitor. Finish the experiment first.`
  const finished = `The experiment “${name}” accepts late results of this monitor for up to a week after it finished. Try again later.`
  throw new ApiError('conflict', status === 'running' ? running : finished)
}
