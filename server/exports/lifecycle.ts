// The lifecycle of every export: created, started from the queue, written, ended, expired. Requests, schedules, and
// jobs only change exports with these functions. The queue of the organization is locked first, and then the export.

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

/** The allowed next states. */
const moves: Record<ExportStatus, ExportStatus[]> = {
  pending: ['processing', 'failed'],
  // Another attempt starts over.
  processing: ['processing', 'completed', 'failed'],
  completed: ['expired'],
  failed: [],
  expired: [],
}

export const canMove = (from: ExportStatus, to: ExportStatus): boolean => moves[from].includes(to)

// Creating

const mostUnfinished = 20

/** `config` in canonical spelling with defaults: a replay has the same. */
type Request = Pick<NewExport, 'experimentId' | 'operationId' | 'config' | 'since' | 'until' | 'notificationEndpointId'>

type Zoned = { timezone?: unknown }

/** Two names of one time zone are equal. */
const asSame = (config: Request['config'], stored: StoredExport['config']): unknown => {
  // Both are checked configurations: objects.
  const [{ timezone: given }, { timezone: former }] = [config, stored] as [Zoned, Zoned]
  const isSame = typeof given === 'string' && typeof former === 'string' && isSameTimeZone(given, former)
  return isSame ? { ...config, timezone: former } : config
}

/** Whether it is the same request, whatever its spelling. The order of monitors is that of columns, so it counts. */
const replayOf = (stored: StoredExport, { experimentId, config }: Request) => {
  if (stored.experimentId !== experimentId || !isDeepStrictEqual(stored.config, asSame(config, stored.config))) {
    throw new ApiError(
      'conflict',
      'An export with this operationId and a different configuration exists. Use a new operationId.',
    )
  }
  return { stored, isReplay: true }
}

/** Whether the organization has as many unfinished exports as allowed. The caller has locked the queue. */
export const isLineFull = async (trx: Db, org: OrgId): Promise<boolean> =>
  (await countUnfinished(trx, org)).all >= mostUnfinished

const publishExport = (
  trx: Db,
  org: OrgId,
  { id, experimentId }: Pick<StoredExport, 'id' | 'experimentId'>,
  kind: 'created' | 'updated',
) => {
  const resource = experimentId === null ? 'monitor-exports' : 'experiment-exports'
  return publishChanges(trx, org, { resource, kind, ids: [id] })
}

/** The caller has locked the queue and checked its length. */
export const createInLine = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  request: Omit<NewExport, 'id' | 'createdAt'>,
): Promise<StoredExport> => {
  const stored = await insertExport(trx, org, { ...request, id: newId(), createdAt: deps.clock.now() })
  await publishExport(trx, org, stored, 'created')
  await startNext(deps, trx, org)
  return stored
}

/** `require` checks that everything in the configuration exists; a replay is answered before. */
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

// Starting

/** Exports of an organization that run at once; others wait and block no other organization. */
const atOnce = 2

/** Enqueues jobs for the first in the queue. The caller has locked the queue. */
const startNext = async ({ jobs, clock }: Pick<Deps, 'jobs' | 'clock'>, trx: Db, org: OrgId): Promise<void> => {
  for (let { enqueued } = await countUnfinished(trx, org); enqueued < atOnce; enqueued++) {
    const id = await enqueueFirst(trx, org, clock.now())
    if (id === undefined) return
    await jobs.enqueue(trx, generateExport, { organizationId: org, exportId: id })
  }
}

// Ending

const keptDays = 30

/** How an export ends, or how a completed one changes. */
type End =
  | { status: 'completed'; rowCount: number; bytes: number; sha256: string }
  | { status: 'failed'; errorCode: ErrorCode }
  | { status: 'expired' }

const changeOf = (end: End, { expiresAt }: StoredExport, now: Date) => {
  if (end.status === 'completed') {
    return { ...end, completedAt: now, expiresAt: new Date(now.getTime() + keptDays * dayMs) }
  }
  // On request before its expiry; later, the file is unavailable anyway.
  const isEarly = end.status === 'expired' && expiresAt !== null && expiresAt > now
  return { ...end, blobKey: null, ...(isEarly && { expiresAt: now }) }
}

const deleteLater = async ({ jobs }: Pick<Deps, 'jobs'>, trx: Db, org: OrgId, key: string | null): Promise<void> => {
  if (key) await jobs.enqueue(trx, deleteFile, { key }, { org })
}

/** Notifies the endpoint of the export and all subscribers of monitor exports. */
const notify = async (deps: Deps, trx: Db, org: OrgId, ended: StoredExport): Promise<void> => {
  const { experimentId, config, notificationEndpointId: named, createdByUserId } = ended
  if (experimentId !== null) return
  const data = { ...manifestOf(ended, deps.clock.now()), ...scheduleOf(ended), config }
  if (data.status === 'pending' || data.status === 'processing') return
  const event = { type: `monitor_export.${data.status}`, data } as const
  if (named) await sendEvent(deps, trx, org, named, event, { onlyWhileMember: createdByUserId })
  await publishEvent(deps, trx, org, event, { exceptEndpointIds: named ? [named] : [] })
}

/**
 * Ends an export in the caller's transaction with all consequences: deletes its file unless completed, notifies its
 * endpoint, and starts the next one in the queue. False if the change is not allowed. The caller has locked the queue
 * and the export.
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
export const endByHand = (deps: Deps, actor: Actor, { id, experimentId }: ExportKey): Promise<void> =>
  deps.db.transaction().execute(async (trx) => {
    await lockLine(trx, actor.org)
    const held = await lockExport(trx, actor.org, id)
    if (held?.experimentId !== experimentId) throw notFound()
    const end =
      held.status === 'completed'
        ? ({ status: 'expired' } as const)
        : ({ status: 'failed', errorCode: 'cancelled' } as const)
    if (!(await endExport(deps, trx, actor.org, held, end))) {
      throw new ApiError('conflict', `The export is ${held.status}, so there is nothing to cancel or delete.`)
    }
    const kind = auditedKind(held)
    await recordAudit(trx, actor, `${kind}.delete`, { type: kind, id: held.id })
  })

// Writing

/**
 * However long the operator allows. Timers are limited to 24 days, and the job's own timeout must never be the first.
 */
const longestSeconds = 23 * 60 * 60

type Task = { org: OrgId; id: string; attempt: Attempt }

/** Returns the export with this attempt's own key, or undefined if it ended in the meantime. */
const begin = async (deps: Deps, trx: Db, { org, id }: Task): Promise<StoredExport | undefined> => {
  const held = await lockExport(trx, org, id)
  if (!held || !canMove(held.status, 'processing')) return undefined
  // The file of an attempt that died.
  await deleteLater(deps, trx, org, held.blobKey)
  const blobKey = `${org}/exports/${newId()}.${held.config.format}`
  const begun = { status: 'processing', startedAt: deps.clock.now(), isOutdated: false, rowCount: 0, blobKey } as const
  await publishExport(trx, org, held, 'updated')
  return updateExport(trx, org, id, begun)
}

/** A conversation was erased while it may have been written: the file must not contain it. */
class Outdated extends Error {}

const finish = (deps: Deps, { org, id, attempt }: Task, blobKey: string, end: End) =>
  attempt.finish(async (trx) => {
    await lockLine(trx, org)
    const held = await lockExport(trx, org, id)
    if (held?.status !== 'processing' || held.blobKey !== blobKey) return deleteLater(deps, trx, org, blobKey)
    if (end.status === 'completed' && held.isOutdated) throw new Outdated()
    // It may have changed since the export started.
    const refusal = end.status === 'completed' ? await refusalOf(trx, org, held) : undefined
    await endExport(deps, trx, org, held, refusal === undefined ? end : refused(deps, id, refusal))
  })

/** One attempt; false if it has to restart. Each attempt has its own key. */
const generateOnce = async (deps: ExportDeps, task: Task, late: AbortSignal): Promise<boolean> => {
  const { attempt, org } = task
  const stored = await attempt.transaction((trx) => begin(deps, trx, task))
  const blobKey = stored?.blobKey
  if (!stored || !blobKey) return true
  const written = await writeFile(deps, org, { stored, blobKey }, { signal: attempt.signal, late })
  if (written === 'ended') {
    // Deletes it again, now that nothing writes it.
    await attempt.finish((trx) => deleteLater(deps, trx, org, blobKey))
    return true
  }
  try {
    await finish(deps, task, blobKey, written)
    return true
  } catch (error) {
    // It is not an error, and can happen often if conversations are erased all the time.
    if (error instanceof Outdated && !attempt.signal.aborted) return false
    throw error
  }
}

/**
 * Generates one export in a separate process. If anything dies, the job restarts with another key, so that a delayed
 * earlier attempt changes nothing.
 */
export const generateExport = defineJob({
  name: 'monitor-export.generate',
  payload: Type.Object({ organizationId: OrganizationId, exportId: Type.String() }),
  // One more than an organization can run at once, so that another's never waits for both of them.
  concurrency: atOnce + 1,
  // Two minutes in all, for an unavailable database or storage.
  retryLimit: 6,
  retryDelaySeconds: 2,
  // Never reached: the export has its own limit.
  timeoutSeconds: 24 * 60 * 60,
  run: async (deps: ExportDeps, { organizationId, exportId }, attempt) => {
    const task: Task = { org: organizationId, id: exportId, attempt }
    const late = AbortSignal.timeout(Math.min(deps.config.limits.exportSeconds, longestSeconds) * 1_000)
    while (!(await generateOnce(deps, task, late)));
  },
  onFailed: async (deps, { organizationId, exportId }, trx, error) => {
    const org = organizationId
    await lockLine(trx, org)
    const held = await lockExport(trx, org, exportId)
    if (held) await endExport(deps, trx, org, held, { status: 'failed', errorCode: errorCodeOf(error) })
  },
})

// Expiring

const batch = 100

const expire = async (deps: Deps, trx: Db, org: OrgId, id: string): Promise<void> => {
  await lockLine(trx, org)
  const held = await lockExport(trx, org, id)
  if (held) await endExport(deps, trx, org, held, { status: 'expired' })
}

/** Expires exports after 30 days. Their links expired with them. */
export const expireExports = defineSweep({
  name: 'monitor-export.expire',
  schedule: '* * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithExpiredAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batch, (page) => listExpired(db, org, now, page), after),
  sweepItem: (deps, { id }, { org, attempt }) => attempt.transaction((trx) => expire(deps, trx, org, id)),
})

/**
 * Removes erased conversations from files: exports with calls of that time and agent expire, and those being written
 * restart.
 * In the transaction of the erasure, which has locked the queue.
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
  for (const held of exports) await endExport(deps, trx, org, held, { status: 'expired' })
}
