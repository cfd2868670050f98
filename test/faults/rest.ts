// Waits until a working service has finished everything, and reports what never ends.
import { setTimeout as pause } from 'node:timers/promises'
import type { World } from './world.ts'

const restWithinMs = 120_000
const hurryEveryMs = 1_000

/**
 * Makes postponed work due, because waiting for minutes would prove nothing. A call to a model is only retried eight
 * times, half a minute apart, so new evaluations keep their pauses.
 */
const hurrySql = `UPDATE jobs SET due_at = now()
  WHERE state = 'delayed' AND due_at > now()
  AND (name <> 'conversation.judge' OR created_at < now() - interval '8 seconds')`

const unfinishedSql = `
  SELECT 'the job ' || name || ' is ' || state || coalesce(': ' || error, '') AS what FROM jobs
  WHERE state <> 'completed'
  UNION ALL SELECT 'a job has a worker and does not run' FROM jobs WHERE state <> 'active' AND worker_key IS NOT NULL
  UNION ALL SELECT 'an export is ' || status FROM monitor_exports WHERE status IN ('pending', 'processing')
  UNION ALL SELECT 'a run is ' || status FROM evaluation_runs WHERE status IN ('queued', 'running')
  UNION ALL SELECT 'a webhook is ' || status || coalesce(': ' || reason, '') FROM webhook_deliveries WHERE status <> 'succeeded'
  UNION ALL SELECT 'a call of a provider is ' || status FROM integration_deliveries WHERE status = 'pending'
  UNION ALL SELECT 'a recording is ' || status || coalesce(': ' || failure, '') FROM recordings WHERE status <> 'stored'
  UNION ALL SELECT 'a change is not counted' FROM experiment_changes
  UNION ALL SELECT 'a conversation of an experiment is pending' FROM experiment_conversations WHERE is_pending`

/** Resolves once everything has finished, or with a list of what has not finished in time. */
export const waitForRest = async ({ database }: World): Promise<string[]> => {
  const deadline = performance.now() + restWithinMs
  for (let hurriedAt = 0; ; ) {
    const rows: { what: string }[] = await database.query(unfinishedSql)
    if (rows.length === 0 || performance.now() > deadline) return rows.map(({ what }) => `${what}, for ever`)
    if (performance.now() - hurriedAt > hurryEveryMs) {
      await database.query(hurrySql)
      hurriedAt = performance.now()
    }
    await pause(50)
  }
}
