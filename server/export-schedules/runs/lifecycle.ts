// Manages the lifecycle of a schedule's runs: they start on request or when they are due, continue when their export
// ends, and are delivered. The end of a run also updates its schedule. Only this file changes the status of a run.

import { createHash } from 'node:crypto'
import Type from 'typebox'
import { explainFailure } from '../../exports/failure.ts'
import { createInLine, isLineFull } from '../../exports/lifecycle.ts'
import { lockLine } from '../../exports/queries.ts'
import { refusalOf } from '../../exports/requirements.ts'
import { isMember } from '../../members/queries.ts'
import { getOrganization } from '../../organizations/queries.ts'
import { publishChanges } from '../../platform/changes/changes.ts'
import type { Db, OrgId } from '../../platform/db/database.ts'
import type { Deps } from '../../platform/deps.ts'
import { ApiError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import { defineJob, OrganizationId } from '../../platform/jobs/define-job.ts'
import { BucketError, openBucket } from '../../platform/outbound/bucket.ts'
import type { Events } from '../../platform/reactions.ts'
import { publishEvent } from '../../webhooks/send.ts'
import { configOf, configWithin, kindOf, requireNamed } from '../contents.ts'
import { type Delivery, mayLie, upload } from '../deliver.ts'
import { objectKeyOf } from '../file-name.ts'
import { getSchedule, lockSchedule, type PauseReason, type StoredSchedule, updateSchedule } from '../queries.ts'
import { latestPlanned, plannedAfter } from '../recurrence.ts'
import { openSecret } from '../secret.ts'
import { show } from '../show-schedules.ts'
import { windowOf } from '../window.ts'
import {
  findRun,
  findRunOfExport,
  hasRunAt,
  hasUnfinishedRun,
  insertRun,
  type ScheduleRun,
  updateRun,
} from './queries.ts'

/** Announces a change to the schedule. The health of an organization includes the latest run of each schedule. */
const publishSchedule = (trx: Db, org: OrgId, id: string) =>
  publishChanges(
    trx,
    org,
    { resource: 'export-schedules', kind: 'updated', ids: [id] },
    { resource: 'health', kind: 'updated' },
  )

/**
 * Returns an ID that is always the same for a given time of a schedule, so that a run never creates more than one
 * export.
 */
const operationIdOf = (scheduleId: string, plannedFor: Date): string => {
  const hex = createHash('sha256').update(`${scheduleId} ${plannedFor.toISOString()}`).digest('hex')
  // UUIDv8 allows custom content.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The reason why a run can't currently start. */
export type Obstacle = 'unfinished' | 'made' | 'nothing_settled' | 'line_full'

export const obstacleOf = async (
  trx: Db,
  org: OrgId,
  schedule: StoredSchedule,
  plannedFor: Date,
): Promise<Obstacle | undefined> => {
  if (await hasUnfinishedRun(trx, org, schedule.id)) return 'unfinished'
  if (await hasRunAt(trx, org, schedule.id, plannedFor)) return 'made'
  if (!windowOf(schedule, plannedFor)) return 'nothing_settled'
  return (await isLineFull(trx, org)) ? 'line_full' : undefined
}

type Fault = { error: string; pause?: PauseReason }

const faultOf = async (
  trx: Db,
  org: OrgId,
  { ownerUserId: userId, destination, ...schedule }: StoredSchedule,
): Promise<Fault | undefined> => {
  if (!(await isMember(trx, org, userId))) {
    const error = 'The owner of the schedule is no longer a member. Edit the schedule to become its owner.'
    return { error, pause: 'owner_left' }
  }
  const { features, entitlements } = await getOrganization(trx, org)
  try {
    await requireNamed(trx, { org, userId, features, entitlements }, { config: configOf(schedule), destination })
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const gone = 'Something that the schedule names was deleted, such as a monitor, a company, or an endpoint.'
    return { error: error.kind === 'notFound' ? gone : error.message }
  }
}

/**
 * Creates the run for a time. It fails immediately if its export can't be created. The caller has locked the queue and
 * the schedule, and has checked that the run can start.
 */
export const makeRun = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  { schedule, plannedFor, isManual }: { schedule: StoredSchedule; plannedFor: Date; isManual: boolean },
): Promise<ScheduleRun> => {
  const window = windowOf(schedule, plannedFor)
  if (!window) throw new Error('The run has no period.')
  const { destination } = schedule
  const endpointId = destination.type === 'webhook' ? destination.webhookEndpointId : undefined
  const endpoint = endpointId === undefined ? {} : { notificationEndpointId: endpointId }
  const config = configOf(schedule)
  const fault = await faultOf(trx, org, schedule)
  const exported = fault
    ? undefined
    : await createInLine(deps, trx, org, {
        ...window,
        ...endpoint,
        kind: kindOf(config),
        experimentId: null,
        operationId: operationIdOf(schedule.id, plannedFor),
        config: { ...configWithin(config, window), ...endpoint },
        createdByUserId: schedule.ownerUserId,
        schedule: { id: schedule.id, name: schedule.name },
      })
  const run = await insertRun(trx, org, {
    id: newId(),
    scheduleId: schedule.id,
    plannedFor,
    isManual,
    ...window,
    exportId: exported?.id ?? null,
    createdAt: deps.clock.now(),
  })
  await publishSchedule(trx, org, schedule.id)
  if (!fault) return run
  await endRun(deps, trx, org, { schedule, run, end: { status: 'failed', ...fault } })
  return (await findRun(trx, org, run.id)) ?? run
}

/**
 * Starts the run that is due. If several runs are overdue, because exports were disabled or a run was unfinished, this
 * run replaces them.
 */
export const startDueRun = async (deps: Deps, trx: Db, org: OrgId, id: string): Promise<void> => {
  await lockLine(trx, org)
  const schedule = await lockSchedule(trx, org, id)
  const now = deps.clock.now()
  if (schedule?.status !== 'active' || schedule.nextRunAt > now) return
  const { status, entitlements, features } = await getOrganization(trx, org)
  if (status === 'suspended' || !entitlements.monitors || !features.monitorExports) return
  const { recurrence, config } = schedule
  const latest = latestPlanned(recurrence, config.timezone, now)
  // Without this, a change to time zone rules could lead to an earlier time than planned.
  const plannedFor = latest > schedule.nextRunAt ? latest : schedule.nextRunAt
  const obstacle = await obstacleOf(trx, org, schedule, plannedFor)
  if (obstacle === 'unfinished' || obstacle === 'line_full') return
  await updateSchedule(trx, org, id, { nextRunAt: plannedAfter(recurrence, config.timezone, plannedFor) })
  if (obstacle === undefined) await makeRun(deps, trx, org, { schedule, plannedFor, isManual: false })
}

/**
 * Continues a run in the transaction that ends its export. That transaction also queues the webhook event, which is
 * delivered separately.
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
    const error = explainFailure(errorCode)
    return endRun(deps, trx, org, { schedule, run, end: { status: 'failed', error } })
  }
  const { destination } = schedule
  if (destination.type === 'webhook') return endRun(deps, trx, org, { schedule, run, end: { status: 'succeeded' } })
  const objectKey = objectKeyOf(destination, { schedule, config: configOf(ended), run })
  await updateRun(trx, org, run.id, { status: 'delivering', objectKey })
  await publishSchedule(trx, org, schedule.id)
  await deps.jobs.enqueue(trx, deliverRun, { organizationId: org, runId: run.id })
}

const endDelivery = async (
  deps: Deps,
  trx: Db,
  { org, run }: Pick<Delivery, 'org' | 'run'>,
  error: string | undefined,
) => {
  const schedule = await lockSchedule(trx, org, run.scheduleId)
  const foundRun = await findRun(trx, org, run.id)
  if (!schedule || foundRun?.status !== 'delivering') return
  const ending = error === undefined ? ({ status: 'succeeded' } as const) : ({ status: 'failed', error } as const)
  await endRun(deps, trx, org, { schedule, run: foundRun, end: ending })
}

/** Delivers the file of a run. Running it again writes the same object with the same bytes, or deletes it again. */
export const deliverRun = defineJob({
  name: 'export-schedule.deliver',
  payload: Type.Object({ organizationId: OrganizationId, runId: Type.String() }),
  // The retries take about an hour, in case the storage is unavailable.
  retryLimit: 7,
  retryDelaySeconds: 30,
  timeoutSeconds: 30 * 60,
  run: async (deps: Deps, { organizationId: org, runId }, attempt): Promise<void> => {
    const { db } = deps
    const run = await findRun(db, org, runId)
    if (run?.status !== 'delivering') return
    const { destination, secret, config } = await getSchedule(db, org, run.scheduleId)
    const refusal =
      destination.type === 's3' && secret !== null
        ? await refusalOf(db, org, { kind: 'monitor', config })
        : 'The kind of destination was changed.'
    if (refusal !== undefined || destination.type !== 's3' || secret === null) {
      return attempt.finish((trx) => endDelivery(deps, trx, { org, run }, `${refusal}${mayLie(run)}`))
    }
    // The destination has already been read, so a later change to it marks the run for the next attempt.
    const { isMoved } = await attempt.transaction((trx) => updateRun(trx, org, runId, { attempts: run.attempts + 1 }))
    const task = { org, run: { ...run, isMoved }, attempt }
    const bucket = await openBucket(deps.outbound, {
      ...destination,
      secretAccessKey: openSecret(deps.secrets, org, run.scheduleId, secret),
    })
    try {
      const fault = await upload(deps, bucket, task)
      await attempt.finish((trx) => endDelivery(deps, trx, task, fault))
    } catch (error) {
      if (!(error instanceof BucketError)) throw error
      if (error.isFinal) return await attempt.finish((trx) => endDelivery(deps, trx, task, error.message + mayLie(run)))
      await attempt.transaction((trx) => updateRun(trx, org, runId, { error: error.message }))
      throw error
    } finally {
      bucket.close()
    }
  },
  onFailed: async (deps, { organizationId: org, runId }, trx, error) => {
    const run = await findRun(trx, org, runId)
    const text = error instanceof BucketError ? error.message : 'The delivery failed. Ask the operator of the service.'
    if (run) await endDelivery(deps, trx, { org, run }, text + mayLie(run))
  },
})

/** A schedule is paused after this many failed runs in a row. */
const mostFailures = 5

type Window = Pick<ScheduleRun, 'since' | 'until'>
type RunEnd = { status: 'succeeded' } | { status: 'failed'; error: string; pause?: PauseReason }

/** Returns when the next period starts. A start that was set during the run takes precedence. */
const coveredAfter = ({ windowRule, coveredUntil }: StoredSchedule, { since, until }: Window): Date => {
  const isMovedBack = windowRule.kind === 'since_last_run' && coveredUntil < since
  return isMovedBack || coveredUntil > until ? coveredUntil : until
}

/**
 * Ends a run and updates its schedule. The caller's transaction has locked the schedule. The period of a failed run is
 * not covered, so the next run with the `since_last` rule includes it.
 */
const endRun = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  { schedule, run, end }: { schedule: StoredSchedule; run: Window & Pick<ScheduleRun, 'id'>; end: RunEnd },
): Promise<void> => {
  const now = deps.clock.now()
  const error = end.status === 'failed' ? end.error : null
  await updateRun(trx, org, run.id, { status: end.status, error, finishedAt: now })
  await publishSchedule(trx, org, schedule.id)
  if (end.status === 'succeeded') {
    await updateSchedule(trx, org, schedule.id, { failures: 0, coveredUntil: coveredAfter(schedule, run) })
    return
  }
  const failures = schedule.failures + 1
  const pauseReason = end.pause ?? (failures >= mostFailures ? 'failing' : undefined)
  const isPausing = schedule.status === 'active' && pauseReason !== undefined
  const pause = isPausing ? ({ status: 'paused', pauseReason, updatedAt: now } as const) : {}
  const changed = await updateSchedule(trx, org, schedule.id, { failures, ...pause })
  if (!isPausing) return
  const data = await show(trx, org, changed)
  await publishEvent(deps, trx, org, { type: 'export_schedule.paused', data })
}
