import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { publishEvent } from '../webhooks/send.ts'
import { type PauseReason, type StoredSchedule, updateSchedule } from './queries.ts'
import { type ScheduleRun, updateRun } from './runs/queries.ts'
import { show } from './show-schedules.ts'

/** This many failed runs in a row pause a schedule. */
const mostFailures = 5

type Window = Pick<ScheduleRun, 'since' | 'until'>
type RunEnd = { status: 'succeeded' } | { status: 'failed'; error: string; pause?: PauseReason }

/** Where the next period since the last run starts, including a new start that was set during the run. */
const coveredAfter = ({ windowRule, coveredUntil }: StoredSchedule, { since, until }: Window): Date => {
  const isMovedBack = windowRule.kind === 'since_last_run' && coveredUntil < since
  return isMovedBack || coveredUntil > until ? coveredUntil : until
}

/**
 * Ends a run with all consequences for its schedule, in the caller's transaction, which has locked the schedule. A
 * failed
 * period is not covered: the next run since the last one includes it.
 */
export const endRun = async (
  deps: Pick<Deps, 'jobs' | 'clock'>,
  trx: Db,
  org: OrgId,
  { schedule, run, end }: { schedule: StoredSchedule; run: Window & Pick<ScheduleRun, 'id'>; end: RunEnd },
): Promise<void> => {
  const now = deps.clock.now()
  const error = end.status === 'failed' ? end.error : null
  await updateRun(trx, org, run.id, { status: end.status, error, finishedAt: now })
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
