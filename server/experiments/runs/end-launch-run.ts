// When an experiment stops accepting results: nothing that arrives later changes it.

import type { Db, OrgId } from '../../platform/db/database.ts'
import { readOutcome } from '../observations/exact-sums.ts'
import { hasChanges } from '../observations/queries.ts'
import { listOutcomes, type StoredExperiment } from '../queries.ts'
import { listUnfinishedRuns, updateRun } from './queries.ts'

/** How long a finished experiment waits for late results. */
const patienceMs = 7 * 24 * 60 * 60 * 1_000

/**
 * The caller has locked the experiment. Ends its first run once it is finished and nothing is missing, or after a
 * timeout.
 */
export const endLaunchRun = async (
  trx: Db,
  org: OrgId,
  { id, finishedAt }: Pick<StoredExperiment, 'id' | 'finishedAt'>,
  now: Date,
): Promise<void> => {
  if (finishedAt === null) return
  const run = (await listUnfinishedRuns(trx, org, id)).find(({ trigger }) => trigger === 'launch')
  if (!run || (await hasChanges(trx, org, id))) return
  const counts = (await listOutcomes(trx, org, id)).flatMap(({ sums }) => {
    const { a, b } = readOutcome(sums).counts
    return [a, b]
  })
  const isLacking = counts.some(({ pending, missing }) => pending + missing > 0)
  if (isLacking && now.getTime() - finishedAt.getTime() < patienceMs) return
  await updateRun(trx, org, id, run.id, { status: 'completed', finishedAt: now })
}
