import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { deleteMonitorResults } from './jobs.ts'
import { deleteResultsOf } from './queries.ts'

/** Deletes a deleted monitor's results in a job, because there can be many. */
export const deleteResultsLater = (
  { jobs }: Pick<Deps, 'jobs'>,
  trx: Db,
  org: OrgId,
  { monitorId }: { monitorId: string },
) => jobs.enqueue(trx, deleteMonitorResults, { organizationId: org, monitorId })

/** Deletes the results of conversations that are being erased. */
export const eraseResults = (
  _deps: Deps,
  trx: Db,
  org: OrgId,
  { conversations }: { conversations: { id: string; startedAt: Date }[] },
): Promise<void> => deleteResultsOf(trx, org, conversations)
