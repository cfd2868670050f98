import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { findExperimentOfProvider, listExperimentsOfMonitor } from './queries.ts'

/**
 * Prevents the deletion of a monitor. Throws if an experiment measures the monitor, measures a scorecard version that
 * uses it, or still accepts its late results.
 */
export const refuseWhileMeasured = async (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { monitorId }: { monitorId: string },
): Promise<void> => {
  const [experiment] = await listExperimentsOfMonitor(trx, org, monitorId)
  if (!experiment) return
  const { name, status, isByScorecard } = experiment
  const measured = isByScorecard ? 'a scorecard version that uses this monitor' : 'this monitor'
  const running = `The experiment “${name}” measures ${measured}. Finish the experiment first.`
  const finished = `The experiment “${name}” accepts late results of ${measured} for up to a week after it finished. Try again later.`
  throw new ApiError('conflict', status === 'running' ? running : finished)
}

/** Prevents the deletion of a model provider: throws if an experiment has pinned a monitor version that uses it. */
export const refuseWhilePinned = async (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { providerId, name }: { providerId: string; name: string },
): Promise<void> => {
  const experiment = await findExperimentOfProvider(trx, org, providerId)
  if (!experiment) return
  throw new ApiError(
    'conflict',
    `The experiment “${experiment.name}” uses “${name}” until its last results arrive. Finish the experiment first.`,
  )
}
