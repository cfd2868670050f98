// Compares analytics responses with figures that are counted from all rows, one by one.

import { sql } from 'kysely'
import type { Static } from 'typebox'
import { expect } from 'vitest'
import type { Analytics, GroupComparison } from '../../../server/analytics/answer-schema.ts'
import { compareRows } from '../../../server/analytics/differences.ts'
import { kindOf } from '../../../server/analytics/figures.ts'
import type { Measure } from '../../../server/analytics/query-schema.ts'
import type { Db, OrgId } from '../../../server/platform/db/database.ts'
import { stepOfValue } from '../../../server/platform/db/rounded-values.ts'
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

type Result = {
  id: string
  monitorId: string
  result: number | null
  score: number | null
  cost: number | null
  responseMs: number | null
}

/** Returns all conversations with the value of each measure, which for rates is 1 if affected. */
const readRows = async (db: Db, org: OrgId, monitors: string[]): Promise<Row[]> => {
  const { rows } = await sql<Row>`
    SELECT c.id, c.started_at AS "startedAt", c.agent_id AS "agentId", c.agent_version_id AS "versionId",
      c.company_id AS "companyId", c.channel, c.direction, c.metadata->>'plan' AS plan,
      jsonb_build_object('volume', 1, 'duration', c.duration_seconds, 'csat', (
        SELECT CASE jsonb_typeof(m.value) WHEN 'number' THEN m.value::float8 WHEN 'boolean' THEN (m.value::boolean)::int END
        FROM customer_metrics m WHERE m.organization_id = ${org} AND m.conversation_id = c.id AND m.key = 'csat'))
        AS values
    FROM conversations c WHERE c.organization_id = ${org}`.execute(db)
  const results = await sql<Result>`
    SELECT conversation_id AS id, monitor_id AS "monitorId", result, score, cost, response_ms AS "responseMs" FROM monitor_results
    WHERE organization_id = ${org} AND monitor_id = ANY(${monitors}::uuid[])
    ORDER BY monitor_version`.execute(db)
  const byId = new Map(rows.map((row) => [row.id, row]))
  for (const { id, monitorId, result, score, cost, responseMs } of results.rows) {
    const row = byId.get(id)
    if (!row) throw new Error('a result without its conversation')
    row.values[`rate:${monitorId}`] = result
    row.values[`score:${monitorId}`] = score
    row.values[`cost:${monitorId}`] = cost
    row.values[`latency:${monitorId}`] = responseMs === null ? null : responseMs / 1_000
  }
  return rows
}

const inZone = (row: Row, timeZone: string, format: Intl.DateTimeFormatOptions): string =>
  new Intl.DateTimeFormat('en', { timeZone, ...format }).format(row.startedAt)

const weekdays = ['', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday']

const dimensions: Record<string, (row: Row, timeZone: string) => string | null> = {
  agent: (row) => row.agentId,
  version: (row) => row.versionId,
  company: (row) => row.companyId,
  channel: (row) => row.channel,
  direction: (row) => row.direction,
  'metadata:plan': (row) => row.plan,
  hourOfDay: (row, zone) => String(Number(inZone(row, zone, { hour: 'numeric', hourCycle: 'h23' }))),
  weekday: (row, zone) => String(weekdays.indexOf(inZone(row, zone, { weekday: 'long' }))),
}

type Filter = {
  since: string
  until: string
  agentIds?: string[]
  agentVersionIds?: string[]
  companyIds?: string[]
  channels?: string[]
  metadata?: { key: 'plan'; op: 'eq'; value: string }[]
}

type Query = {
  measure: { kind: string; monitorId?: string; statistic?: string; key?: string }
  filter: Filter
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

/** Compares a figure with the values. Percentiles may be rounded by 1.25%. */
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

const selects = ({ since, until, ...filter }: Filter, row: Row): boolean => {
  const at = row.startedAt.getTime()
  if (at < Date.parse(since) || at >= Date.parse(until)) return false
  const has = (list: string[] | undefined, value: string | null) => !list || list.includes(value ?? '')
  return (
    has(filter.agentIds, row.agentId) &&
    has(filter.agentVersionIds, row.versionId) &&
    has(filter.companyIds, row.companyId) &&
    has(filter.channels, row.channel) &&
    has(
      filter.metadata?.map(({ value }) => value),
      row.plan,
    )
  )
}

const randomPeriod = (random: SeededRandom) => {
  const from = random.below(historyHours - 4)
  const to = from + 3 + random.below(historyHours - from)
  const ragged = () => (random.chance(0.5) ? 0 : random.below(hourMs))
  return {
    since: new Date(firstHour.getTime() + from * hourMs + ragged()).toISOString(),
    until: new Date(firstHour.getTime() + to * hourMs + ragged()).toISOString(),
  }
}

export const randomQuery = (random: SeededRandom, { monitors, companies }: History): Query => {
  const statistic = random.pick(['mean', 'sum', 'p50', 'p95'])
  const measure = random.pick([
    { kind: 'volume' },
    { kind: 'rate', monitorId: random.pick(monitors) },
    { kind: 'score', monitorId: random.pick(monitors), statistic },
    { kind: 'cost', monitorId: random.pick(monitors), statistic },
    { kind: 'latency', monitorId: random.pick(monitors), statistic },
    { kind: 'duration', statistic },
    { kind: 'metric', key: 'csat', statistic },
  ])
  const interval = random.pick([undefined, 'hour', 'day'] as const)
  const company = random.pick(companies)
  return {
    measure,
    filter: {
      ...randomPeriod(random),
      ...(company && random.chance(0.3) && { companyIds: [company] }),
      ...(random.chance(0.3) && { channels: ['call'] }),
    },
    groupBy: random.pick([
      [],
      [],
      ['agent'],
      ['version'],
      ['company'],
      ['direction', 'channel'],
      ['direction', 'agent'],
      ['company', 'agent'],
      ['hourOfDay'],
      ['weekday', 'channel'],
      ['channel'],
      ['metadata:plan'],
    ]),
    ...(interval && { interval }),
    timezone: random.pick(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Australia/Lord_Howe']),
  }
}

/** Expects the service's answers to match the rows. The data must not change between the two reads. */
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
    const counted = rows.filter((row) => selects(query.filter, row) && (row.values[name] ?? null) !== null)
    const keyOf = (row: Row) =>
      JSON.stringify(query.groupBy.map((dimension) => dimensions[dimension]?.(row, query.timezone) ?? null))
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
        // Times are strings in JSON.
        const [from, to] = [new Date(start).getTime(), new Date(end).getTime()]
        expectFigure(figure, valuesIn(from, to), query, `${what} from ${new Date(start).toISOString()}`)
      }
    }
  }
}

const randomSide = (random: SeededRandom, rows: Row[], companies: History['companies']): Filter => {
  const { agentId, versionId, plan } = random.pick(rows)
  const company = random.pick(companies)
  const ofCompany = company ? { companyIds: [company] } : {}
  const selection = random.pick([
    {},
    { agentIds: [agentId] },
    { agentIds: [agentId] },
    { ...(versionId && { agentVersionIds: [versionId] }) },
    { ...(versionId && { agentVersionIds: [versionId] }) },
    ofCompany,
    { ...ofCompany, agentIds: [agentId] },
    { channels: ['call'] },
    { ...(plan && { metadata: [{ key: 'plan' as const, op: 'eq' as const, value: plan }] }) },
  ])
  return { ...randomPeriod(random), ...selection }
}

const comparedMeasures = (monitors: string[]): Measure[] => [
  { kind: 'volume' },
  ...monitors.flatMap((monitorId): Measure[] => [
    { kind: 'rate', monitorId },
    { kind: 'score', monitorId, statistic: 'mean' },
    { kind: 'cost', monitorId, statistic: 'mean' },
    { kind: 'latency', monitorId, statistic: 'p50' },
  ]),
  { kind: 'duration', statistic: 'p50' },
  { kind: 'duration', statistic: 'p95' },
  { kind: 'duration', statistic: 'mean' },
  { kind: 'metric', key: 'csat', statistic: 'mean' },
]

const wholeOf = (values: number[], measure: Measure) => {
  const steps = new Map<number, number>()
  for (const step of values.map(stepOfValue)) steps.set(step, (steps.get(step) ?? 0) + 1)
  return {
    count: values.length,
    hits: measure.kind === 'rate' ? values.filter((value) => value === 1).length : 0,
    sum: values.reduce((sum, value) => sum + value, 0),
    squares: values.reduce((sum, value) => sum + value * value, 0),
    steps,
  }
}

/** Compares numbers that may differ by a rounding error, at any depth of a value. */
const expectNear = (value: unknown, expected: unknown, what: string): void => {
  if (typeof expected === 'number' && typeof value === 'number') {
    near(value, expected, what)
    return
  }
  if (typeof expected !== 'object' || expected === null) {
    expect(value, what).toEqual(expected)
    return
  }
  expect(Object.keys(value ?? {}).sort(), what).toEqual(Object.keys(expected).sort())
  for (const [name, part] of Object.entries(expected)) {
    expectNear((value as Record<string, unknown>)[name], part, `${what} ${name}`)
  }
}

/** Compares random groups of conversations. The service has to find the differences that follow from all rows. */
export const expectExactComparisons = async (
  server: TestServer,
  { org, key, monitors, companies }: History,
  random: SeededRandom,
  count: number,
): Promise<void> => {
  const rows = await readRows(server.deps.db, org, monitors)
  const measures = comparedMeasures(monitors)
  for (let made = 0; made < count; made++) {
    const sides = { a: randomSide(random, rows, companies), b: randomSide(random, rows, companies) }
    const { status, body, text } = await server.call<Static<typeof GroupComparison>>('POST', '/v1/analytics/compare', {
      key,
      body: { ...sides, measures },
    })
    const what = JSON.stringify(sides)
    expect(status, text).toBe(200)
    const [ofA, ofB] = [rows.filter((row) => selects(sides.a, row)), rows.filter((row) => selects(sides.b, row))]
    const isShared = ofA.some((row) => ofB.includes(row))
    expect([body.a.conversations, body.b.conversations, body.warnings.length], what).toEqual([
      ofA.length,
      ofB.length,
      Number(isShared),
    ])
    const expected = compareRows(
      measures.map((measure) => {
        const wholeIn = (side: Row[]) =>
          wholeOf(
            side.flatMap(({ values }) => values[nameOf(measure)] ?? []),
            measure,
          )
        return { kind: kindOf(measure), a: wholeIn(ofA), b: wholeIn(ofB) }
      }),
    )
    expect(body.compared, what).toBe(expected.filter(({ p }) => p !== null).length)
    for (const [at, row] of body.rows.entries()) {
      const { measure, monitorName: _name, definitionChanged: _changed, ...difference } = row
      expect(measure).toEqual(measures[at])
      expectNear(difference, expected[at], `${what} ${JSON.stringify(measure)}`)
    }
  }
}
