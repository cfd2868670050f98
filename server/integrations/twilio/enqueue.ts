import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import type { Announced } from './announced.ts'
import { pullRecording } from './fetch-recording.ts'
import { pullTranscript } from './jobs.ts'

type Pull = { organizationId: OrgId; deliveryId: string }

/**
 * Queues a job that fetches the data announced by a delivery, in the transaction that stores the delivery as pending.
 */
export const enqueuePull = async ({ jobs }: Pick<Deps, 'jobs'>, trx: Db, announced: Announced, pull: Pull) => {
  if (announced === 'recording') await jobs.enqueue(trx, pullRecording, pull)
  else await jobs.enqueue(trx, pullTranscript, pull)
}
