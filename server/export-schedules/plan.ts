// Creates a run together with its export.
import { createHash } from 'node:crypto'
import { createInLine, isLineFull } from '../exports/lifecycle.ts'
import { requireSelected } from '../exports/requirements.ts'
import { isMember } from '../members/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { ApiError } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import { endRun } from './end-run.ts'
import { configOf, type ScheduledConfig } from './parse-schedule.ts'
import type { PauseReason, StoredSchedule } from './queries.ts'
import { findRun, hasRunAt, hasUnfinishedRun, insertRun, type ScheduleRun } from './runs/queries.ts'
import { windowOf } from './window.ts'

/** The same for the same time of a schedule, so that a run has one export however often it is created. */
const operationIdOf = (scheduleId: string, plannedFor: Date): string => {
  const hex = createHash('sha256').update(`${scheduleId} ${plannedFor.toISOString()}`).digest('hex')
  // UUIDv8, which allows custom content.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Why a run cannot start now. */
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
  { ownerUserId: userId }: StoredSchedule,
  config: ScheduledConfig & { notificationEndpointId?: string },
): Promise<Fault | undefined> => {
  if (!(await isMember(trx, org, userId))) {
    const error = 'The owner of the schedule is no longer a member. Edit the schedule to become its owner.'
    return { error, pause: 'owner_left' }
  }
  const { features } = await getOrganization(trx, org)
  try {
    await requireSelected(trx, { org, userId, features }, config, 'destination.webhookEndpointId')
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const gone = 'A monitor, company, agent, group, or endpoint of the schedule was deleted.'
    return { error: error.kind === 'notFound' ? gone : error.message }
  }
}

/**
 * Creates the run for a time; it fails immediately if its export cannot be created. The caller has locked the queue and
 * the
 * schedule, and checked for obstacles.
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
  const config = { ...configOf(schedule), ...endpoint }
  const fault = await faultOf(trx, org, schedule, config)
  const exported = fault
    ? undefined
    : await createInLine(deps, trx, org, {
        ...window,
        ...endpoint,
        experimentId: null,
        operationId: operationIdOf(schedule.id, plannedFor),
        config: { ...config, since: window.since.toISOString(), until: window.until.toISOString() },
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
  if (!fault) return run
  await endRun(deps, trx, org, { schedule, run, end: { status: 'failed', ...fault } })
  return (await findRun(trx, org, run.id)) ?? run
}
