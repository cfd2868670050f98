// Returns schedules and runs in the format of the API and its events.
import type { Db, OrgId } from '../platform/db/database.ts'
import { configOf, shownConfig } from './contents.ts'
import type { StoredSchedule } from './queries.ts'
import { listLastRuns, type ScheduleRun } from './runs/queries.ts'

const nothing = {
  webhookEndpointId: null,
  bucket: null,
  region: null,
  prefix: null,
  endpoint: null,
  accessKeyId: null,
  fileName: null,
  encryption: null,
}

const recurring = { minute: null, at: null, weekday: null, day: null }
const windowed = { hours: null, days: null }

export const shownRun = ({ scheduleId: _of, isMoved: _moved, isManual: manual, ...run }: ScheduleRun) => ({
  ...run,
  manual,
})

const shownSchedule = (stored: StoredSchedule, lastRun: ScheduleRun | undefined) => {
  const { secret: _sealed, config: _, windowRule, failures, recurrence, destination, nextRunAt, ...schedule } = stored
  return {
    ...schedule,
    ...shownConfig(configOf(stored)),
    recurrence: { ...recurring, ...recurrence },
    window: { ...windowed, ...windowRule },
    destination: { ...nothing, ...destination },
    consecutiveFailures: failures,
    nextRunAt: schedule.status === 'active' ? nextRunAt : null,
    lastRun: lastRun === undefined ? null : shownRun(lastRun),
  }
}

export const showAll = async (db: Db, org: OrgId, schedules: StoredSchedule[]) => {
  const lastRuns = await listLastRuns(
    db,
    org,
    schedules.map(({ id }) => id),
  )
  const byId = new Map(lastRuns.map((run) => [run.scheduleId, run]))
  return schedules.map((stored) => shownSchedule(stored, byId.get(stored.id)))
}

export const show = async (db: Db, org: OrgId, stored: StoredSchedule) => {
  const [lastRun] = await listLastRuns(db, org, [stored.id])
  return shownSchedule(stored, lastRun)
}
