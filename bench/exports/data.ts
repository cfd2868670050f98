// Creates the data of the exports benchmark: an organization with calls over 300 days, each with a result of every
// monitor.

import type pg from 'pg'

const firstDay = Date.UTC(2026, 0, 1)
/** With this step, a million calls take 300 days. */
const stepMs = 25_920
/** Calls arrive when they end, so only blocks of this size are in the order of time. */
const block = 50
/** The number of calls in one statement. */
const batch = 100_000

const insertCalls = `
  INSERT INTO conversations (organization_id, id, external_id, agent_id, agent_version_id, company_id, channel,
    direction, status, started_at, ended_at, duration_seconds, customer_id, metadata, signals)
  SELECT $1, uuidv7(), 'call-' || n, a.id, v.id, c.id, 'call', CASE WHEN n % 3 = 0 THEN 'outbound' ELSE 'inbound' END,
    'completed', s.at, s.at + s.seconds * interval '1 second', s.seconds, 'customer-' || n % 50000,
    jsonb_build_object('tier', CASE WHEN n % 100 = 7 THEN 'gold' ELSE 'basic' END, 'attempt', n % 4,
      'region', (ARRAY['north', 'south'])[1 + n % 2], 'returning', n % 5 = 0, 'reference', md5(n::text)), '{}'
  FROM generate_series($2::bigint, $3::bigint - 1) n
  CROSS JOIN LATERAL (SELECT 20 + (n * 37 % 600)::int AS seconds, date_trunc('milliseconds',
    to_timestamp($4::float8 / 1000) + (n - n % ${block} + n * 37 % ${block} + random()) * interval '${stepMs} ms') AS at) s
  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS at FROM agents WHERE organization_id = $1) a ON a.at = n % 50
  JOIN agent_versions v ON v.organization_id = $1 AND v.agent_id = a.id AND v.number = 1 + n / 50 % 4
  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS at FROM companies WHERE organization_id = $1) c
    ON c.at = n % 100
  ORDER BY n`

/** 97% of the results are scored, and 10% of those are affected. */
const insertResults = `
  INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at, score,
    monitor_version, result, status, reasoning, evidence, evaluator)
  SELECT $1, m.id, c.id, c.started_at, date_trunc('milliseconds', c.ended_at + random() * interval '1 minute'),
    CASE WHEN d.draw < 0.97 THEN round(random()::numeric, 4) END::float8, 1,
    CASE WHEN d.draw < 0.097 THEN 1 WHEN d.draw < 0.97 THEN 0 END,
    CASE WHEN d.draw < 0.97 THEN 0 WHEN d.draw < 0.99 THEN 1 ELSE 2 END,
    CASE WHEN $4 THEN rpad(md5(random()::text), 300, ' the caller asked, "why", and was told;') ELSE 'Said so.' END,
    '[]', 'rule'
  FROM (SELECT id, started_at, ended_at FROM conversations
    WHERE organization_id = $1 AND started_at >= $2 AND started_at < $3 ORDER BY id) c
  CROSS JOIN monitors m
  CROSS JOIN LATERAL (SELECT random() AS draw WHERE c.id IS NOT NULL AND m.id IS NOT NULL) d
  WHERE m.organization_id = $1`

/** Returns the earliest start of the call with this number, which must be a multiple of the block. */
export const startOf = (call: number): string => new Date(firstDay + call * stepMs).toISOString()

/** Inserts companies, agents with versions, and monitors. */
export const insertBasics = async (client: pg.Client, org: string, monitors: number): Promise<string[]> => {
  const series = (count: number) => `generate_series(1, ${count}) n`
  for (const statement of [
    `INSERT INTO companies (organization_id, id, name) SELECT $1, uuidv7(), 'Company ' || n FROM ${series(100)}`,
    `INSERT INTO agents (organization_id, id, name, channel)
     SELECT $1, uuidv7(), 'Agent ' || n, 'voice' FROM ${series(50)}`,
    `INSERT INTO agent_versions (organization_id, id, agent_id, number, system_prompt, config, content_hash)
     SELECT $1, uuidv7(), id, n, 'You help.', '{}', id || ' ' || n FROM agents, ${series(4)} WHERE organization_id = $1`,
    `INSERT INTO monitors (organization_id, id, name, kind, enabled, scope, sample_percent, current_version)
     SELECT $1, uuidv7(), 'Monitor ' || n, 'external', true, '{}', 100, 1 FROM ${series(monitors)}`,
    `INSERT INTO monitor_versions (organization_id, monitor_id, number, definition)
     SELECT $1, id, 1, '{}' FROM monitors WHERE organization_id = $1`,
  ]) {
    await client.query(statement, [org])
  }
  const { rows } = await client.query('SELECT id FROM monitors WHERE organization_id = $1 ORDER BY id', [org])
  return rows.map(({ id }) => id as string)
}

type Range = { from: number; to: number; longReasoning: boolean }

/** Inserts a range of calls. Their reasoning has 300 characters or two words. */
export const insertRange = async (
  client: pg.Client,
  org: string,
  { from, to, longReasoning }: Range,
): Promise<void> => {
  for (let at = from; at < to; at += batch) {
    const end = Math.min(to, at + batch)
    await client.query(insertCalls, [org, at, end, firstDay])
    await client.query(insertResults, [org, startOf(at), startOf(end), longReasoning])
  }
}

/** Updates statistics and enables index-only scans, which new rows don't have. */
export const settle = async (client: pg.Client): Promise<void> => {
  await client.query('VACUUM ANALYZE')
  await client.query('CHECKPOINT')
}
