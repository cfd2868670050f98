// Measures how fast daily work is over 90 days with a million conversations and the results of 20 monitors: each chart
// by itself, all eight charts of a board at once, comparisons, lists with results, and suggestions for filters. Requests
// go to a server process. Exits with 1 if a limit is exceeded. npm run bench -- analytics [CONVERSATIONS]

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { buildNext } from '../server/analytics/days/build.ts'
import { openDeps } from '../server/deps.ts'
import { loadConfig } from '../server/platform/config.ts'
import { dayMs } from '../server/platform/durations.ts'
import { orgIdOf } from '../server/platform/ids.ts'
import { openLog } from '../server/platform/log.ts'
import { loadConversations } from './alerts/data.ts'
import { failedCount, judge, millisecondsOf, print } from './report.ts'
import { openBenchDatabase, startServer } from './servers.ts'

const count = Number(process.argv[2] ?? 1_000_000)
const days = 90
const serviceKey = 'service-key-of-the-bench-0123456789'
const rounds = 20
const boards = 100
/** With ten times as many conversations, the limits are twice as high. */
const patience = count > 1_000_000 ? 2 : 1

/** Posts the body, or reads the path if there is none. */
const send = async (origin: string, path: string, key: string, body?: object) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const post = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(origin + path, body === undefined ? { headers } : post)
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  // The response can be anything, but the benchmark only reads two of its properties.
  return (await response.json()) as { apiKey: { key: string }; organization: { id: string } }
}

const quantile = (values: number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN

const period = { since: '', until: '' }

type Chart = { measure: object; groupBy?: string[]; interval?: string; filter?: object }

/** Returns the charts, those of the board first. */
const chartsOf = ([first = '', second = '']: string[], companyId: string): Record<string, Chart> => ({
  'volume by day': { measure: { kind: 'volume' }, interval: 'day' },
  'a rate by day': { measure: { kind: 'rate', monitorId: first }, interval: 'day' },
  'a rate by agent': { measure: { kind: 'rate', monitorId: second }, groupBy: ['agent'] },
  'p95 of response latency by day': {
    measure: { kind: 'signal', signal: 'responseLatencyMs.p95', statistic: 'p95' },
    interval: 'day',
  },
  'p50 of response latency by agent': {
    measure: { kind: 'signal', signal: 'responseLatencyMs.p50', statistic: 'p50' },
    groupBy: ['agent'],
  },
  'volume by weekday and hour': { measure: { kind: 'volume' }, groupBy: ['weekday', 'hourOfDay'] },
  'volume by company': { measure: { kind: 'volume' }, groupBy: ['company'] },
  'mean score by week and channel': {
    measure: { kind: 'score', monitorId: first, statistic: 'mean' },
    groupBy: ['channel'],
    interval: 'week',
  },
  'p95 of durations by day': { measure: { kind: 'duration', statistic: 'p95' }, interval: 'day' },
  'a rate by day of one company': {
    measure: { kind: 'rate', monitorId: first },
    interval: 'day',
    filter: { companyIds: [companyId] },
  },
  'a rate by agent of one company': {
    measure: { kind: 'rate', monitorId: first },
    groupBy: ['agent'],
    filter: { companyIds: [companyId] },
  },
  'p95 of durations by company': { measure: { kind: 'duration', statistic: 'p95' }, groupBy: ['company'] },
})

const onBoard = 8

const database = await openBenchDatabase()
const log = openLog({ write: () => {} })
const client = new pg.Client({ connectionString: database.url })
const server = await startServer(join(import.meta.dirname, '../bin/earshot'), ['serve'], {
  PORT: '0',
  DATABASE_URL: database.url,
  EARSHOT_DATA_DIR: join(database.folder, 'files'),
  EARSHOT_SERVICE_KEY: serviceKey,
  EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
  EARSHOT_LIMITS: 'ratePerSecond=1000000,rateBurst=1000000',
  // A worker would build sums during the measurement.
  EARSHOT_ROLES: 'http',
  EARSHOT_STORAGE_SHARED: 'true',
})
const config = loadConfig({ EARSHOT_DATA_DIR: join(database.folder, 'files') })
const deps = await openDeps({ config, log, connection: { connectionString: database.url }, applicationName: 'bench' })
try {
  await client.connect()
  const owner = { email: 'owner@example.com', name: 'Owner' }
  const { organization, apiKey } = await send(server.origin, '/v1/organizations', serviceKey, {
    name: 'Bench',
    slug: 'bench',
    owner,
  })
  const org = orgIdOf(organization.id)
  const until = Date.now()
  period.since = new Date(until - days * dayMs).toISOString()
  period.until = new Date(until).toISOString()
  const loadMs = await millisecondsOf(async () => {
    const within = { from: new Date(period.since), until: new Date(period.until) }
    await loadConversations(client, deps.db, org, count, within)
    // Unlike the service, loading writes no notes.
    await client.query('DELETE FROM analytics_progress')
    await client.query('VACUUM ANALYZE')
    await client.query('CHECKPOINT')
  })
  print(
    `${count.toLocaleString('en')} conversations with results of 20 monitors, loaded in ${(loadMs / 1_000).toFixed(0)} s`,
  )
  const buildMs = await millisecondsOf(async () => {
    while (await buildNext(deps, org));
    await client.query('VACUUM ANALYZE analytics_days')
  })
  const { rows } = await client.query<{ rows: string; mb: string }>(
    `SELECT count(*) AS rows, pg_total_relation_size('analytics_days') / 1000000 AS mb FROM analytics_days`,
  )
  print(`sums of all hours: ${rows[0]?.rows} rows, ${rows[0]?.mb} MB, built in ${(buildMs / 1_000).toFixed(0)} s`)

  const found = async (text: string) => (await client.query<{ id: string }>(text, [org])).rows.map(({ id }) => id)
  const monitorIds = await found('SELECT id FROM monitors WHERE organization_id = $1 ORDER BY id')
  const [companyId = ''] = await found('SELECT id FROM companies WHERE organization_id = $1 ORDER BY id LIMIT 1')
  const charts = chartsOf(monitorIds, companyId)
  const [first] = monitorIds
  const ask = ({ filter = {}, ...chart }: Chart) =>
    send(server.origin, '/v1/analytics/query', apiKey.key, {
      ...chart,
      filter: { ...filter, ...period },
      timezone: 'Europe/Berlin',
    })
  /** Measures one request at a time. A request that fails exceeds every limit. */
  const judgeMedian = async (name: string, atMost: number, request: () => Promise<unknown>) => {
    const times: number[] = []
    const attempt = () =>
      millisecondsOf(request).catch((error: Error) => {
        print(`  ${error.message}`)
        return Number.POSITIVE_INFINITY
      })
    for (let round = 0; round < rounds; round++) times.push(await attempt())
    const slowest = Math.max(...times).toFixed(0)
    judge(`${name}, p50 (slowest ${slowest} ms)`, quantile(times, 0.5), { atMost: atMost * patience }, ' ms')
  }
  const residentMb = async () => {
    const status = await readFile(`/proc/${server.child.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_000
  }

  print(`\nEach query over ${days} days, one at a time`)
  for (const [name, chart] of Object.entries(charts)) await judgeMedian(name, 100, () => ask(chart))

  print('\nA comparison of two sides: general measures and 20 monitors')
  const [one, other] = await found('SELECT id FROM agents WHERE organization_id = $1 ORDER BY id LIMIT 2')
  const comparisons = {
    agents: { a: { agentIds: [one], ...period }, b: { agentIds: [other], ...period } },
    periods: { a: {}, b: { period: { last: '30d' } }, compareTo: 'previous_period' },
  }
  for (const [name, body] of Object.entries(comparisons))
    await judgeMedian(name, 1_000, () => send(server.origin, '/v1/analytics/compare', apiKey.key, body))

  print('\nThe first 50 conversations of a list, with the results of all monitors')
  const lists = {
    'latest first': { filter: {} },
    'latest first, affected by a monitor': { filter: { monitors: [{ id: first, result: 'affected' }] } },
    'one agent and a metadata value': {
      filter: { ...period, agentIds: [one], metadata: [{ key: 'plan', op: 'eq', value: 'gold' }] },
    },
    'longest first': { filter: {}, sort: { by: 'durationSeconds' } },
    'lowest score first': { filter: {}, sort: { by: 'score', monitorId: first, direction: 'asc' } },
  }
  for (const [name, body] of Object.entries(lists)) {
    const list = () =>
      send(server.origin, '/v1/conversations/search', apiKey.key, { ...body, include: ['results'], limit: 50 })
    await judgeMedian(name, 150, list)
  }

  print('\nSuggestions while a filter is typed')
  for (const path of ['/v1/metadata-keys?prefix=p', '/v1/metadata-keys/plan/values?prefix=g'])
    await judgeMedian(path, 50, () => send(server.origin, path, apiKey.key))

  print(`\nA board of ${onBoard} charts at once, ${boards} times`)
  const ofBoard = Object.values(charts).slice(0, onBoard)
  const board = () => Promise.all(ofBoard.map(ask))
  for (let warming = 0; warming < 20; warming++) await board()
  const before = await residentMb()
  const times: number[] = []
  for (let round = 0; round < boards; round++) times.push(await millisecondsOf(board))
  judge('a board, p50', quantile(times, 0.5), { atMost: 400 * patience }, ' ms')
  judge('a board, p99', quantile(times, 0.99), { atMost: 1_500 * patience }, ' ms')
  judge('memory of the server, more than before', (await residentMb()) / before, { atMost: 1.2 })
} finally {
  await client.end()
  await deps.close()
  await server.stop()
  await database.close()
}
process.exitCode = failedCount() > 0 ? 1 : 0
