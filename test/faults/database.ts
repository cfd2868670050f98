// Writes data directly to the database that would take too long to create through requests.
import { join } from 'node:path'
import pg from 'pg'
import { generateKey, hashKey, keyPrefix } from '../../server/platform/identity/keys.ts'
import { newId } from '../../server/platform/ids.ts'

type Query = (text: string, values?: unknown[]) => Promise<unknown>

/** Connects to the embedded database of a data directory. */
export const connectTo = async (dataDir: string): Promise<pg.Client> => {
  const client = new pg.Client({ host: join(dataDir, 'postgres'), user: 'earshot', database: 'earshot' })
  // The tests kill the database from time to time.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Inserts ended calls of one agent, which start a second apart. */
export const insertCalls = async (
  client: pg.Client,
  org: string,
  agentId: string,
  count: number,
): Promise<string[]> => {
  const { rows } = await client.query(
    `INSERT INTO conversations (organization_id, id, agent_id, channel, status, started_at, metadata, signals)
     SELECT $1, gen_random_uuid(), $2, 'call', 'completed', timestamptz '2026-11-05Z' + n * interval '1 second',
       '{}', '{}'
     FROM generate_series(1, $3::integer) n RETURNING id`,
    [org, agentId, count],
  )
  return rows.map(({ id }) => id)
}

export type Reviewer = { userId: string; key: string }

/** Inserts members who have joined, each with a key. */
export const insertReviewers = async (query: Query, org: string, count: number): Promise<Reviewer[]> => {
  const made = Array.from({ length: count }, () => ({ userId: newId(), key: generateKey() }))
  for (const { userId, key } of made) {
    const email = `${userId}@example.com`
    await query(`INSERT INTO users (id, email, name) VALUES ($1, $2, 'Rita')`, [userId, email])
    await query(
      `INSERT INTO members (organization_id, id, user_id, name, role, joined_at)
       VALUES ($1, $2, $3, 'Rita', 'member', now())`,
      [org, newId(), userId],
    )
    await query(
      `INSERT INTO api_keys (organization_id, id, hash, prefix, name, role, created_by_user_id)
       VALUES ($1, $2, $3, $4, 'A key', 'member', $5)`,
      [org, newId(), hashKey(key), keyPrefix(key), userId],
    )
  }
  return made
}
