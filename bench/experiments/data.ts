// Creates the data for counting and reading: conversations of an agent with two versions and returning customers, each
// with a result of nearly every monitor.

import type pg from 'pg'

/** The number of units for a million conversations. */
const unitsInMillion = 300_000
const days = 30
/** The number of conversations in one statement. */
const batch = 50_000

export type ConversationRange = { from: number; to: number; of: number }

/** A few customers call often, but most call once or twice. One in a thousand is routed again with each call. */
const insertConversations = `
  INSERT INTO conversations (organization_id, id, external_id, agent_id, agent_version_id, company_id, channel,
    direction, status, started_at, ended_at, duration_seconds, customer_id, metadata, signals)
  SELECT $1, uuidv7(), 'stored-' || n, $2, CASE d.arm WHEN 0 THEN $3::uuid ELSE $4::uuid END, k.id, 'call',
    CASE WHEN n % 3 = 0 THEN 'outbound' ELSE 'inbound' END, 'completed', s.at, s.at + d.seconds * interval '1 second',
    d.seconds, CASE WHEN n % 50 > 0 THEN 'customer-' || c.customer END, '{}', '{}'
  FROM generate_series($5::bigint, $6::bigint - 1) n
  CROSS JOIN LATERAL (SELECT floor(power(random(), 1.5) * $7::float8 * ${unitsInMillion} / 1e6)::int AS customer
    WHERE n IS NOT NULL) c
  CROSS JOIN LATERAL (SELECT 20 + floor(random() * 600)::int AS seconds,
    CASE WHEN c.customer % 1000 = 0 OR n % 50 = 0 THEN floor(random() * 2)::int
      ELSE get_byte(md5(c.customer::text)::bytea, 0) % 2 END AS arm) d
  CROSS JOIN LATERAL (SELECT date_trunc('milliseconds', e.started_at + n / $7::float8 * interval '${days} days') AS at
    FROM experiments e WHERE e.organization_id = $1) s
  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS at FROM companies WHERE organization_id = $1) k
    ON k.at = n % 100
  ORDER BY n`

/**
 * 97% of the results are scored, and one percent each is unscored, failed, or missing. Slightly more are affected in
 * arm B.
 */
const insertResults = `
  INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at, score,
    monitor_version, result, status, reasoning, evidence, evaluator)
  SELECT $1, m.id, c.id, c.started_at, c.ended_at,
    CASE WHEN d.draw < 0.97 AND m.kind = 'rule' THEN (c.duration_seconds + floor(random() * 1000)) / 60.0 END,
    m.current_version, CASE WHEN d.draw < 0.97 THEN (random() < 0.10 + 0.01 * c.arm)::int END,
    CASE WHEN d.draw < 0.97 THEN 0 WHEN d.draw < 0.98 THEN 1 ELSE 2 END, 'Said so.', '[]', m.kind
  FROM monitors m
  CROSS JOIN (SELECT v.id, v.started_at, v.ended_at, v.duration_seconds, (v.agent_version_id = $2)::int AS arm
    FROM generate_series($3::bigint, $4::bigint - 1) n
    JOIN conversations v ON v.organization_id = $1 AND v.external_id = 'stored-' || n) c
  CROSS JOIN LATERAL (SELECT random() AS draw WHERE c.id IS NOT NULL AND m.id IS NOT NULL) d
  WHERE m.organization_id = $1 AND d.draw < 0.99
  ORDER BY m.id, c.started_at, c.id`

/** Inserts changes like the service does. */
const insertChanges = `
  INSERT INTO experiment_changes (organization_id, experiment_id, id, conversation_id, at)
  SELECT $1, e.id, uuidv7(), v.id, date_trunc('milliseconds', now())
  FROM experiments e
  CROSS JOIN generate_series($2::bigint, $3::bigint - 1) n
  JOIN conversations v ON v.organization_id = $1 AND v.external_id = 'stored-' || n
  WHERE e.organization_id = $1
  ORDER BY n`

export type AgentArms = { agentId: string; armAVersionId: string; armBVersionId: string }

export const insertCompanies = (client: pg.Client, org: string) =>
  client.query(
    `INSERT INTO companies (organization_id, id, name) SELECT $1, uuidv7(), 'Company ' || n FROM generate_series(1, 100) n`,
    [org],
  )

/** Moves the start of the experiment before its first conversation. */
export const beginEarlier = (client: pg.Client, org: string) =>
  client.query(
    `UPDATE experiments SET started_at = started_at - interval '${days} days',
      counted_at = counted_at - interval '${days} days' WHERE organization_id = $1`,
    [org],
  )

export const insertRange = async (
  client: pg.Client,
  org: string,
  arms: AgentArms,
  { from, to, of }: ConversationRange,
): Promise<void> => {
  const { agentId, armAVersionId, armBVersionId } = arms
  for (let at = from; at < to; at += batch) {
    const end = Math.min(to, at + batch)
    await client.query(insertConversations, [org, agentId, armAVersionId, armBVersionId, at, end, of])
    // The following statements look up conversations by ID, so they need statistics.
    if (at === from) await client.query('ANALYZE conversations')
    await client.query(insertResults, [org, armBVersionId, at, end])
  }
  await client.query('VACUUM ANALYZE')
  await client.query(insertChanges, [org, from, to])
  await client.query('ANALYZE experiment_changes')
  await client.query('CHECKPOINT')
}
