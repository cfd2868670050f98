import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  makeAgent,
  makeBucket,
  makeCompany,
  makeConversation,
  makeFinding,
  makeMonitor,
  makeOrganization,
  makeRegion,
  makeTopic,
} from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { exportsOf } from '../../../test/support/exports/exports.ts'
import { duckdb, readCsv, readJsonl, readParquet, readXlsx } from '../../../test/support/exports/file-readers.ts'
import { noResult } from '../../monitor-results/no-result.ts'
import { type ResultRow, upsertResults } from '../../monitor-results/queries.ts'
import { insertMonitor, insertMonitorVersion } from '../../monitors/queries.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { generateExport } from '../lifecycle.ts'

const server = await testServer()
const { call, clock, deps } = server
const { ask, read, fetchFile, makeCalls, download } = exportsOf(server, 'conversation-exports')

const generate = () => deps.jobs.drain([generateExport], deps)

const columns = [{ key: 'startedAt' }, { key: 'agentId' }]
const everything = { filter: {}, columns }

/** Creates an export and returns its file. */
const fileOf = async (key: string, config: object): Promise<Buffer> => {
  const { status, text, body } = await ask(key, config)
  if (status !== 202) throw new Error(`expected 202, got ${status}: ${text}`)
  await generate()
  const file = await fetchFile(key, body.id)
  return Buffer.from(await file.arrayBuffer())
}

type Row = Record<string, unknown>

const rowsOf = async (key: string, config: object): Promise<Row[]> => {
  const { names, rows } = readJsonl(await fileOf(key, { ...config, format: 'jsonl' }))
  return rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])))
}

const issuesOf = ({ status, body }: { status: number; body: { details?: { issues?: { path: string }[] } } }) => ({
  status,
  paths: body.details?.issues?.map(({ path }) => path),
})

/** Creates conversations with values for every column. */
const makeList = async () => {
  const { key } = await makeOrganization(server)
  const [refund, rude] = [
    await makeMonitor(server, key, { name: 'Refund asked' }),
    await makeMonitor(server, key, { name: 'Rude, or “short”' }),
  ]
  const company = await makeCompany(server, key)
  const first = await makeConversation(server, key, {
    externalId: 'first',
    companyId: company.id,
    direction: 'inbound',
    startedAt: '2026-11-02T09:00:00.000Z',
    endedAt: '2026-11-02T09:01:30.000Z',
    endReason: 'customer hung up',
    customerId: 'c-1',
    metadata: { plan: 'gold', attempts: 3, tags: ['a', 'b'], vip: true, note: null },
    metrics: [
      { key: 'csat', value: 4.5 },
      { key: 'solved', value: true },
    ],
    transcript: [
      { role: 'agent', text: 'Acme Dental?', startMs: 0, endMs: 1_000 },
      { role: 'customer', text: 'A “refund”,\nplease.', startMs: 2_000, endMs: 4_000 },
    ],
  })
  const second = await makeConversation(server, key, {
    externalId: 'second',
    startedAt: '2026-11-03T09:00:00.000Z',
    channel: 'chat',
    metadata: { plan: '=1+1' },
  })
  const results = [
    { monitorId: refund.id, conversationId: first.id, result: 'affected', score: 0.75, reasoning: 'It was asked.' },
    { monitorId: rude.id, conversationId: first.id, result: 'affected' },
    { monitorId: refund.id, conversationId: second.id, result: 'unscored' },
  ]
  await call('POST', '/v1/monitor-results', { key, body: { results } })
  const finding = await makeFinding(server, key, 'Refunds; often')
  await call('POST', `/v1/findings/${finding.id}/conversations`, { key, body: { conversationId: first.id } })
  await call('DELETE', `/v1/conversations/${finding.conversationId}`, { key })
  return { key, refund, rude, company, first, second }
}

const november = { since: '2026-11-01T00:00:00Z', until: '2026-11-10T00:00:00Z' }

describe('the file', () => {
  it('has the chosen columns in their order, as JSON Lines', async () => {
    const { key, refund, rude, company, first, second } = await makeList()
    const keys = [
      'externalId',
      'startedAt',
      'endedAt',
      'durationSeconds',
      'channel',
      'direction',
      'status',
      'agentId',
      'agentVersionId',
      'companyId',
      'customerId',
      'endReason',
      'reviewStatus',
      'affected',
      `result:${refund.id}`,
      `score:${refund.id}`,
      `result:${rude.id}`,
      'metadata:plan',
      'metadata:attempts',
      'metadata:tags',
      'metadata:vip',
      'metadata:note',
      'metric:csat',
      'metric:solved',
      'signal:talkRatio',
      'signal:responseLatencyMs.p95',
      'sound:responseMs.agent.p95',
      'findings',
      'excerpt',
      'cost',
    ]
    const rows = await rowsOf(key, {
      filter: november,
      columns: keys.map((name) => ({ key: name })),
      transcripts: true,
      results: [refund.id],
      reasoning: true,
    })
    const transcript = (await call('GET', `/v1/conversations/${first.id}/transcript`, { key })).body
    const turns = transcript.turns.map(({ words: _, latency: __, ...turn }: Row) => turn)
    const conversation = (await call('GET', `/v1/conversations/${first.id}`, { key })).body
    expect(rows).toEqual([
      expect.objectContaining({
        conversation_id: second.id,
        external_id: 'second',
        channel: 'chat',
        affected: null,
        refund_asked_result: 'unscored',
        refund_asked_score: null,
        rude_or_short_result: null,
        metadata_plan: '=1+1',
        metadata_attempts: null,
        metric_csat: null,
        findings: null,
        first_words: null,
        transcript: null,
      }),
      {
        conversation_id: first.id,
        external_id: 'first',
        started_at: '2026-11-02T09:00:00.000Z',
        ended_at: '2026-11-02T09:01:30.000Z',
        duration_seconds: 90,
        channel: 'call',
        direction: 'inbound',
        status: 'completed',
        agent_id: first.agentId,
        agent_name: 'Leo',
        agent_version: null,
        company_id: company.id,
        company_name: 'Acme Dental',
        customer_id: 'c-1',
        end_reason: 'customer hung up',
        review_status: 'none',
        affected: ['Rude, or “short”', 'Refund asked'],
        refund_asked_result: 'affected',
        refund_asked_score: 0.75,
        rude_or_short_result: 'affected',
        metadata_plan: 'gold',
        metadata_attempts: 3,
        metadata_tags: ['a', 'b'],
        metadata_vip: true,
        metadata_note: null,
        metric_csat: 4.5,
        metric_solved: true,
        talk_ratio: conversation.signals.talkRatio,
        response_latency_ms_p95: conversation.signals.responseLatencyMs?.p95 ?? null,
        sound_response_ms_agent_p95: null,
        findings: ['Refunds; often'],
        first_words: 'A “refund”, please.',
        cost: null,
        transcript: turns,
        refund_asked_result_2: 'affected',
        refund_asked_score_2: 0.75,
        refund_asked_version: 1,
        refund_asked_evaluated_at: expect.any(String),
        refund_asked_reasoning: 'It was asked.',
      },
    ])
  })

  it('has the regions of recordings if they are wanted', async () => {
    const { key } = await makeOrganization(server)
    const late = await makeRegion(server, key, { startMs: 500, endMs: 700, note: 'Late; “twice”' })
    const early = { startMs: 100, endMs: 300, channel: 1, note: 'Early' }
    await call('POST', `/v1/conversations/${late.conversationId}/regions`, { key, body: early })
    await call('PUT', `/v1/conversations/${late.conversationId}/tags`, { key, body: { tags: ['rude', 'loud'] } })
    const { startMs, endMs, channel, note } = late
    const expected = [early, { startMs, endMs, channel, note }]
    expect(await rowsOf(key, { filter: {}, columns: [{ key: 'tags' }], regions: true })).toEqual([
      { conversation_id: late.conversationId, tags: ['loud', 'rude'], regions: expected },
    ])
    const csv = readCsv(await fileOf(key, { filter: {}, columns: [{ key: 'tags' }], regions: true, format: 'csv' }))
    expect(JSON.parse(String(csv.rows[0]?.[2]))).toEqual(expected)
  })

  it('has the same values in every format, which other programs read', async () => {
    const { key, first, second } = await makeList()
    const config = {
      filter: november,
      columns: ['startedAt', 'affected', 'metadata:plan', 'metadata:attempts', 'findings'].map((name) => ({
        key: name,
      })),
    }
    const names = ['conversation_id', 'started_at', 'affected', 'metadata_plan', 'metadata_attempts', 'findings']
    const [late, early] = [new Date('2026-11-03T09:00:00Z'), new Date('2026-11-02T09:00:00Z')]
    const affected = 'Rude, or “short”; Refund asked'
    const csv = readCsv(await fileOf(key, { ...config, format: 'csv' }))
    expect(csv).toEqual({
      names,
      rows: [
        [second.id, late.toISOString(), null, "'=1+1", null, null],
        [first.id, early.toISOString(), affected, 'gold', '3', 'Refunds; often'],
      ],
    })
    const parquet = readParquet(await fileOf(key, { ...config, format: 'parquet' }))
    expect(await parquet).toEqual({
      names,
      rows: [
        [second.id, late, null, '=1+1', null, null],
        [first.id, early, affected, 'gold', '3', 'Refunds; often'],
      ],
    })
    const xlsx = readXlsx(await fileOf(key, { ...config, format: 'xlsx' }), 'Conversations')
    expect(xlsx.rows).toEqual([
      [second.id, late, null, '=1+1', null, null],
      [first.id, early, affected, 'gold', 3, 'Refunds; often'],
    ])
    const jsonl = await fileOf(key, { ...config, format: 'jsonl' })
    const { rows } = await duckdb(
      jsonl,
      `SELECT conversation_id, affected[1], metadata_attempts + 1 FROM read_json(FILE) WHERE metadata_plan = 'gold'`,
    )
    expect(rows).toEqual([[first.id, 'Rude, or “short”', '4']])
  })

  it('has the topic, or the one that it was merged into', async () => {
    const { key, first, second } = await makeList()
    const [late, refunds] = [await makeTopic(server, key, first.id), await makeTopic(server, key)]
    await call('PATCH', `/v1/topics/${refunds}`, { key, body: { label: 'Refunds' } })
    const config = { filter: november, columns: [{ key: 'topic' }] }
    const topicOfFirst = async () => {
      const { names, rows } = readCsv(await fileOf(key, { ...config, format: 'csv' }))
      expect(names).toEqual(['conversation_id', 'topic_id', 'topic_name'])
      expect(rows).toContainEqual([second.id, null, null])
      return rows.find(([id]) => id === first.id)
    }
    expect(await topicOfFirst()).toEqual([first.id, late, 'refund'])
    await call('POST', `/v1/topics/${late}/merge`, { key, body: { into: refunds } })
    expect(await topicOfFirst()).toEqual([first.id, refunds, 'Refunds'])
  })

  it('has categories and fields of the newest results, with types', async () => {
    const { key, id: organizationId } = await makeOrganization(server)
    const org = orgIdOf(organizationId)
    const external = await makeMonitor(server, key, { name: 'Reasons' })
    const judge = { id: newId(), name: 'Refunds', description: null, kind: 'judge' as const, enabled: false, scope: {} }
    await insertMonitor(deps.db, org, { ...judge, samplePercent: 100 })
    const fields = [
      { key: 'amount', type: 'number' },
      { key: 'items', type: 'list' },
      { key: 'dueDate', type: 'date' },
    ]
    await insertMonitorVersion(deps.db, org, judge.id, 1, { criteria: 'x', output: { type: 'extract', fields } })
    await insertMonitorVersion(deps.db, org, external.id, 2, {})
    const first = await makeConversation(server, key, { startedAt: '2026-11-02T09:00:00.000Z' })
    const second = await makeConversation(server, key, { startedAt: '2026-11-03T09:00:00.000Z' })
    const row = (conversationId: string, monitorId: string, given: object, monitorVersion = 1): ResultRow => ({
      ...noResult,
      conversationId,
      monitorId,
      monitorVersion,
      status: 'unscored',
      evaluatedAt: null,
      evaluator: 'test',
      ...given,
    })
    const stored = [
      row(first.id, external.id, { categories: ['gone'], fields: { note: 'gone' } }),
      row(first.id, external.id, { categories: ['billing', 'other'], fields: { note: '=1+1' } }, 2),
      row(first.id, judge.id, { fields: { amount: 24.5, items: ['cup', 'lid'], dueDate: '05-03' } }),
      row(second.id, judge.id, { fields: { amount: null, items: null, dueDate: null } }),
    ]
    await deps.db.transaction().execute((trx) => upsertResults(trx, org, stored, clock.now()))
    const keys = [`categories:${external.id}`, `field:${external.id}:note`]
    const ofJudge = fields.map((field) => `field:${judge.id}:${field.key}`)
    const config = { filter: november, columns: [...keys, ...ofJudge].map((name) => ({ key: name })) }
    const nothing = { reasons_categories: null, reasons_note: null }
    expect(await rowsOf(key, config)).toEqual([
      { conversation_id: second.id, ...nothing, refunds_amount: null, refunds_items: null, refunds_due_date: null },
      {
        conversation_id: first.id,
        reasons_categories: ['billing', 'other'],
        reasons_note: '=1+1',
        refunds_amount: 24.5,
        refunds_items: ['cup', 'lid'],
        refunds_due_date: '05-03',
      },
    ])
    const csv = readCsv(await fileOf(key, { ...config, format: 'csv' }))
    expect(csv.rows[1]).toEqual([first.id, 'billing; other', "'=1+1", '24.5', 'cup; lid', '05-03'])
    const parquet = await readParquet(await fileOf(key, { ...config, format: 'parquet' }))
    expect(parquet.rows[1]).toEqual([first.id, 'billing; other', '=1+1', 24.5, 'cup; lid', '05-03'])
    const xlsx = readXlsx(await fileOf(key, { ...config, format: 'xlsx' }), 'Conversations')
    expect(xlsx.rows[1]).toEqual([first.id, 'billing; other', '=1+1', 24.5, 'cup; lid', '05-03'])
    const stranger = { key: `field:${newId()}:note` }
    expect(issuesOf(await ask(key, { ...config, columns: [...columns, stranger] }))).toEqual({
      status: 404,
      paths: ['config.columns[2].key'],
    })
  })

  it('follows the order of the list', async () => {
    const { key, refund, first, second } = await makeList()
    const orderOf = async (sort?: object) => {
      const config = { filter: november, columns, results: [refund.id], ...(sort && { sort }) }
      const { rows } = (await call('POST', '/v1/conversation-exports/preview', { key, body: { config } })).body
      return rows.map(([id, , , , result]: string[]) => [id, result])
    }
    const [a, b] = [
      [first.id, 'affected'],
      [second.id, 'unscored'],
    ]
    expect(await orderOf()).toEqual([b, a])
    expect(await orderOf({ by: 'startedAt', direction: 'asc' })).toEqual([a, b])
    for (const by of ['durationSeconds', `score:${refund.id}`, 'metric:csat', 'signal:talkRatio']) {
      expect(await orderOf({ by, direction: 'desc' }), by).toEqual([a, b])
      expect(await orderOf({ by, direction: 'asc' }), by).toEqual([a, b])
    }
  })

  it('has a name, an audit event, and links of its own', async () => {
    const { key } = await makeOrganization(server)
    const { id } = (await ask(key, everything)).body
    await generate()
    expect((await read(key, id)).downloadPath).toBe(`/v1/conversation-exports/${id}/download`)
    expect((await download(key, id)).status).toBe(302)
    const file = await fetchFile(key, id)
    const day = clock.now().toISOString().slice(0, 10)
    expect(file.headers.get('content-disposition')).toContain(`earshot-conversations-${day}-${id.slice(-8)}.csv`)
    const events = (await call('GET', '/v1/audit-events', { key })).body.data
    const actions = events.map(({ action }: { action: string }) => action)
    expect(actions.filter((action: string) => action.startsWith('conversation-export.'))).toEqual([
      'conversation-export.download',
      'conversation-export.download',
      'conversation-export.create',
    ])
  })
})

it('a relative period is that of the request', async () => {
  const { key } = await makeOrganization(server)
  const recently = new Date(Date.now() - 3 * 60_000).toISOString()
  const { id } = await makeConversation(server, key, { startedAt: recently })
  await makeConversation(server, key, { startedAt: '2026-01-01T00:00:00Z' })
  const rows = await rowsOf(key, { filter: { period: { last: '10m' } }, columns })
  expect(rows.map((row) => row.conversation_id)).toEqual([id])
  expect(await rowsOf(key, { filter: {}, columns })).toHaveLength(2)
})

it('the file expires when one of its conversations is erased', async () => {
  const { key, first, second } = await makeList()
  const { id } = (await ask(key, { filter: { ...november, agentIds: [first.agentId] }, columns })).body
  const stranger = await makeAgent(server, key)
  const others = (await ask(key, { filter: { ...november, agentIds: [stranger.id] }, columns })).body
  await generate()
  expect((await call('DELETE', `/v1/conversations/${second.id}`, { key })).status).toBe(204)
  expect((await read(key, id)).status).toBe('expired')
  expect((await download(key, id)).status).toBe(410)
  expect((await read(key, others.id)).status).toBe('completed')
})

it('a preview shows the count and the first rows', async () => {
  const { key, first, second } = await makeList()
  const body = { config: { filter: november, columns: [{ key: 'durationSeconds' }, { key: 'affected' }] } }
  expect((await call('POST', '/v1/conversation-exports/preview', { key, body })).body).toEqual({
    count: 2,
    exceedsLimit: false,
    columns: ['conversation_id', 'duration_seconds', 'affected'],
    rows: [
      [second.id, null, null],
      [first.id, 90, 'Rude, or “short”; Refund asked'],
    ],
  })
})

it('a deleted monitor fails the export', async () => {
  const { key, refund } = await makeList()
  const { id } = (await ask(key, { filter: november, columns: [{ key: `result:${refund.id}` }] })).body
  await call('DELETE', `/v1/monitors/${refund.id}`, { key })
  await generate()
  expect(await read(key, id)).toMatchObject({ status: 'failed', errorCode: 'generation_failed' })
})

// These exports are never generated, so they come last.

describe('creating an export of conversations', () => {
  it('is accepted, with its defaults and location', async () => {
    const { key } = await makeOrganization(server)
    const operationId = randomUUID()
    const { status, headers, body } = await ask(key, everything, operationId)
    expect(status).toBe(202)
    expect(body).toEqual({
      id: expect.any(String),
      operationId,
      status: 'pending',
      config: {
        filter: {},
        columns,
        sort: { by: 'startedAt', direction: 'desc' },
        format: 'csv',
        transcripts: false,
        regions: false,
        results: [],
        reasoning: false,
        timezone: 'UTC',
      },
      createdAt: clock.now().toISOString(),
      completedAt: null,
      expiresAt: null,
      rowCount: null,
      bytes: null,
      errorCode: null,
      downloadPath: null,
    })
    expect(headers.get('location')).toBe(`/v1/conversation-exports/${body.id}`)
    expect(headers.get('retry-after')).toBe('5')
    expect(await read(key, body.id)).toEqual(body)
  })

  it('returns the same export for the same request, even if its period has moved on', async () => {
    const { key } = await makeOrganization(server)
    const id = randomUUID()
    const config = { ...everything, filter: { period: { last: '5m' } } }
    const first = await ask(key, config, id)
    const again = await ask(key, { ...config, timezone: 'Etc/UTC' }, id)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body).toEqual(first.body)
    expect((await ask(key, { ...config, transcripts: true }, id)).status).toBe(409)
    const { config: calls } = await makeCalls(0)
    const other = { operationId: id, config: { ...calls, monitors: [{ id: (await makeMonitor(server, key)).id }] } }
    expect((await call('POST', '/v1/monitor-exports', { key, body: other })).status).toBe(409)
  })

  it('reports every fault with its path', async () => {
    const { key } = await makeOrganization(server)
    const faults = {
      filter: { metadata: [{ key: 'plan', op: 'eq' }], until: '2026-01-01T00:00:00Z', since: '2026-01-02T00:00:00Z' },
      columns: [{ key: 'mood' }, { key: 'agentId' }, { key: 'agentId' }],
      sort: { by: 'signal:mood' },
      timezone: 'Mars/Olympus',
    }
    expect(issuesOf(await ask(key, faults))).toEqual({
      status: 400,
      paths: [
        'config.filter.until',
        'config.filter.metadata[0].value',
        'config.columns[0].key',
        'config.columns[2].key',
        'config.sort.by',
        'config.timezone',
      ],
    })
    for (const [path, config] of [
      ['config.columns', { filter: {}, columns: [] }],
      ['config.filter', { columns }],
      ['config.format', { ...everything, format: 'pdf' }],
      ['config.monitors', { ...everything, monitors: [] }],
      ['config.slug', { ...everything, slug: 'acme' }],
    ] as const) {
      expect(issuesOf(await ask(key, config))).toEqual({ status: 400, paths: [path] })
    }
  })

  it('returns 404 for unknown resources and those of others, wherever they are named', async () => {
    const stranger = await makeOrganization(server)
    const agent = await makeAgent(server, stranger.key)
    const company = await makeCompany(server, stranger.key)
    const monitor = await makeMonitor(server, stranger.key)
    const bucket = await makeBucket(server, stranger.key)
    const finding = await makeFinding(server, stranger.key)
    const { key } = await makeOrganization(server)
    const own = await makeAgent(server, key)
    const config = {
      filter: {
        agentIds: [own.id, agent.id.toUpperCase()],
        anyOf: [{ channels: ['call'] }, { companyIds: [company.id] }],
        exclude: { bucketId: bucket.id, anyOf: [{ findingIds: [finding.id] }] },
        monitors: [{ id: monitor.id }],
        categories: { monitorId: monitor.id, any: ['billing'] },
        fields: [{ monitorId: monitor.id, field: 'amount', op: 'is_set' }],
      },
      columns: [...columns, { key: `result:${monitor.id}` }],
      results: [monitor.id],
      sort: { by: `score:${monitor.id}` },
      notificationEndpointId: randomUUID(),
    }
    expect(issuesOf(await ask(key, config))).toEqual({
      status: 404,
      paths: [
        'config.filter.agentIds[1]',
        'config.filter.monitors[0].id',
        'config.filter.categories.monitorId',
        'config.filter.fields[0].monitorId',
        'config.filter.anyOf[1].companyIds[0]',
        'config.filter.exclude.bucketId',
        'config.filter.exclude.anyOf[0].findingIds[0]',
        'config.columns[2].key',
        'config.results[0]',
        'config.sort.by',
        'config.notificationEndpointId',
      ],
    })
  })

  it('needs an entitlement only for columns of monitors and metrics', async () => {
    const { id, key } = await makeOrganization(server)
    const monitor = await makeMonitor(server, key)
    const entitlements = { monitors: false, metrics: false }
    await call('PATCH', `/v1/organizations/${id}`, { key: serviceKey, body: { entitlements } })
    const statusOf = async (change: object) => (await ask(key, { ...everything, ...change })).status
    for (const name of [
      'affected',
      'cost',
      `result:${monitor.id}`,
      `categories:${monitor.id}`,
      `field:${monitor.id}:a`,
      'metric:csat',
    ]) {
      expect(await statusOf({ columns: [{ key: name }] }), name).toBe(403)
    }
    expect(await statusOf({ results: [monitor.id] })).toBe(403)
    expect(await statusOf({ sort: { by: 'metric:csat' } })).toBe(403)
    const rest = ['excerpt', 'findings', 'metadata:plan', 'signal:talkRatio', 'reviewStatus']
    expect(await statusOf({ columns: rest.map((name) => ({ key: name })) })).toBe(202)
  })
})

it('each kind is only in its own list, and shares the limit of unfinished exports', async () => {
  const { key, config } = await makeCalls(0)
  const results = exportsOf(server)
  const own = (await ask(key, everything)).body
  const others = (await results.ask(key, config)).body
  expect((await call('GET', '/v1/conversation-exports', { key })).body.data).toEqual([own])
  expect((await call('GET', '/v1/monitor-exports', { key })).body.data).toEqual([others])
  expect((await results.read(key, own.id)).error).toBe('not found')
  expect((await read(key, others.id)).error).toBe('not found')
  expect((await call('DELETE', `/v1/monitor-exports/${own.id}`, { key })).status).toBe(404)
  for (let made = 2; made < 20; made++) expect((await ask(key, everything)).status).toBe(202)
  expect((await ask(key, everything)).status).toBe(429)
  expect((await results.ask(key, config)).status).toBe(429)
  expect((await call('DELETE', `/v1/conversation-exports/${own.id}`, { key })).status).toBe(204)
  expect(await read(key, own.id)).toMatchObject({ status: 'failed', errorCode: 'cancelled' })
})
