import Type from 'typebox'
import type { Deps } from '../platform/deps.ts'
import { defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { deleteMonitor, deleteResultsOfMonitor } from './queries.ts'

const batchSize = 5_000

/**
 * Deletes the results of a deleted monitor, and finally the monitor. Each batch is its own transaction. An interrupted
 * job continues with the next run.
 */
export const deleteMonitorResults = defineJob({
  name: 'monitor.delete-results',
  payload: Type.Object({ organizationId: OrganizationId, monitorId: Type.String() }),
  timeoutSeconds: 60 * 60,
  concurrency: 2,
  run: async (_deps: Deps, { organizationId, monitorId }, attempt) => {
    const org = organizationId
    let last: Awaited<ReturnType<typeof deleteResultsOfMonitor>>
    do {
      attempt.signal.throwIfAborted()
      const after = last
      last = await attempt.transaction((trx) =>
        deleteResultsOfMonitor(trx, org, { monitorId, limit: batchSize, after }),
      )
    } while (last !== undefined)
    await attempt.finish((trx) => deleteMonitor(trx, org, monitorId))
  },
})
