// Compares answers of analytics with counting all rows one by one.

import { sql } from 'kysely'
import type { Static } from 'typebox'
import { expect } from 'vitest'
import type { Analytics } from '../../../server/analytics/schema.ts'
import type { Db, OrgId } from '../../../server/platform/db/database.ts'
import { hourMs } from '../../../server/platform/durations.ts'
import type { SeededRandom } from '../../malformed.ts'
import type { TestServer } from '../../server.ts'
import { firstHour, type History, historyHours } from './history.ts'

type Answer = Static<typeof Analytics>

type Row = {
  id: string
  startedAt: Date
  agentId: string
  versionId: string | null
  companyId: string | null
  channel: string
  direction: string | null
  plan: string | null
  values: Record<string, number | null>
}

/** All conversations, with the value of each measure: for rates, 1 if affected. */
const readRows = async (db: Db, org: OrgId, monitors: string[]): Promise<Row[]> => {
  const { rows } = await sql<Row>`
    SELECT c.id, c.started_at AS "startedAt", c.agent_id AS "agentId", c.agent_version_id AS "versionId",
      c.company_id AS "companyId", c.channel, c.direction, c.metadata->>'plan' AS plan,
      jsonb_build_object('volume', 1, 'duration', c.duration_seconds, 'csat', (
        SELECT CASE jsonb_typeof(m.value) WHEN 'number' THEN m.value::float8 WHEN 'boolean' THEN (m.value::boolean)::int END
        FROM customer_metrics m WHERE m.organization_id = ${org} AND m.conversation_id = c.id AND m.key = 'csat'))
        AS values
    FROM conversations c WHERE c.organization_id = ${org}`.execute(db)
  const results = await sql<{ id: string; monitorId: string; result: number | null; score: number | null }>`
    SELECT conversation_id AS id, monitor_id AS "monitorId", result, score FROM monitor_results
    WHERE organization_id = ${org} AND monitor_id = ANY(${monitors}::uuid[])
    ORDER BY monitor_version`.execute(db)
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const { id, monitorId, result, score } of results.rows) {
    const row = byId.get(id)
    if (!row) throw new Error('a result without its conversation')
    row.values[`rate:${monitorId}`] = result
    row.values[`score:${monitorId}`] = score
  }
  return rows
}

const dimensions: Record<string, (row: Row) => string | null> = {
  agent: (row) => row.agentId,
  version: (row) => row.versionId,
  company: (row) => row.companyId,
  channel: (row) => row.channel,
  direction: (row) => row.direction,
  'metadata:plan': (row) => row.plan,
}

type Query = {
  measure: { kind: string; monitorId?: string; statistic?: string; key?: string }
  filter: { since: string; until: string; companyIds?: string[]; channels?: string[] }
  groupBy: string[]
  interval?: 'hour' | 'day'
  timezone: string
}

const nameOf = ({ kind, monitorId, key }: Query['measure']): string =>
  monitorId === undefined ? (key ?? kind) : `${kind}:${monitorId}`

const near = (value: number | null, expected: number | null, what: string) => {
  if (value === null || expected === null) expect(value, what).toBe(expected)
  else expect(Math.abs(value - expected), what).toBeLessThanOrEqual(1e-9 * (1 + Math.abs(expected)))
}

/** A percentile may be rounded by 1.25%. */
const expectFigure = (figure: { n: number; value: number | null }, values: number[], query: Query, what: string) => {
  const { kind, statistic } = query.measure
  expect(figure.n, what).toBe(values.length)
  const sum = values.reduce((all, value) => all + value, 0)
  if (kind === 'volume') return near(figure.value, values.length, what)
  if (values.length === 0) return expect(figure.value, what).toBeNull()
  if (statistic === 'sum') return near(figure.value, sum, what)
  if (kind === 'rate' || statistic === 'mean') return near(figure.value, sum / values.length, what)
  const sorted = values.toSorted((a, b) => a - b)
  const share = Number(statistic?.slice(1)) / 100
  const exact = sorted[Math.ceil(share * values.length - 1e-9) - 1] ?? Number.NaN
  expect(Math.abs((figure.value ?? Number.NaN) - exact), what).toBeLessThanOrEqual(0.0126 * Math.abs(exact))
}

export const randomQuery = (random: SeededRandom, { monitors, companies }: History): Query => {
  const statistic = random.pick(['mean', 'sum', 'p50', 'p95'])
  const measure = random.pick([
    { kind: 'volume' },
    { kind: 'rate', monitorId: random.pick(monitors) },
    { kind: 'score', monitorId: random.pick(monitors), statistic },
    { kind: 'duration', statistic },
    { kind: 'metric', key: 'csat', statistic },
  ])
  const from = random.below(historyHours - 4)
  const to = from + 3 + random.below(historyHours - from)
  const ragged = () => (random.chance(0.5) ? 0 : random.below(hourMs))
  const interval = random.pick([undefined, 'hour', 'day'] as const)
  const company = random.pick(companies)
  return {
    measure,
    filter: {
      since: new Date(firstHour.getTime() + from * hourMs + ragged()).toISOString(),
      until: new Date(firstHour.getTime() + to * hourMs + ragged()).toISOString(),
      ...(company && random.chance(0.3) && { companyIds: [company] }),
      ...(random.chance(0.3) && { channels: ['call'] }),
    },
    groupBy: random.pick([
      [],
      [],
      ['agent'],
      ['version'],
      ['company'],
      ['direction', 'agent'],
      ['channel'],
      ['metadata:plan'],
    ]),
    ...(interval && { interval }),
    timezone: random.pick(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe']),
  }
}

/** The service's answer has to be that of the rows, which are read in the same transaction's absence of changes. */
export const expectExact = async (server: TestServer, history: History, queries: Query[]): Promise<void> => {
  const rows = await readRows(server.deps.db, history.org, history.monitors)
  for (const query of queries) {
    const what = JSON.stringify(query)
    const { status, body, text } = await server.call<Answer>('POST', '/v1/analytics/query', {
      key: history.key,
      body: query,
    })
    expect(status, text).toBe(200)
    const [since, until] = [Date.parse(query.filter.since), Date.parse(query.filter.until)]
    const name = nameOf(query.measure)
    const counted = rows.filter((row) => {
      const at = row.startedAt.getTime()
      const { companyIds, channels } = query.filter
      if (at < since || at >= until || (row.values[name] ?? null) === null) return false
      if (companyIds && !companyIds.includes(row.companyId ?? '')) return false
      return !channels || channels.includes(row.channel)
    })
    const keyOf = (row: Row) => JSON.stringify(query.groupBy.map((dimension) => dimensions[dimension]?.(row) ?? null))
    const groups = Map.groupBy(counted, keyOf)
    if (query.groupBy.length === 0 && groups.size === 0) groups.set('[]', [])
    expect(body.groups.map(({ key }) => JSON.stringify(key)).sort(), what).toEqual([...groups.keys()].sort())
    for (const group of body.groups) {
      const members = groups.get(JSON.stringify(group.key)) ?? []
      const valuesIn = (from: number, to: number) =>
        members.flatMap(({ startedAt, values }) =>
          startedAt.getTime() >= from && startedAt.getTime() < to ? [values[name] as number] : [],
        )
      expectFigure(group, valuesIn(since, until), query, what)
      for (const { start, end, ...figure } of group.series ?? []) {
        // Times are texts in JSON.
        const [from, to] = [new Date(start).getTime(), new Date(end).getTime()]
        expectFigure(figure, valuesIn(from, to), query, `${what} from ${new Date(start).toISOString()}`)
      }
    }
  }
}
