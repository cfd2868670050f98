// Manages the lifecycle of bulk actions: a job runs them, and they finish, are cancelled, or are undone by another
// action.

import Type, { type Static } from 'typebox'
import type { Selection } from '../filters/queries.ts'
import { getMemberOfUser } from '../members/queries.ts'
import { isSuspended } from '../organizations/queries.ts'
import { recordAudit } from '../platform/audit/record.ts'
import { publishChanges } from '../platform/changes/changes.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { type Actor, hasRole } from '../platform/identity/actor.ts'
import { newId } from '../platform/ids.ts'
import { type Attempt, defineJob, type Job, OrganizationId } from '../platform/jobs/define-job.ts'
import { defineSweep, trustedTime } from '../platform/jobs/define-sweep.ts'
import { type ActionStatus, canMove, isFinished } from './action-status.ts'
import { actionOf, kindOf } from './kinds/kinds.ts'
import { keptDays, mostUnfinished } from './limits.ts'
import {
  advanceAction,
  copyChanged,
  deleteOldActions,
  getAction,
  insertAction,
  insertConversations,
  listNextRows,
  listOrganizationsWithOldAllOrgs,
  lockAction,
  lockUnfinishedCount,
  type StoredAction,
  storeOutcomes,
  updateAction,
} from './queries.ts'
import type { Action } from './schema.ts'

/** After this time, the job yields to others and is queued again. */
const turnMs = 10_000
/** The number of conversations that one transaction changes. */
const sliceSize = 500

type CreateDeps = Pick<Deps, 'db' | 'jobs' | 'clock'>

const targetOf = (id: string) => ({ type: 'bulkAction', id })

const requireRoom = async (trx: Db, org: OrgId): Promise<void> => {
  if ((await lockUnfinishedCount(trx, org)) < mostUnfinished) return
  throw new ApiError('conflict', `${mostUnfinished} bulk actions are in progress. Wait until one has finished.`)
}

type Creation = { action: Action; filter: Selection | null; ids: string[] }

/** Creates an action on these conversations, regardless of which ones match the filter later. */
export const createAction = (
  { db, jobs, clock }: CreateDeps,
  actor: Actor,
  { action, filter, ids }: Creation,
): Promise<StoredAction> =>
  db.transaction().execute(async (trx) => {
    const { org } = actor
    await requireRoom(trx, org)
    const id = newId()
    const inserted = await insertAction(trx, org, {
      id,
      action,
      filter,
      undoesId: null,
      total: ids.length,
      createdByUserId: actor.userId,
      createdByKeyId: actor.keyId,
      createdAt: clock.now(),
    })
    await insertConversations(trx, org, id, ids)
    await jobs.enqueue(trx, runBulkAction, { organizationId: org, actionId: id })
    await recordAudit(trx, actor, 'bulkAction.create', targetOf(id), ...kindOf(action).targets(action))
    return inserted
  })

/** Allows an action to be undone again after a previous undo ended early. */
const allowUndo = async (trx: Db, org: OrgId, id: string): Promise<void> => {
  if (await lockAction(trx, org, id)) await updateAction(trx, org, id, { undoneById: null })
}

/** Cancels an action. Its changes so far stay. */
export const cancelAction = async ({ db, clock }: CreateDeps, actor: Actor, id: string): Promise<StoredAction> =>
  db.transaction().execute(async (trx) => {
    const { status, undoesId } = (await lockAction(trx, actor.org, id)) ?? (await getAction(trx, actor.org, id))
    if (!canMove(status, 'cancelled')) {
      throw new ApiError('conflict', `The action is ${status}. Only an action in progress can be cancelled.`)
    }
    await recordAudit(trx, actor, 'bulkAction.cancel', targetOf(id))
    if (undoesId !== null) await allowUndo(trx, actor.org, undoesId)
    return updateAction(trx, actor.org, id, { status: 'cancelled', finishedAt: clock.now() })
  })

export const canUndo = (stored: StoredAction): boolean =>
  isFinished(stored.status) &&
  stored.changed > 0 &&
  stored.undoesId === null &&
  stored.undoneById === null &&
  kindOf(actionOf(stored)).undo !== undefined

/** Creates an action that reverts all changes of another action. */
export const undoAction = ({ db, jobs, clock }: CreateDeps, actor: Actor, id: string): Promise<StoredAction> =>
  db.transaction().execute(async (trx) => {
    const { org } = actor
    await requireRoom(trx, org)
    const stored = (await lockAction(trx, org, id)) ?? (await getAction(trx, org, id))
    if (!canUndo(stored)) {
      throw new ApiError(
        'conflict',
        'Only an action that has ended and changed something can be undone, once. Erasing cannot be undone.',
      )
    }
    const undoId = newId()
    await insertAction(trx, org, {
      id: undoId,
      action: stored.action,
      filter: null,
      undoesId: stored.id,
      total: stored.changed,
      createdByUserId: actor.userId,
      createdByKeyId: actor.keyId,
      createdAt: clock.now(),
    })
    const total = await copyChanged(trx, org, { from: stored.id, to: undoId })
    await updateAction(trx, org, stored.id, { undoneById: undoId })
    await jobs.enqueue(trx, runBulkAction, { organizationId: org, actionId: undoId })
    await recordAudit(trx, actor, 'bulkAction.undo', targetOf(stored.id), targetOf(undoId))
    return updateAction(trx, org, undoId, { total })
  })

const publishAction = (trx: Db, org: OrgId, id: string) =>
  publishChanges(trx, org, { resource: 'bulk-actions', kind: 'updated', ids: [id] })

/** Throws if the person who created the action would no longer be allowed to create it. */
const requireCreator = async (trx: Db, org: OrgId, stored: StoredAction): Promise<void> => {
  if (await isSuspended(trx, org)) throw new ApiError('forbidden', 'The organization was suspended.')
  const left = new ApiError('forbidden', 'The person who started it no longer has the required role.')
  const { role } = await getMemberOfUser(trx, org, stored.createdByUserId).catch((error: unknown) => {
    throw error instanceof ApiError ? left : error
  })
  if (!hasRole(role, kindOf(actionOf(stored)).role)) throw left
}

type EndDeps = Pick<Deps, 'clock'>
type End = { to: ActionStatus; failure?: string }

/** Ends an action that the caller has locked. Conversations that were erased before their slice are not counted. */
const end = async (
  { clock }: EndDeps,
  trx: Db,
  org: OrgId,
  stored: StoredAction,
  { to, failure }: End,
): Promise<void> => {
  if (!canMove(stored.status, to)) return
  await updateAction(trx, org, stored.id, {
    status: to,
    finishedAt: clock.now(),
    ...(to === 'completed' && { total: stored.done + stored.failed }),
    ...(failure !== undefined && { failure }),
  })
  if (to !== 'completed' && stored.undoesId !== null) await allowUndo(trx, org, stored.undoesId)
  await publishAction(trx, org, stored.id)
}

const complete = async (deps: Deps, trx: Db, org: OrgId, stored: StoredAction): Promise<void> => {
  await end(deps, trx, org, stored, { to: 'completed' })
  if (stored.changed === 0 || stored.undoesId !== null) return
  const action = actionOf(stored)
  await kindOf(action).announce?.(deps, trx, org, { id: stored.id, action, byUserId: stored.createdByUserId })
}

const begin = async ({ clock }: EndDeps, trx: Db, org: OrgId, id: string): Promise<StoredAction | undefined> => {
  const stored = await lockAction(trx, org, id)
  if (stored?.status === 'running') return stored
  if (stored?.status !== 'queued') return undefined
  return updateAction(trx, org, id, { status: 'running', startedAt: clock.now() })
}

/** Changes the next conversations and returns the progress, in the transaction that stores both. */
const applySlice = async (deps: Deps, trx: Db, org: OrgId, stored: StoredAction, requestId: string) => {
  const rows = await listNextRows(trx, org, stored.id, { after: stored.afterPosition, limit: sliceSize })
  const last = rows.at(-1)
  if (!last) return { advanced: stored, isLast: true }
  const action = actionOf(stored)
  const { apply, undo } = kindOf(action)
  const effect = stored.undoesId === null ? apply : undo
  if (!effect) throw new Error(`There is no way to undo ${action.kind}`)
  const { createdByUserId: userId, createdByKeyId: keyId } = stored
  const outcomes = await effect(deps, trx, org, {
    rows,
    ids: rows.map(({ conversationId }) => conversationId),
    creator: { kind: keyId === null ? 'user' : 'key', org, keyId, userId, requestId },
    now: deps.clock.now(),
    action,
  })
  const positions = new Map(rows.map(({ conversationId, position }) => [conversationId, position]))
  await storeOutcomes(
    trx,
    org,
    stored.id,
    outcomes.map(({ conversationId, ...rest }) => ({ position: positions.get(conversationId) ?? 0, ...rest })),
  )
  const count = (name: string) => outcomes.filter(({ outcome }) => outcome === name).length
  const advanced = await advanceAction(trx, org, stored.id, {
    done: count('changed') + count('unchanged'),
    changed: count('changed'),
    failed: count('failed'),
    afterPosition: last.position,
  })
  if (action.kind !== 'erase' && action.kind !== 'tag' && count('changed') > 0) {
    await publishChanges(trx, org, { resource: 'conversations', kind: 'updated' })
  }
  return { advanced, isLast: rows.length < sliceSize }
}

/** Processes one slice. Returns whether there are more slices. */
const advance = (deps: Deps, attempt: Attempt, org: OrgId, id: string): Promise<boolean> =>
  attempt.transaction(async (trx) => {
    const stored = await begin(deps, trx, org, id)
    if (!stored) return false
    await requireCreator(trx, org, stored)
    const { advanced, isLast } = await applySlice(deps, trx, org, stored, attempt.jobId)
    if (isLast) await complete(deps, trx, org, advanced)
    else await publishAction(trx, org, id)
    return !isLast
  })

const fail = async (deps: EndDeps, trx: Db, org: OrgId, id: string, failure: string): Promise<void> => {
  const stored = await lockAction(trx, org, id)
  if (stored) await end(deps, trx, org, stored, { to: 'failed', failure })
}

const ActionPayload = Type.Object({ organizationId: OrganizationId, actionId: Type.String() })
type ActionPayload = Static<typeof ActionPayload>

/**
 * Runs an action slice by slice. The transaction that changes the conversations in a slice also stores the position
 * after the slice, so that no conversation is changed twice or skipped if the process dies.
 */
export const runBulkAction: Job<Deps, ActionPayload> = defineJob({
  name: 'conversation.bulk',
  payload: ActionPayload,
  concurrency: 4,
  retryLimit: 10,
  retryDelaySeconds: 2,
  run: async (deps: Deps, payload, attempt) => {
    const { organizationId: org, actionId } = payload
    const endsAt = performance.now() + turnMs
    try {
      while (await advance(deps, attempt, org, actionId)) {
        attempt.signal.throwIfAborted()
        if (performance.now() < endsAt) continue
        await attempt.finish((trx) => deps.jobs.enqueue(trx, runBulkAction, payload))
        return
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.kind === 'unavailable') throw error
      await attempt.finish((trx) => fail(deps, trx, org, actionId, error.message))
    }
  },
  onFailed: (deps, { organizationId, actionId }, trx) =>
    fail(deps, trx, organizationId, actionId, 'The action failed repeatedly. See the log of the service.'),
})

/** Deletes actions some time after they have ended. */
export const sweepBulkActions = defineSweep({
  name: 'conversation.bulk-sweep',
  schedule: '50 4 * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listOrganizationsWithOldAllOrgs(db, now, keptDays),
  listItems: async function* () {
    yield { id: 'all' }
  },
  sweepItem: async ({ db, log }, _item, { org, now }) => {
    const count = await deleteOldActions(db, org, now, keptDays)
    if (count > 0) log.info({ organizationId: org, count }, 'deleted old bulk actions')
  },
})
