import type { Deps } from '../platform/deps.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { currentTime, defineSweep } from '../platform/jobs/define-sweep.ts'
import { detectInMonitor, rangeAt } from './detection-step.ts'
import { listDueMonitors, listDueOrganizationsAllOrgs } from './queries.ts'

const monitorsAtOnce = 100

/** Checks every hour whether monitors' rates have risen. */
export const detectSpikes = defineSweep({
  name: 'monitor.detect-spikes',
  schedule: '5 * * * *',
  time: currentTime,
  timeoutSeconds: 55 * 60,
  listOrganizations: ({ db }: Deps, now) => listDueOrganizationsAllOrgs(db, rangeAt(now)),
  listItems: ({ db }, { org, now, after }) =>
    eachOfPages(monitorsAtOnce, (page) => listDueMonitors(db, org, rangeAt(now), page), after),
  sweepItem: async (deps, { id }, { org, now, attempt }) => {
    const detect = () =>
      attempt.transaction((trx) => detectInMonitor(deps, trx, org, id, { now, jobId: attempt.jobId }))
    while (await detect()) attempt.signal.throwIfAborted()
  },
})
