import Type from 'typebox'
import type { Deps } from '../../deps.ts'
import type { OrgId } from '../../platform/db/database.ts'
import { attemptEach } from '../../platform/jobs/attempt-each.ts'
import { type Attempt, defineJob, type Job } from '../../platform/jobs/define-job.ts'
import { listDueMonitors, listDueOrganizationsAllOrgs } from './queries.ts'
import { detectInMonitor, rangeAt } from './step.ts'

const organizationsAtOnce = 500

type Payload = { organizationId?: string }

/** Has each organization looked at in which there is something new. */
const askEach = async ({ db, jobs, clock }: Deps, attempt: Attempt): Promise<void> => {
  const range = rangeAt(clock.now())
  for (let after: OrgId | undefined; ; ) {
    attempt.signal.throwIfAborted()
    const due = await listDueOrganizationsAllOrgs(db, range, { limit: organizationsAtOnce, after })
    after = due.at(-1)
    if (after === undefined) return
    const payloads = due.map((organizationId) => ({ organizationId }))
    await attempt.transaction((trx) => jobs.enqueueMany(trx, itself(), payloads))
  }
}

const detectInOrganization = async (deps: Deps, org: OrgId, attempt: Attempt): Promise<void> => {
  const { db, clock } = deps
  const now = clock.now()
  await attemptEach(attempt, await listDueMonitors(db, org, rangeAt(now)), async (monitorId) => {
    for (let more = true; more; ) {
      attempt.signal.throwIfAborted()
      const step = { now, jobId: attempt.jobId }
      more = await attempt.transaction((trx) => detectInMonitor(deps, trx, org, monitorId, step))
    }
  })
}

/** Looks each hour whether the rate of a monitor has risen; by organization. */
export const detectSpikes = defineJob({
  name: 'monitor.detect-spikes',
  payload: Type.Object({ organizationId: Type.Optional(Type.String()) }),
  schedule: '5 * * * *',
  timeoutSeconds: 55 * 60,
  concurrency: 4,
  run: (deps: Deps, { organizationId }, attempt) =>
    organizationId === undefined
      ? askEach(deps, attempt)
      : // The one who enqueued it wrote the id of an organization.
        detectInOrganization(deps, organizationId as OrgId, attempt),
})

/** The job enqueues itself, which TypeScript cannot infer the type of otherwise. */
const itself = (): Job<Deps, Payload> => detectSpikes
