import type pg from 'pg'

/** Makes a running service build an organization's topics now, even if they were just built. */
export const requestBuild = async (client: pg.Client, org: string): Promise<void> => {
  await client.query(
    `UPDATE topic_builds SET built_at = built_at - interval '2 days' WHERE organization_id = $1::uuid`,
    [org],
  )
  await client.query(
    `INSERT INTO jobs (organization_id, id, name, payload, state, priority, due_at)
     VALUES ($1::uuid, gen_random_uuid(), $2, jsonb_build_object('organizationId', $1::uuid::text), 'waiting', 0, now())`,
    [org, 'topics.build'],
  )
  await client.query(`SELECT pg_notify('earshot_jobs', 'topics.build')`)
}
