import { sql } from 'kysely'
import type { ServiceDeps } from '../../../server/deps.ts'
import { deliver } from '../../../server/webhooks/deliveries/jobs.ts'

/** Runs what is due now: the first attempt of each series. However slow a test is, no retry is due by itself. */
export const runDue = async (deps: ServiceDeps) => {
  const outcomes = await deps.jobs.drain([deliver], deps)
  await sql`
    UPDATE jobs SET due_at = due_at + interval '1 day'
    WHERE name = ${deliver.name} AND state = 'delayed' AND attempt = 0`.execute(deps.db)
  return outcomes
}
