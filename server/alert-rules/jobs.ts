import { oldIncidents } from '../alert-incidents/queries.ts'
import type { Deps } from '../platform/deps.ts'
import { eachOfPages } from '../platform/jobs/attempt-each.ts'
import { defineCleanup } from '../platform/jobs/define-cleanup.ts'
import { defineSweep, trustedTime } from '../platform/jobs/define-sweep.ts'
import { checkRule } from './check-rule.ts'
import { listDueOrganizationsAllOrgs, listDueRules } from './queries.ts'

const rulesAtOnce = 100

/**
 * Checks the rules that are due. Does nothing while the clock may be wrong, because a wrong clock would raise false
 * alarms.
 */
export const checkAlertRules = defineSweep({
  name: 'alert.check',
  schedule: '*/15 * * * * *',
  time: trustedTime,
  listOrganizations: ({ db }: Deps, now) => listDueOrganizationsAllOrgs(db, now),
  listItems: ({ db }, { org, now, after }) =>
    eachOfPages(rulesAtOnce, (page) => listDueRules(db, org, now, page), after),
  sweepItem: (deps, rule, { org, now, attempt }) => checkRule(deps, org, rule, { now, attempt }),
})

export const sweepAlertIncidents = defineCleanup({
  name: 'alert.sweep',
  schedule: '35 * * * *',
  rows: { incidents: oldIncidents },
})
