// Delivers the file of a run to a tenant's bucket.
import Type from 'typebox'
import { findExport } from '../exports/queries.ts'
import { refusalOf } from '../exports/requirements.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { type Attempt, defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { BucketError, openBucket, type TenantBucket } from '../platform/outbound/bucket.ts'
import { endRun } from './end-run.ts'
import { getSchedule, lockSchedule } from './queries.ts'
import { findRun, hasDelivered, type ScheduleRun, updateRun } from './runs/queries.ts'
import { openSecret } from './secret.ts'

type Task = { org: OrgId; run: ScheduleRun; attempt: Attempt }

/** Where an attempt may have written the file before it ended without knowing or deleting it. */
const mayLie = ({ attempts, objectKey }: ScheduleRun): string =>
  attempts > 0 && objectKey ? ` A previous attempt may have left ${objectKey} in the bucket.` : ''

const expired = 'The export was deleted before it was delivered, or one of its conversations was erased.'

const end = async (deps: Deps, trx: Db, { org, run }: Pick<Task, 'org' | 'run'>, error: string | undefined) => {
  const schedule = await lockSchedule(trx, org, run.scheduleId)
  const held = await findRun(trx, org, run.id)
  if (!schedule || held?.status !== 'delivering') return
  const ending = error === undefined ? ({ status: 'succeeded' } as const) : ({ status: 'failed', error } as const)
  await endRun(deps, trx, org, { schedule, run: held, end: ending })
}

/** Deletes what may be in the bucket, and returns how the run ends. Throws if a retry may help. */
const takeBack = async (bucket: TenantBucket, objectKey: string): Promise<string> => {
  try {
    await bucket.delete(objectKey)
    return expired
  } catch (error) {
    if (!(error instanceof BucketError && error.isFinal)) throw error
    return `${expired} The key has no permission to delete ${objectKey}, so it is still in the bucket.`
  }
}

const upload = async (deps: Deps, bucket: TenantBucket, task: Task): Promise<string | undefined> => {
  const { db, blobs } = deps
  const { org, run, attempt } = task
  const stored = run.exportId === null ? undefined : await findExport(db, org, run.exportId)
  if (!run.objectKey) return expired
  if (stored?.status !== 'completed' || !stored.blobKey || !stored.sha256) {
    if (run.attempts === 0) return expired
    // Another file may have this name.
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
  // One of its conversations may have been erased during delivery.
  if ((await findExport(db, org, stored.id))?.status === 'completed') return undefined
  const taken = await takeBack(bucket, run.objectKey)
  return run.isMoved ? taken + mayLie(run) : taken
}

/** Safe to run again: the same object is written with the same bytes, or deleted. */
export const deliverRun = defineJob({
  name: 'export-schedule.deliver',
  payload: Type.Object({ organizationId: OrganizationId, runId: Type.String() }),
  // About an hour in all, for an unavailable storage.
  retryLimit: 7,
  retryDelaySeconds: 30,
  timeoutSeconds: 30 * 60,
  run: async (deps: Deps, { organizationId: org, runId }, attempt): Promise<void> => {
    const { db } = deps
    const run = await findRun(db, org, runId)
    if (run?.status !== 'delivering') return
    const { destination, secret } = await getSchedule(db, org, run.scheduleId)
    const refusal =
      destination.type === 's3' && secret !== null
        ? await refusalOf(db, org, { experimentId: null })
        : 'The kind of destination was changed.'
    if (refusal !== undefined || destination.type !== 's3' || secret === null) {
      return attempt.finish((trx) => end(deps, trx, { org, run }, `${refusal}${mayLie(run)}`))
    }
    // Marked after the destination was read: later changes of it mark the run for the next attempt.
    const { isMoved } = await attempt.transaction((trx) => updateRun(trx, org, runId, { attempts: run.attempts + 1 }))
    const task = { org, run: { ...run, isMoved }, attempt }
    const bucket = await openBucket(deps.outbound, {
      ...destination,
      secretAccessKey: openSecret(deps.secrets, org, run.scheduleId, secret),
    })
    try {
      const fault = await upload(deps, bucket, task)
      await attempt.finish((trx) => end(deps, trx, task, fault))
    } catch (error) {
      if (!(error instanceof BucketError)) throw error
      if (error.isFinal) return await attempt.finish((trx) => end(deps, trx, task, error.message + mayLie(run)))
      await attempt.transaction((trx) => updateRun(trx, org, runId, { error: error.message }))
      throw error
    } finally {
      bucket.close()
    }
  },
  onFailed: async (deps, { organizationId: org, runId }, trx, error) => {
    const run = await findRun(trx, org, runId)
    const text = error instanceof BucketError ? error.message : 'The delivery failed. Ask the operator of the service.'
    if (run) await end(deps, trx, { org, run }, text + mayLie(run))
  },
})
