import type { Deps } from '../platform/deps.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { currentTime, defineSweep } from '../platform/jobs/define-sweep.ts'
import { listDue, listOrganizationsWithDueAllOrgs } from './queries.ts'
import { startDueRun } from './runs/lifecycle.ts'

const batch = 100

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
  sweepItem: (deps, { id }, { org, attempt }) => attempt.transaction((trx) => startDueRun(deps, trx, org, id)),
})
