import type { ServiceDeps } from '../../../server/deps.ts'
import { deliver } from '../../../server/webhooks/deliveries/jobs.ts'
import { moveDue } from '../jobs/move-due.ts'

const dayMs = 86_400_000

/**
 * Runs the jobs that are due now. These are only first attempts, because retries never become due on their own, even in
 * a slow test.
 */
export const runDue = async (deps: ServiceDeps) => {
  const outcomes = await deps.jobs.drain([deliver], deps)
  await moveDue(deps.db, deliver.name, dayMs, 0)
  return outcomes
}
