// Applies the end of an export to the run that requested it.

import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Events } from '../platform/reactions.ts'
import { deliverRun } from './deliver.ts'
import { endRun } from './end-run.ts'
import { objectKeyOf } from './file-name.ts'
import { configOf } from './parse-schedule.ts'
import { lockSchedule } from './queries.ts'
import { findRunOfExport, updateRun } from './runs/queries.ts'

const words: Record<string, string> = {
  too_many_calls: 'The period has more than 100,000 calls.',
  generation_failed: 'The export could not be generated.',
  storage_unavailable: 'The file storage was unavailable.',
  timed_out: 'The export timed out.',
  cancelled: 'The export was cancelled.',
}

/**
 * Runs in the transaction that ends the export. Its webhook notification is queued with it and delivered separately.
 */
export const followExport = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  ended: Events['exportEnded'],
): Promise<void> => {
  const { id: exportId, scheduleId, status, errorCode } = ended
  if (scheduleId === null) return
  const schedule = await lockSchedule(trx, org, scheduleId)
  const run = await findRunOfExport(trx, org, exportId)
  if (!schedule || run?.status !== 'generating') return
  if (status !== 'completed') {
    const error = words[errorCode ?? ''] ?? 'The export ended without a file.'
    return endRun(deps, trx, org, { schedule, run, end: { status: 'failed', error } })
  }
  const { destination } = schedule
  if (destination.type === 'webhook') return endRun(deps, trx, org, { schedule, run, end: { status: 'succeeded' } })
  const objectKey = objectKeyOf(destination, { schedule, config: configOf(ended), run })
  await updateRun(trx, org, run.id, { status: 'delivering', objectKey })
  await deps.jobs.enqueue(trx, deliverRun, { organizationId: org, runId: run.id })
}
