import { findExport } from '../exports/queries.ts'
import type { OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import type { Attempt } from '../platform/jobs/define-job.ts'
import { BucketError, type TenantBucket } from '../platform/outbound/bucket.ts'
import { hasDelivered, type ScheduleRun } from './runs/queries.ts'

export type Delivery = { org: OrgId; run: ScheduleRun; attempt: Attempt }

/** The possible location of the file after an attempt that ended without deleting it. */
export const mayLie = ({ attempts, objectKey }: ScheduleRun): string =>
  attempts > 0 && objectKey ? ` A previous attempt may have left ${objectKey} in the bucket.` : ''

const expired = 'The export was deleted before it was delivered, or one of its conversations was erased.'

/** Deletes the object, which may not exist, and returns the outcome of the run. Throws if a retry may help. */
const takeBack = async (bucket: TenantBucket, objectKey: string): Promise<string> => {
  try {
    await bucket.delete(objectKey)
    return expired
  } catch (error) {
    if (!(error instanceof BucketError && error.isFinal)) throw error
    return `${expired} The key has no permission to delete ${objectKey}, so it is still in the bucket.`
  }
}

export const upload = async (deps: Deps, bucket: TenantBucket, task: Delivery): Promise<string | undefined> => {
  const { db, blobs } = deps
  const { org, run, attempt } = task
  const stored = run.exportId === null ? undefined : await findExport(db, org, run.exportId)
  if (!run.objectKey) return expired
  if (stored?.status !== 'completed' || !stored.blobKey || !stored.sha256) {
    if (run.attempts === 0) return expired
    // A file with this name may belong to another run or be in another bucket.
    const mayBeOther = run.isMoved || (await hasDelivered(db, org, run.scheduleId, run.objectKey))
    return mayBeOther ? expired + mayLie(run) : takeBack(bucket, run.objectKey)
  }
  const content = await blobs.get(stored.blobKey)
  if (!content) return `The file of the export is missing from the file storage.${mayLie(run)}`
  const { stream, contentType } = content
  try {
    await bucket.put(run.objectKey, { stream, contentType, sha256: stored.sha256 }, attempt.signal)
  } finally {
    stream.destroy()
  }
  // One of the conversations may have been erased during delivery.
  if ((await findExport(db, org, stored.id))?.status === 'completed') return undefined
  const taken = await takeBack(bucket, run.objectKey)
  return run.isMoved ? taken + mayLie(run) : taken
}
