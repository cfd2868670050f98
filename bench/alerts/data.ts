// Creates the data for checking rules: conversations of the last 30 days, each with a result of every monitor, and 200
// rules.

import type pg from 'pg'
import type { AlertCondition } from '../../server/alert-rules/condition-schema.ts'
import { insertRules, type RuleFields } from '../../server/alert-rules/queries.ts'
import { insertMonitor, insertMonitorVersion } from '../../server/monitors/queries.ts'
import type { Db, OrgId } from '../../server/platform/db/database.ts'
import { newId } from '../../server/platform/ids.ts'

const monitorCount = 20
const agentCount = 10
const companyCount = 40

export type Period = { from: Date; until: Date }

const insertAgents = `
  INSERT INTO agents (organization_id, id, name, channel)
  SELECT $1, uuidv7(), 'Agent ' || n, 'voice' FROM generate_series(1, ${agentCount}) n`

const insertCompanies = `
  INSERT INTO companies (organization_id, id, name)
  SELECT $1, uuidv7(), 'Company ' || n FROM generate_series(1, ${companyCount}) n`

/** Inserts conversations that are distributed evenly over the period. */
const insertConversations = `
  INSERT INTO conversations (organization_id, id, external_id, agent_id, company_id, channel, direction, status,
    started_at, ended_at, duration_seconds, metadata, signals, created_at)
  SELECT $1, uuidv7(), 'stored-' || n, a.id, k.id, CASE WHEN n % 5 = 0 THEN 'chat' ELSE 'call' END,
    CASE WHEN n % 3 = 0 THEN 'outbound' ELSE 'inbound' END, 'completed', s.at, s.at + d.seconds * interval '1 second',
    d.seconds, jsonb_build_object('plan', CASE WHEN n % 4 = 0 THEN 'gold' ELSE 'free' END),
    jsonb_build_object('responseLatencyMs', jsonb_build_object('p50', d.latency, 'p95', d.latency * 2, 'max',
      d.latency * 3), 'longestSilenceMs', d.latency * 4, 'talkRatio', 0.5, 'toolCalls', n % 4, 'toolFailures', 0,
      'interruptions', jsonb_build_object('byAgent', n % 3, 'byCustomer', n % 2)), s.at
  FROM generate_series(1, $2::bigint) n
  CROSS JOIN LATERAL (SELECT 20 + floor(random() * 600)::int AS seconds, 400 + floor(random() * 1200)::int AS latency
    WHERE n IS NOT NULL) d
  CROSS JOIN LATERAL (SELECT date_trunc('milliseconds',
    $3::timestamptz + n / $2::float8 * ($4::timestamptz - $3::timestamptz)) AS at) s
  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS at FROM agents WHERE organization_id = $1) a
    ON a.at = n % ${agentCount}
  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1 AS at FROM companies WHERE organization_id = $1) k
    ON k.at = n % ${companyCount}
  ORDER BY n`

/** One result in ten is affected, and one conversation in fifty has no result. */
const insertResults = `
  INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at, score,
    monitor_version, result, status, reasoning, evidence, evaluator)
  SELECT $1, $2, c.id, c.started_at, c.ended_at, 0.5 + random() / 2, 1, (random() < 0.10)::int, 0, 'Said so.', '[]',
    'rule'
  FROM conversations c WHERE c.organization_id = $1 AND random() < 0.98
  ORDER BY c.started_at, c.id`

export const loadConversations = async (client: pg.Client, db: Db, org: OrgId, count: number, period: Period) => {
  await client.query(insertAgents, [org])
  await client.query(insertCompanies, [org])
  await client.query(insertConversations, [org, count, period.from, period.until])
  const monitorIds = Array.from({ length: monitorCount }, newId)
  for (const [at, id] of monitorIds.entries()) {
    const monitor = { id, name: `Monitor ${at + 1}`, description: null, kind: 'external', enabled: true } as const
    await insertMonitor(db, org, { ...monitor, scope: {}, samplePercent: 100 })
    await insertMonitorVersion(db, org, id, 1, {})
    await client.query(insertResults, [org, id])
  }
  const { rows } = await client.query('SELECT id FROM agents WHERE organization_id = $1 ORDER BY id', [org])
  return { monitorIds, agentIds: rows.map(({ id }) => id as string) }
}

type Loaded = Awaited<ReturnType<typeof loadConversations>>

const windows = [5, 15, 60, 240, 1_440]
const signals = ['responseLatencyMs.p95', 'durationSeconds', 'longestSilenceMs'] as const
const statistics = ['mean', 'p50', 'p95'] as const

/** Returns a condition that is not met, as on most days. */
const conditionOf = (at: number, monitorId: string): AlertCondition => {
  const of = at % 20
  if (of < 9) return { kind: 'rate', monitorId, direction: 'above', threshold: 0.3 }
  if (of < 11) return { kind: 'score', monitorId, statistic: 'mean', direction: 'below', threshold: 0.4 }
  if (of < 14) {
    const [signal = 'durationSeconds', statistic = 'mean'] = [signals[at % 3], statistics[(at >> 1) % 3]]
    return { kind: 'signal', signal, statistic, direction: 'above', threshold: 100_000 }
  }
  if (of < 15) return { kind: 'volume', direction: 'above', threshold: 1_000_000 }
  if (of < 17) return { kind: 'change', monitorId, direction: 'either', falseAlarmsPerYear: 2 }
  if (of === 17) return { kind: 'no_data', forMinutes: 60 }
  if (of === 18) return { kind: 'failures', source: at % 40 < 20 ? 'judges' : 'webhooks', threshold: 5 }
  const others: AlertCondition[] = [
    { kind: 'spike' },
    { kind: 'finding', events: ['created', 'reopened'] },
    { kind: 'judge_budget', percent: 80 },
    { kind: 'experiment_health' },
  ]
  return others[((at / 20) % others.length) | 0] ?? { kind: 'spike' }
}

const counting = ['rate', 'score', 'signal', 'volume', 'change', 'no_data']

/** Returns the rules. A quarter of those that count conversations have a filter, and a fifth have groups. */
export const makeRules = ({ monitorIds, agentIds }: Loaded, count: number): RuleFields[] =>
  Array.from({ length: count }, (_, at) => {
    const condition = conditionOf(at, monitorIds[at % monitorIds.length] ?? '')
    const isCounting = counting.includes(condition.kind)
    // Every twenty rules, the filters move on by one, so that each kind of condition gets all of them.
    const turn = at + Math.floor(at / 20)
    const filters = [
      { channels: ['call'] },
      { agentIds: agentIds.slice(0, 3) },
      { metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] },
    ]
    return {
      name: `Rule ${at + 1}`,
      enabled: true,
      severity: 'warning',
      condition,
      filter: isCounting && turn % 4 === 1 ? (filters[at % 3] ?? null) : null,
      groupBy: isCounting && turn % 5 === 2 ? (at % 2 === 0 ? 'agent' : 'company') : null,
      windowMinutes: windows[(turn + Math.floor(at / 20)) % windows.length] ?? 60,
      minimumSample: 30,
      destinationIds: [],
      ownerUserId: null,
      repeatEveryMinutes: null,
      runbookUrl: null,
    }
  })

export const storeRules = async (db: Db, org: OrgId, rules: RuleFields[], now: Date): Promise<void> => {
  await insertRules(
    db,
    org,
    rules.map((rule) => ({ ...rule, id: newId(), createdByUserId: null, now })),
  )
}
