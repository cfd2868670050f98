// Manages the lifecycle of a run that measures stored recordings: it is created, run by its job, and finished or cancelled.

import Type from 'typebox'
import { findRecording } from '../../conversations/recordings/queries.ts'
import type { Selection } from '../../filters/queries.ts'
import { resolve } from '../../filters/resolve.ts'
import { getOrganization } from '../../organizations/queries.ts'
import { recordAudit } from '../../platform/audit/record.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import type { Actor } from '../../platform/identity/actor.ts'
import { newId } from '../../platform/ids.ts'
import { type Attempt, defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import type { SoundDeps } from '../deps.ts'
import { measureStored } from '../measure-stored.ts'
import type { StoredSound } from '../queries.ts'
import { storeOutcome } from '../settle.ts'
import {
  advanceRun,
  countRecordings,
  getRun,
  getStoredBefore,
  insertRun,
  listMatching,
  listNext,
  lockRun,
  lockUnfinishedCount,
  type Outcome,
  type StoredRun,
  updateRun,
} from './queries.ts'
import { canMove, type RunStatus } from './run-status.ts'

/** After this time, the job yields to others and is queued again. */
const turnMs = 10_000
const pageSize = 200
/** The maximum number of unfinished runs of an organization. */
const mostUnfinished = 20

type CreateDeps = Pick<
  SoundDeps,
  'db' | 'jobs' | 'clock' | 'meanings' | 'whyNothingIsTranscribed' | 'cancelTranscriptions' | 'estimateTranscriptions'
>

const targetOf = (id: string) => ({ type: 'soundRun', id })

const turnedOff = 'The organization does not measure recordings. Turn it on in the settings first.'

type RunRequest = { filter: Selection; again: boolean; transcribe: boolean }

/** Throws if recordings can't be measured. If the run also transcribes, throws if they can't be transcribed. */
const requirePossible = async (
  { db, whyNothingIsTranscribed }: CreateDeps,
  org: OrgId,
  { transcribe }: RunRequest,
): Promise<void> => {
  if (!(await getOrganization(db, org)).measureSound) throw new ApiError('conflict', turnedOff)
  const reason = transcribe ? await whyNothingIsTranscribed(db, org) : undefined
  if (reason !== undefined) throw new ApiError('conflict', reason)
}

/** Estimates a run without creating it. */
export const estimateRun = async (deps: CreateDeps, org: OrgId, request: RunRequest) => {
  const { db, estimateTranscriptions } = deps
  const { transcribe } = request
  await requirePossible(deps, org, request)
  const filter = await resolve(deps, org, request.filter)
  const storedBefore = await getStoredBefore(db, org)
  const total = await countRecordings(db, org, filter, { ...request, storedBefore })
  return { total, transcriptions: transcribe ? await estimateTranscriptions(db, org, filter) : null }
}

export const createRun = async (deps: CreateDeps, actor: Actor, request: RunRequest): Promise<StoredRun> => {
  const { db, jobs, clock } = deps
  const { org } = actor
  const { filter, again, transcribe } = request
  await requirePossible(deps, org, request)
  const storedBefore = await getStoredBefore(db, org)
  const resolved = await resolve(deps, org, filter)
  const total = await countRecordings(db, org, resolved, { again, transcribe, storedBefore })
  return db.transaction().execute(async (trx) => {
    if ((await lockUnfinishedCount(trx, org)) >= mostUnfinished) {
      throw new ApiError('conflict', `${mostUnfinished} runs are in progress. Wait until one has finished.`)
    }
    const id = newId()
    const { userId: createdByUserId } = actor
    const run = { id, filter, again, transcribe, total, storedBefore, createdByUserId, createdAt: clock.now() }
    const inserted = await insertRun(trx, org, run)
    await jobs.enqueue(trx, measureRun, { organizationId: org, runId: id })
    await recordAudit(trx, actor, 'soundRun.create', targetOf(id))
    return inserted
  })
}

/** Cancels a run and its pending transcriptions. Existing measures and transcripts stay. */
export const cancelRun = (
  { db, clock, cancelTranscriptions }: CreateDeps,
  actor: Actor,
  id: string,
): Promise<StoredRun> =>
  db.transaction().execute(async (trx) => {
    const run = (await lockRun(trx, actor.org, id)) ?? (await getRun(trx, actor.org, id))
    const { status } = run
    const cancelled = run.transcribe ? await cancelTranscriptions(trx, actor.org, id) : 0
    if (!canMove(status, 'cancelled') && cancelled > 0) {
      // All recordings are measured. Only transcriptions were left.
      await recordAudit(trx, actor, 'soundRun.cancel', targetOf(id))
      return run
    }
    if (!canMove(status, 'cancelled')) {
      throw new ApiError('conflict', `The run is ${status}. Only a run in progress can be cancelled.`)
    }
    await recordAudit(trx, actor, 'soundRun.cancel', targetOf(id))
    return updateRun(trx, actor.org, id, { status: 'cancelled', finishedAt: clock.now() })
  })

type Ending = { to: Extract<RunStatus, 'completed' | 'failed'>; failure?: string }

const end = async ({ clock }: Pick<Deps, 'clock'>, trx: Db, org: OrgId, id: string, { to, failure }: Ending) => {
  const run = await lockRun(trx, org, id)
  if (!run || !canMove(run.status, to)) return
  await updateRun(trx, org, id, { status: to, finishedAt: clock.now(), ...(failure !== undefined && { failure }) })
}

/** Returns the run if it should continue. */
const begin = async ({ clock }: Pick<Deps, 'clock'>, trx: Db, org: OrgId, id: string) => {
  const run = await lockRun(trx, org, id)
  if (run?.status === 'running') return run
  if (run?.status !== 'queued') return undefined
  return updateRun(trx, org, id, { status: 'running', startedAt: clock.now() })
}

/**
 * Measures a recording. Returns undefined if the recording was deleted or redacted, or if it is already measured and
 * only needs a transcript.
 */
const measureNow = async (
  deps: Deps,
  org: OrgId,
  { id, again }: { id: string; again: boolean },
  signal: AbortSignal,
): Promise<{ outcome: Outcome; sound?: StoredSound } | undefined> => {
  const recording = await findRecording(deps.db, org, id)
  if (recording?.status !== 'stored' || recording.blobKey === null || recording.redactedSpans) return undefined
  if (!again && recording.measuredKey === recording.blobKey) return undefined
  try {
    const sound = await measureStored(deps, org, { conversationId: id, fileKey: recording.blobKey }, signal)
    return { outcome: sound.measured === null ? 'unmeasurable' : 'measured', sound }
  } catch (error) {
    signal.throwIfAborted()
    deps.log.warn({ err: error, organizationId: org, conversationId: id }, 'could not measure a recording')
    return { outcome: 'failed' }
  }
}

/**
 * Measures a recording. The transaction that stores the measures also moves the run past it, so that each recording is
 * measured once. Returns whether the run continues.
 */
const measureNext = async (
  deps: SoundDeps,
  attempt: Attempt,
  org: OrgId,
  { id: runId, again }: StoredRun,
  id: string,
): Promise<boolean> => {
  const found = await measureNow(deps, org, { id, again }, attempt.signal)
  return attempt.transaction(async (trx) => {
    const run = await lockRun(trx, org, runId)
    if (run?.status !== 'running') return false
    if (found?.sound) await storeOutcome(deps, trx, { organizationId: org, conversationId: id }, found.sound)
    if (run.transcribe) await deps.startTranscriptions(deps, trx, org, { conversationIds: [id], runId })
    await advanceRun(trx, org, runId, id, found?.outcome)
    return true
  })
}

/** Processes a batch of the run. Returns whether there are more. */
const advance = async (
  deps: SoundDeps,
  attempt: Attempt,
  org: OrgId,
  run: StoredRun,
  endsAt: number,
): Promise<boolean> => {
  const page = await listNext(deps.db, org, run, pageSize)
  const last = page.at(-1)
  if (!last) return false
  const ids = page.map(({ id }) => id)
  const filter = await resolve(deps, org, run.filter, { conversationIds: ids })
  const matching = await listMatching(deps.db, org, filter, ids)
  for (const id of ids.filter((one) => matching.has(one))) {
    attempt.signal.throwIfAborted()
    if (!(await measureNext(deps, attempt, org, run, id))) return false
    if (performance.now() >= endsAt) return true
  }
  await attempt.transaction((trx) => advanceRun(trx, org, run.id, last.id, undefined))
  return page.length === pageSize
}

/** Measures recordings one after the other, for a few seconds at a time. Organizations take turns. */
export const measureRun = defineJob({
  name: 'sound.run',
  payload: Type.Object({ organizationId: OrganizationId, runId: Type.String() }),
  concurrency: 1,
  retryLimit: 10,
  retryDelaySeconds: 10,
  timeoutSeconds: 15 * 60,
  run: async (deps: SoundDeps, { organizationId: org, runId }, attempt): Promise<void> => {
    const endsAt = performance.now() + turnMs
    for (;;) {
      const run = await attempt.transaction((trx) => begin(deps, trx, org, runId))
      if (!run) return attempt.finish(async () => {})
      if (!(await getOrganization(deps.db, org)).measureSound) {
        return attempt.finish((trx) => end(deps, trx, org, runId, { to: 'failed', failure: turnedOff }))
      }
      const hasMore = await advance(deps, attempt, org, run, endsAt)
      if (!hasMore) return attempt.finish((trx) => end(deps, trx, org, runId, { to: 'completed' }))
      if (performance.now() < endsAt) continue
      return attempt.finish(async (trx) => {
        await deps.jobs.enqueue(trx, measureRun, { organizationId: org, runId }, { org })
      })
    }
  },
  onFailed: (deps, { organizationId, runId }, trx) =>
    end(deps, trx, organizationId, runId, {
      to: 'failed',
      failure: 'Measuring failed repeatedly. See the log of the service.',
    }),
})
