import type { ServiceDeps } from '../../../server/deps.ts'
import { deliver } from '../../../server/webhooks/deliveries/jobs.ts'
import { moveDue } from '../jobs/move-due.ts'

const dayMs = 86_400_000

/** Runs what is due now: the first attempt of each series. However slow a test is, no retry is due by itself. */
export const runDue = async (deps: ServiceDeps) => {
  const outcomes = await deps.jobs.drain([deliver], deps)
  await moveDue(deps.db, deliver.name, dayMs, 0)
  return outcomes
}
