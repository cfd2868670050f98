import { runsOneVersion } from '../../platform/db/about-database.ts'
import type { Deps } from '../../platform/deps.ts'
import { currentTime, defineSweep } from '../../platform/jobs/define-sweep.ts'
import { buildNext, checkDays, thin } from './build.ts'
import { listBuiltOrganizationsAllOrgs, listDueOrganizationsAllOrgs } from './queries.ts'

/** Yields numbered items while there are more to process. Progress is stored, so an interrupted slice continues. */
async function* whileMore(step: () => Promise<boolean>): AsyncGenerator<{ id: string }> {
  for (let at = 0; await step(); at++) yield { id: String(at) }
}

const done = async () => {}

/** Builds the sums of changed hours every minute, and those of all earlier hours after an upgrade. */
export const buildAnalyticsDays = defineSweep({
  name: 'analytics.build-days',
  schedule: '* * * * *',
  // Earlier versions of the service do not record their changes.
  time: async (deps: Deps) => ((await runsOneVersion(deps.db)) ? currentTime(deps) : undefined),
  concurrency: 2,
  listOrganizations: ({ db }: Deps) => listDueOrganizationsAllOrgs(db),
  listItems: async function* (deps, { org }) {
    yield* whileMore(() => buildNext(deps, org))
    await thin(deps, org)
  },
  sweepItem: done,
})

/** The maximum number of days that are checked in one night. The next night continues. */
const daysAtNight = 30

/** Compares stored sums with the conversations they were built from. */
export const checkAnalyticsDays = defineSweep({
  name: 'analytics.check-days',
  schedule: '20 3 * * *',
  time: currentTime,
  concurrency: 1,
  timeoutSeconds: 30 * 60,
  listOrganizations: ({ db }: Deps) => listBuiltOrganizationsAllOrgs(db),
  listItems: async function* (deps, { org, after }) {
    const from = after === undefined ? 0 : Number(after) + 1
    for (let at = from; at < daysAtNight && (await checkDays(deps, org)); at++) yield { id: String(at) }
  },
  sweepItem: done,
})
