import { lockLine } from '../exports/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import type { Deps } from '../platform/deps.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { currentTime, defineSweep } from '../platform/jobs/define-sweep.ts'
import { makeRun, obstacleOf } from './plan.ts'
import { listDue, listOrganizationsWithDueAllOrgs, lockSchedule, updateSchedule } from './queries.ts'
import { latestPlanned, plannedAfter } from './recurrence.ts'

const batch = 100

/** Overdue runs are made up for later by one run: after exports were disabled, or while a run was unfinished. */
const plan = async (deps: Deps, trx: Db, org: OrgId, id: string): Promise<void> => {
  await lockLine(trx, org)
  const schedule = await lockSchedule(trx, org, id)
  const now = deps.clock.now()
  if (schedule?.status !== 'active' || schedule.nextRunAt > now) return
  const { status, entitlements, features } = await getOrganization(trx, org)
  if (status === 'suspended' || !entitlements.monitors || !features.monitorExports) return
  const { recurrence, config } = schedule
  const latest = latestPlanned(recurrence, config.timezone, now)
  // Never an earlier one, even if the rules of a time zone change.
  const plannedFor = latest > schedule.nextRunAt ? latest : schedule.nextRunAt
  const obstacle = await obstacleOf(trx, org, schedule, plannedFor)
  if (obstacle === 'unfinished' || obstacle === 'line_full') return
  await updateSchedule(trx, org, id, { nextRunAt: plannedAfter(recurrence, config.timezone, plannedFor) })
  if (obstacle === undefined) await makeRun(deps, trx, org, { schedule, plannedFor, isManual: false })
}

/** Creates the runs that are due, each in its own transaction. */
export const planRuns = defineSweep({
  name: 'export-schedule.plan',
  schedule: '* * * * *',
  time: async (deps: Deps) => {
    await deps.blobs.check()
    return currentTime(deps)
  },
  listOrganizations: ({ db }, now) => listOrganizationsWithDueAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) => eachOfPages(batch, (page) => listDue(db, org, now, page), after),
  sweepItem: (deps, { id }, { org, attempt }) => attempt.transaction((trx) => plan(deps, trx, org, id)),
})
