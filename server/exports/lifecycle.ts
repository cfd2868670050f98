// Manages the lifecycle of exports: creates, queues, starts, ends, and expires them. Requests, schedules, and jobs
// change exports only through these functions. They lock the organization's queue first and then the export.

import { isDeepStrictEqual } from 'node:util'
import Type from 'typebox'
import { recordAudit } from '../platform/audit/record.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { dayMs } from '../platform/durations.ts'
import { ApiError, notFound } from '../platform/errors.ts'
import type { Actor } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { type Attempt, defineJob, OrganizationId } from '../platform/jobs/define-job.ts'
import { defineSweep, trustedTime } from '../platform/jobs/define-sweep.ts'
import { isSameTimeZone } from '../platform/time-zone.ts'
import { publishEvent, sendEvent } from '../webhooks/send.ts'
import type { ExportDeps } from './deps.ts'
import { auditedKind, type ExportStatus, manifestOf, pollSeconds, scheduleOf } from './manifest.ts'
import {
  countUnfinished,
  type ErrorCode,
  type ExportKey,
  type ExportKind,
  enqueueFirst,
  findExportByOperation,
  insertExport,
  listExpired,
  listOrganizationsWithExpiredAllOrgs,
  lockExport,
  lockExportsOfCalls,
  lockLine,
  markOutdated,
  type NewExport,
  type Placed,
  type StoredExport,
  updateExport,
} from './queries.ts'
import { refusalOf } from './requirements.ts'
import { deleteFile } from './stored-files.ts'
import { errorCodeOf, refused, writeFile } from './write-file.ts'

/** The states that can follow each state. */
const moves: Record<ExportStatus, ExportStatus[]> = {
  pending: ['processing', 'failed'],
  // Another attempt starts from the beginning.
  processing: ['processing', 'completed', 'failed'],
  completed: ['expired'],
  failed: [],
  expired: [],
}

export const canMove = (from: ExportStatus, to: ExportStatus): boolean => moves[from].includes(to)

const mostUnfinished = 20

/** `config` is normalized and includes defaults, so repeated requests have the same `config`. */
type Request = ExportKind & Pick<NewExport, 'operationId' | 'config' | 'since' | 'until' | 'notificationEndpointId'>

type Zoned = { timezone?: unknown }

/** Returns the configuration with the stored name of its time zone if both names mean the same zone. */
const asSame = (config: Request['config'], stored: StoredExport['config']): unknown => {
  // Both are validated configurations, so they are objects.
  const [{ timezone: given }, { timezone: former }] = [config, stored] as [Zoned, Zoned]
  const isSame = typeof given === 'string' && typeof former === 'string' && isSameTimeZone(given, former)
  return isSame ? { ...config, timezone: former } : config
}

/**
 * Returns the stored export if it belongs to the same request, even if the request is written differently. The order of
 * monitors matters, because it is the order of the columns.
 */
const replayOf = (stored: StoredExport, { kind, experimentId, config }: Request) => {
  const isOther = stored.kind !== kind || stored.experimentId !== experimentId
  if (isOther || !isDeepStrictEqual(stored.config, asSame(config, stored.config))) {
    throw new ApiError(
      'conflict',
      'An export with this operationId and a different configuration exists. Use a new operationId.',
    )
  }
  return { stored, isReplay: true }
}

/**
 * Returns whether the organization has reached its maximum number of unfinished exports. The caller has locked the
 * queue.
 */
export const isLineFull = async (trx: Db, org: OrgId): Promise<boolean> =>
  (await countUnfinished(trx, org)).all >= mostUnfinished

const publishExport = (
  trx: Db,
  org: OrgId,
  { id, kind: of }: Pick<StoredExport, 'id' | 'kind'>,
  kind: 'created' | 'updated',
) => publishChanges(trx, org, { resource: `${of}-exports`, kind, ids: [id] })

type ExportRequest = ExportKind & Omit<NewExport, 'id' | 'createdAt'>

/** Creates an export. The caller has locked the queue and checked its length. */
export const createInLine = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  request: ExportRequest,
): Promise<StoredExport> => {
  const stored = await insertExport(trx, org, { ...request, id: newId(), createdAt: deps.clock.now() })
  await publishExport(trx, org, stored, 'created')
  await startNext(deps, trx, org)
  return stored
}

/**
 * Creates an export, or returns the existing export for a repeated request. `require` checks that everything in the
 * configuration exists. Repeated requests skip this check.
 */
export const createExport = async (
  deps: Deps,
  actor: Actor,
  request: Request,
  require: (trx: Db) => Promise<void> = async () => {},
): Promise<{ stored: StoredExport; isReplay: boolean }> => {
  const { org, userId } = actor
  const earlier = await findExportByOperation(deps.db, org, request.operationId)
  if (earlier) return replayOf(earlier, request)
  await deps.blobs.check()
  return deps.db.transaction().execute(async (trx) => {
    await lockLine(trx, org)
    const raced = await findExportByOperation(trx, org, request.operationId)
    if (raced) return replayOf(raced, request)
    await require(trx)
    if (await isLineFull(trx, org)) {
      throw new ApiError('rateLimited', `${mostUnfinished} exports are in progress. Wait until one finishes.`, {
        retryAfterSeconds: pollSeconds,
      })
    }
    const stored = await createInLine(deps, trx, org, { ...request, createdByUserId: userId })
    const kind = auditedKind(request)
    await recordAudit(trx, actor, `${kind}.create`, { type: kind, id: stored.id })
    return { stored, isReplay: false }
  })
}

/** The number of an organization's exports that run at once. Others wait without blocking other organizations. */
const atOnce = 2

/** Enqueues jobs for the first exports in the organization's queue. The caller has locked the queue. */
const startNext = async ({ jobs, clock }: Pick<Deps, 'jobs' | 'clock'>, trx: Db, org: OrgId): Promise<void> => {
  for (let { enqueued } = await countUnfinished(trx, org); enqueued < atOnce; enqueued++) {
    const id = await enqueueFirst(trx, org, clock.now())
    if (id === undefined) return
    await jobs.enqueue(trx, generateExport, { organizationId: org, exportId: id })
  }
}

const keptDays = 30

/** The outcome of an export, or the expiry of a completed one. */
type End =
  | { status: 'completed'; rowCount: number; bytes: number; sha256: string }
  | { status: 'failed'; errorCode: ErrorCode }
  | { status: 'expired' }

const changeOf = (end: End, { expiresAt }: StoredExport, now: Date) => {
  if (end.status === 'completed') {
    return { ...end, completedAt: now, expiresAt: new Date(now.getTime() + keptDays * dayMs) }
  }
  // A request can expire an export early. After its normal expiry, the file is unavailable anyway.
  const isEarly = end.status === 'expired' && expiresAt !== null && expiresAt > now
  return { ...end, blobKey: null, ...(isEarly && { expiresAt: now }) }
}

const deleteLater = async ({ jobs }: Pick<Deps, 'jobs'>, trx: Db, org: OrgId, key: string | null): Promise<void> => {
  if (key) await jobs.enqueue(trx, deleteFile, { key }, { org })
}

/** Informs the endpoint of the export and all subscribers. Exports of experiments have no events. */
const notify = async (deps: Deps, trx: Db, org: OrgId, ended: StoredExport): Promise<void> => {
  const { kind, config, notificationEndpointId: named, createdByUserId } = ended
  if (kind === 'experiment') return
  const data = { ...manifestOf(ended, deps.clock.now()), ...scheduleOf(ended), config }
  if (data.status === 'pending' || data.status === 'processing') return
  const event = { type: `${kind}_export.${data.status}`, data } as const
  if (named) await sendEvent(deps, trx, org, named, event, { onlyWhileMember: createdByUserId })
  await publishEvent(deps, trx, org, event, { exceptEndpointIds: named ? [named] : [] })
}

/**
 * Ends an export in the caller's transaction: deletes its file unless the export is completed, informs its endpoint,
 * and starts the next export in the queue. Returns false if the status does not allow it. The caller has locked the
 * queue and the export.
 */
const endExport = async (deps: Deps, trx: Db, org: OrgId, held: StoredExport, end: End): Promise<boolean> => {
  if (!canMove(held.status, end.status)) return false
  const now = deps.clock.now()
  const ended = await updateExport(trx, org, held.id, changeOf(end, held, now))
  if (end.status !== 'completed') await deleteLater(deps, trx, org, held.blobKey)
  await notify(deps, trx, org, ended)
  await publishExport(trx, org, ended, 'updated')
  await deps.reactions.exportEnded(trx, org, ended)
  if (end.status !== 'expired') await startNext(deps, trx, org)
  return true
}

/** Cancels an unfinished export, and expires a completed one. */
export const endByHand = (deps: Deps, actor: Actor, { id, kind, experimentId }: ExportKey): Promise<void> =>
  deps.db.transaction().execute(async (trx) => {
    await lockLine(trx, actor.org)
    const locked = await lockExport(trx, actor.org, id)
    if (locked?.kind !== kind || locked.experimentId !== experimentId) throw notFound()
    const end =
      locked.status === 'completed'
        ? ({ status: 'expired' } as const)
        : ({ status: 'failed', errorCode: 'cancelled' } as const)
    if (!(await endExport(deps, trx, actor.org, locked, end))) {
      throw new ApiError('conflict', `The export is ${locked.status}, so there is nothing to cancel or delete.`)
    }
    const audited = auditedKind(locked)
    await recordAudit(trx, actor, `${audited}.delete`, { type: audited, id: locked.id })
  })

/**
 * The operator can configure any limit, but timers are limited to 24 days, and the job's own timeout must never come
 * first.
 */
const longestSeconds = 23 * 60 * 60

type Task = { org: OrgId; id: string; attempt: Attempt }

/**
 * Starts an attempt. Returns the export with a new key for this attempt, or undefined if the export ended in the
 * meantime.
 */
const begin = async (deps: Deps, trx: Db, { org, id }: Task): Promise<StoredExport | undefined> => {
  const locked = await lockExport(trx, org, id)
  if (!locked || !canMove(locked.status, 'processing')) return undefined
  // An earlier attempt may have died without deleting its file.
  await deleteLater(deps, trx, org, locked.blobKey)
  const blobKey = `${org}/exports/${newId()}.${locked.config.format}`
  const begun = { status: 'processing', startedAt: deps.clock.now(), isOutdated: false, rowCount: 0, blobKey } as const
  await publishExport(trx, org, locked, 'updated')
  return updateExport(trx, org, id, begun)
}

/** A conversation was erased when it may already have been written, so the file must not be used. */
class Outdated extends Error {}

const finish = (deps: Deps, { org, id, attempt }: Task, blobKey: string, end: End) =>
  attempt.finish(async (trx) => {
    await lockLine(trx, org)
    const locked = await lockExport(trx, org, id)
    if (locked?.status !== 'processing' || locked.blobKey !== blobKey) return deleteLater(deps, trx, org, blobKey)
    if (end.status === 'completed' && locked.isOutdated) throw new Outdated()
    // The organization's entitlements may have changed since the export started.
    const refusal = end.status === 'completed' ? await refusalOf(trx, org, locked) : undefined
    await endExport(deps, trx, org, locked, refusal === undefined ? end : refused(deps, id, refusal))
  })

/** Makes one attempt with its own key. Returns false if the export has to start over. */
const generateOnce = async (deps: ExportDeps, task: Task, late: AbortSignal): Promise<boolean> => {
  const { attempt, org } = task
  const stored = await attempt.transaction((trx) => begin(deps, trx, task))
  const blobKey = stored?.blobKey
  if (!stored || !blobKey) return true
  const written = await writeFile(deps, org, { stored, blobKey }, { signal: attempt.signal, late })
  if (written === 'ended') {
    // The file may have been written after it was deleted. No process is writing it now, so deleting it again is final.
    await attempt.finish((trx) => deleteLater(deps, trx, org, blobKey))
    return true
  }
  try {
    await finish(deps, task, blobKey, written)
    return true
  } catch (error) {
    // This is not a failure. It can happen often while many conversations are erased.
    if (error instanceof Outdated && !attempt.signal.aborted) return false
    throw error
  }
}

/**
 * Generates one export in a separate process. If a process dies, the job starts over with another key, so that a
 * delayed earlier attempt changes nothing.
 */
export const generateExport = defineJob({
  name: 'monitor-export.generate',
  payload: Type.Object({ organizationId: OrganizationId, exportId: Type.String() }),
  // This is one more than an organization can run at once, so another organization's export never waits for both of
  // them.
  concurrency: atOnce + 1,
  // The retries take two minutes, in case the database or storage is unavailable.
  retryLimit: 6,
  retryDelaySeconds: 2,
  // The export's own limit ends it much earlier.
  timeoutSeconds: 24 * 60 * 60,
  run: async (deps: ExportDeps, { organizationId, exportId }, attempt) => {
    const task: Task = { org: organizationId, id: exportId, attempt }
    const late = AbortSignal.timeout(Math.min(deps.config.limits.exportSeconds, longestSeconds) * 1_000)
    while (!(await generateOnce(deps, task, late)));
  },
  onFailed: async (deps, { organizationId, exportId }, trx, error) => {
    const org = organizationId
    await lockLine(trx, org)
    const locked = await lockExport(trx, org, exportId)
    if (locked) await endExport(deps, trx, org, locked, { status: 'failed', errorCode: errorCodeOf(error) })
  },
})

const batch = 100

const expire = async (deps: Deps, trx: Db, org: OrgId, id: string): Promise<void> => {
  await lockLine(trx, org)
  const locked = await lockExport(trx, org, id)
  if (locked) await endExport(deps, trx, org, locked, { status: 'expired' })
}

/** Expires exports after 30 days. Their links have expired by then. */
export const expireExports = defineSweep({
  name: 'monitor-export.expire',
  schedule: '* * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithExpiredAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batch, (page) => listExpired(db, org, now, page), after),
  sweepItem: (deps, { id }, { org, attempt }) => attempt.transaction((trx) => expire(deps, trx, org, id)),
})

/**
 * Removes erased conversations from files. Exports that may contain them, judging by their start and agent, expire, and
 * those that are being written start over. Runs in the transaction of the erasure, which has locked the queue.
 */
export const expireExportsOfCalls = async (
  deps: Deps,
  trx: Db,
  org: OrgId,
  { conversations }: { conversations: Placed[] },
): Promise<void> => {
  await lockLine(trx, org)
  const exports = await lockExportsOfCalls(trx, org, conversations)
  const unfinished = exports.filter(({ status }) => status !== 'completed').map(({ id }) => id)
  if (unfinished.length > 0) await markOutdated(trx, org, unfinished)
  for (const locked of exports) await endExport(deps, trx, org, locked, { status: 'expired' })
}
