import Type from 'typebox'
import type { Deps } from '../deps.ts'
import { lockLine } from '../exports/queries.ts'
import { getOrganization } from '../organizations/queries.ts'
import type { Db, OrgId } from '../platform/db/database.ts'
import { attemptEach, eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineJob } from '../platform/jobs/define-job.ts'
import { makeRun, obstacleOf } from './plan.ts'
import { listDueAllOrgs, lockSchedule, updateSchedule } from './queries.ts'
import { latestPlanned, plannedAfter } from './recurrence.ts'

const batch = 100

/** What stays due is made up for later, by one run: while exports are switched off, or a run is unfinished. */
const plan = async (deps: Deps, trx: Db, org: OrgId, id: string): Promise<void> => {
  await lockLine(trx, org)
  const schedule = await lockSchedule(trx, org, id)
  const now = deps.clock.now()
  if (schedule?.status !== 'active' || schedule.nextRunAt > now) return
  const { status, entitlements, features } = await getOrganization(trx, org)
  if (status === 'suspended' || !entitlements.monitors || !features.monitorExports) return
  const { recurrence, config } = schedule
  const latest = latestPlanned(recurrence, config.timezone, now)
  // Never an earlier one, though the rules of a time zone may change under a schedule.
  const plannedFor = latest > schedule.nextRunAt ? latest : schedule.nextRunAt
  const obstacle = await obstacleOf(trx, org, schedule, plannedFor)
  if (obstacle === 'unfinished' || obstacle === 'line_full') return
  await updateSchedule(trx, org, id, { nextRunAt: plannedAfter(recurrence, config.timezone, plannedFor) })
  if (obstacle === undefined) await makeRun(deps, trx, org, { schedule, plannedFor, isManual: false })
}

/** Makes the runs that are due, each in a transaction of its own. */
export const planRuns = defineJob({
  name: 'export-schedule.plan',
  payload: Type.Object({}),
  schedule: '* * * * *',
  concurrency: 1,
  run: async (deps: Deps, _payload, attempt) => {
    await deps.blobs.check()
    const due = eachOfPages(batch, (page) => listDueAllOrgs(deps.db, deps.clock.now(), page))
    await attemptEach(attempt, due, ({ org, id }) => attempt.transaction((trx) => plan(deps, trx, org, id)))
  },
})
