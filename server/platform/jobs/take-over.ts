import type pg from 'pg'

// A job is skipped if its attempt is in a transaction, which may still commit. The job is checked again later.
const takeOverSql = `
  WITH lost AS (
    SELECT organization_id, id FROM jobs
    WHERE state = 'active' AND (worker_key = ANY($1::integer[]) OR lease_until < now()) FOR UPDATE SKIP LOCKED
  )
  UPDATE jobs SET state = 'waiting', due_at = now(), worker_key = NULL, lease_until = NULL, error = 'its worker died'
  FROM lost WHERE jobs.organization_id = lost.organization_id AND jobs.id = lost.id
  RETURNING jobs.name, jobs.id, attempt`

/** Lets other workers run the jobs of dead ones, and those with an expired lease. Returns the attempts that ended. */
export const takeOver = async (client: pg.Client, deadWorkers: number[]) => {
  const { rows } = await client.query<{ name: string; id: string; attempt: number }>(takeOverSql, [deadWorkers])
  return rows
}
