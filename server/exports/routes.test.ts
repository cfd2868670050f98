import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { makeAgentGroup, makeCompany, makeKey, makeMonitor, makeOrganization } from '../../test/make.ts'
import { serviceKey, type TestAnswer, testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'

const server = await testServer()
const { call, clock } = server
const { makeCalls, ask, read } = exportsOf(server)

type Refusal = { details: { issues: { path: string }[] } }

const issuesOf = ({ status, body }: { status: number; body: { details?: { issues?: { path: string }[] } } }) => {
  expect(status).toBe(400)
  return body.details?.issues?.map(({ path }) => path)
}

const without = (config: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(config).filter(([key]) => key !== name))

describe('creating an export', () => {
  it('is accepted, with its defaults and location', async () => {
    const { key, config } = await makeCalls(0)
    const operationId = randomUUID().toUpperCase()
    const { status, headers, body } = await ask(key, config, operationId)
    expect(status).toBe(202)
    expect(body).toEqual({
      id: expect.any(String),
      operationId: operationId.toLowerCase(),
      status: 'pending',
      config: {
        monitors: [{ id: config.monitors[0]?.id, result: 'all' }],
        since: '2026-11-01T00:00:00.000Z',
        until: '2026-12-01T00:00:00.000Z',
        timezone: 'Europe/Berlin',
        versionScope: 'historical',
        format: 'csv',
        reasoning: false,
        match: 'all',
        metadata: [],
      },
      createdAt: clock.now().toISOString(),
      completedAt: null,
      expiresAt: null,
      rowCount: null,
      bytes: null,
      errorCode: null,
      downloadPath: null,
    })
    expect(headers.get('location')).toBe(`/v1/monitor-exports/${body.id}`)
    expect(headers.get('retry-after')).toBe('5')
    expect(headers.get('idempotent-replayed')).toBeNull()
    expect(await read(key, body.id)).toEqual(body)
  })

  it('accepts values at the limits', async () => {
    const { key, config } = await makeCalls(0)
    const monitors = [...config.monitors]
    while (monitors.length < 20) monitors.push({ id: (await makeMonitor(server, key)).id })
    const metadata = Array.from({ length: 8 }, () => ({ key: 'k'.repeat(120), op: 'eq', value: 'v'.repeat(500) }))
    const { status, body } = await ask(key, { ...config, monitors, metadata, since: '2026-11-30T23:59:59.999Z' })
    expect(status).toBe(202)
    expect(body.config).toMatchObject({ metadata, monitors: monitors.map(({ id }) => ({ id, result: 'all' })) })
  })

  it('rejects values beyond them, and changes nothing', async () => {
    const { key, config } = await makeCalls(0)
    const condition = { key: 'plan', op: 'eq', value: 'gold' }
    const [monitor] = config.monitors
    const many = (count: number) => Array.from({ length: count }, () => ({ id: randomUUID() }))
    const faults: [string, object][] = [
      ['config.monitors', { monitors: [] }],
      ['config.monitors', { monitors: many(21) }],
      ['config.monitors[1].id', { monitors: [monitor, { id: monitor?.id.toUpperCase() }] }],
      ['config.monitors[0].result', { monitors: [{ ...monitor, result: 'unscored' }] }],
      ['config.monitors[0].name', { monitors: [{ ...monitor, name: 'x' }] }],
      ['config.monitors[0].id', { monitors: [{ id: 'x' }] }],
      ['config.since', { since: '2026-11-01T00:00:00' }],
      ['config.since', { since: '2026-11-01' }],
      ['config.until', { until: config.since }],
      ['config.until', { until: '2026-11-01T01:00:00+01:00' }],
      ['config.until', { until: '2026-10-01T00:00:00Z' }],
      ['config.timezone', { timezone: '' }],
      ['config.timezone', { timezone: '+02:00' }],
      ['config.timezone', { timezone: 'Mars/Olympus' }],
      ['config.timezone', { timezone: `Europe/${'x'.repeat(58)}` }],
      ['config.versionScope', { versionScope: 'latest' }],
      ['config.format', { format: 'json' }],
      ['config.reasoning', { reasoning: 'true' }],
      ['config.match', { match: 'none' }],
      ['config.companyId', { companyId: 'acme' }],
      ['config.agentId', { agentId: null }],
      ['config.metadata', { metadata: Array.from({ length: 9 }, () => condition) }],
      ['config.metadata[0].key', { metadata: [{ ...condition, key: 'k'.repeat(121) }] }],
      ['config.metadata[0].value', { metadata: [{ ...condition, value: 'v'.repeat(501) }] }],
      ['config.metadata[0].value', { metadata: [{ ...condition, value: 5 }] }],
      ['config.metadata[0].op', { metadata: [{ ...condition, op: 'like' }] }],
      ['config.metadata[0].type', { metadata: [{ ...condition, type: 'text' }] }],
      ['config.slug', { slug: 'acme' }],
      ['config.organizationId', { organizationId: randomUUID() }],
    ]
    for (const [path, fault] of faults) {
      expect(issuesOf(await ask(key, { ...config, ...fault })), JSON.stringify(fault)).toEqual([path])
    }
    for (const op of ['eq', 'neq', 'contains', 'not_contains', 'gt', 'gte', 'lt', 'lte']) {
      const answer = await ask(key, { ...config, metadata: [{ key: 'plan', op }] })
      expect(issuesOf(answer), op).toEqual(['config.metadata[0].value'])
    }
    for (const name of ['monitors', 'since', 'until', 'timezone']) {
      expect(issuesOf(await ask(key, without(config, name))), name).toEqual([`config.${name}`])
    }
    for (const name of ['slug', 'organizationId']) {
      const body = { operationId: randomUUID(), config, [name]: 'acme' }
      expect(issuesOf(await call('POST', '/v1/monitor-exports', { key, body }))).toEqual([name])
    }
    expect(issuesOf(await ask(key, { ...config, until: config.since, timezone: '+01:00' }))).toHaveLength(2)
    expect((await call('GET', '/v1/monitor-exports', { key })).body).toEqual({ data: [], nextCursor: null })
  })

  it('drops the value of a condition that does not compare', async () => {
    const { key, config } = await makeCalls(0)
    const { body } = await ask(key, { ...config, metadata: [{ key: 'plan', op: 'is_set', value: 'gold' }] })
    expect(body.config.metadata).toEqual([{ key: 'plan', op: 'is_set' }])
  })

  it("returns 404 for another organization's resources and unknown ones", async () => {
    const { key, config } = await makeCalls(0)
    const stranger = await makeCalls(0)
    const group = await makeAgentGroup(server, stranger.key)
    const company = await makeCompany(server, stranger.key)
    const answers: TestAnswer<Refusal>[] = []
    for (const id of [randomUUID(), stranger.config.monitors[0]?.id]) {
      answers.push(await ask(key, { ...config, monitors: [...config.monitors, { id }] }))
    }
    for (const id of [randomUUID(), company.id]) answers.push(await ask(key, { ...config, companyId: id }))
    for (const id of [randomUUID(), group.id]) answers.push(await ask(key, { ...config, groupId: id }))
    answers.push(await ask(key, { ...config, agentId: randomUUID() }))
    answers.push(await ask(key, { ...config, notificationEndpointId: randomUUID() }))
    const deleted = await makeMonitor(server, key)
    await call('DELETE', `/v1/monitors/${deleted.id}`, { key })
    answers.push(await ask(key, { ...config, monitors: [{ id: deleted.id }] }))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]))
    const pathsOf = ({ body }: TestAnswer<Refusal>) => body.details.issues.map(({ path }) => path).join()
    const selectors = ['companyId', 'companyId', 'groupId', 'groupId', 'agentId', 'notificationEndpointId']
    expect(answers.map(pathsOf)).toEqual([
      'config.monitors[1].id',
      'config.monitors[1].id',
      ...selectors.map((name) => `config.${name}`),
      'config.monitors[0].id',
    ])
    const [unknown, foreign] = answers
    expect(foreign?.text).toBe(unknown?.text)
  })

  it('reports everything missing at once', async () => {
    const { key, config } = await makeCalls(0)
    const ids = { companyId: randomUUID(), agentId: randomUUID(), groupId: randomUUID() }
    const monitors = [{ id: randomUUID() }, ...config.monitors, { id: randomUUID() }]
    const { status, body } = await ask(key, { ...config, ...ids, monitors })
    const message = 'does not exist in your organization'
    const paths = ['monitors[0].id', 'monitors[2].id', 'companyId', 'agentId', 'groupId']
    const issues = paths.map((path) => ({ path: `config.${path}`, message }))
    expect([status, body.details.issues]).toEqual([404, issues])
  })

  it('requires the entitlement, then the feature, before other checks', async () => {
    const off = await makeOrganization(server, {
      entitlements: { monitors: false },
      features: { monitorExports: false },
    })
    const disabled = await makeOrganization(server, { features: { monitorExports: false } })
    const paths = ['GET /v1/monitor-exports', `GET /v1/monitor-exports/${randomUUID()}`]
    paths.push(`GET /v1/monitor-exports/${randomUUID()}/download`, `DELETE /v1/monitor-exports/${randomUUID()}`)
    for (const [method = '', path = ''] of [...paths, 'POST /v1/monitor-exports'].map((each) => each.split(' '))) {
      const body = method === 'POST' ? { nonsense: 1 } : undefined
      expect((await call(method, path, { key: off.key, body })).status, path).toBe(403)
      expect((await call(method, path, { key: disabled.key, body })).status, path).toBe(503)
      expect((await call(method, path, { body })).status, path).toBe(401)
      expect((await call(method, path, { key: serviceKey, body })).status, path).toBe(403)
    }
  })

  it('is allowed for viewers; ending one is not', async () => {
    const { key, config } = await makeCalls(0)
    const viewer = await makeKey(server, key, 'viewer')
    const { status, body } = await ask(viewer.key, config)
    expect(status).toBe(202)
    expect((await call('DELETE', `/v1/monitor-exports/${body.id}`, { key: viewer.key })).status).toBe(403)
    const member = await makeKey(server, key, 'member')
    expect((await call('DELETE', `/v1/monitor-exports/${body.id}`, { key: member.key })).status).toBe(204)
  })

  it('is rejected beyond 20 unfinished ones, with a time to retry', async () => {
    const { key, config } = await makeCalls(0)
    const operationIds = Array.from({ length: 20 }, () => randomUUID())
    const answers = await Promise.all(operationIds.map((operationId) => ask(key, config, operationId)))
    expect(answers.map(({ status }) => status)).toEqual(operationIds.map(() => 202))
    const refused = await ask(key, config)
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate limited' } })
    expect(refused.headers.get('retry-after')).toBe('5')
    expect((await ask(key, config, operationIds[7])).headers.get('idempotent-replayed')).toBe('true')
    await call('DELETE', `/v1/monitor-exports/${answers[3]?.body.id}`, { key })
    expect((await ask(key, config)).status).toBe(202)
  })
})

describe('repeating a request', () => {
  it('with the same operation ID and configuration returns the same export, however it is spelled', async () => {
    const { key, config } = await makeCalls(0)
    const operationId = randomUUID()
    const { id } = await makeMonitor(server, key)
    const given = {
      ...config,
      monitors: [...config.monitors, { id, result: 'affected' }],
      metadata: [
        { key: 'plan', op: 'eq', value: 'gold' },
        { key: 'vip', op: 'is_true' },
      ],
    }
    const first = await ask(key, given, operationId)
    const respelled = {
      metadata: [
        { value: 'gold', op: 'eq', key: 'plan' },
        { op: 'is_true', key: 'vip', value: 'ignored' },
      ],
      match: 'all',
      reasoning: false,
      format: 'csv',
      versionScope: 'historical',
      timezone: 'EUROPE/berlin',
      until: '2026-12-01T01:00:00.0000+01:00',
      since: '2026-10-31T16:00:00-08:00',
      monitors: [
        { result: 'all', id: config.monitors[0]?.id.toUpperCase() },
        { result: 'affected', id },
      ],
    }
    const again = await ask(key, respelled, operationId.toUpperCase())
    expect(again).toMatchObject({ status: 202, body: first.body })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.headers.get('location')).toBe(first.headers.get('location'))
    expect(again.headers.get('retry-after')).toBe('5')
    const { data } = (await call('GET', '/v1/monitor-exports', { key })).body
    expect(data).toHaveLength(1)
  })

  it('with another configuration is a conflict', async () => {
    const { key, config } = await makeCalls(0)
    const { id } = await makeMonitor(server, key)
    const two = { ...config, monitors: [...config.monitors, { id }] }
    const operationId = randomUUID()
    await ask(key, two, operationId)
    for (const change of [
      { monitors: two.monitors.toReversed() },
      { monitors: config.monitors },
      { monitors: [{ ...two.monitors[0], result: 'affected' }, two.monitors[1]] },
      { since: '2026-11-01T00:00:00.001Z' },
      { timezone: 'UTC' },
      { format: 'xlsx' },
      { reasoning: true },
      { match: 'any' },
      { versionScope: 'current' },
      { metadata: [{ key: 'a', op: 'is_set' }] },
      { agentId: randomUUID() },
    ]) {
      const answer = await ask(key, { ...two, ...change }, operationId)
      expect(answer, JSON.stringify(change)).toMatchObject({ status: 409, body: { error: 'conflict' } })
    }
  })

  it('is answered before resources are checked', async () => {
    const { key, config } = await makeCalls(0)
    const operationId = randomUUID()
    const { body } = await ask(key, config, operationId)
    await call('DELETE', `/v1/monitors/${config.monitors[0]?.id}`, { key })
    expect(await ask(key, config, operationId)).toMatchObject({ status: 202, body: { id: body.id } })
    expect((await ask(key, config)).status).toBe(404)
  })

  it('concurrently creates one export', async () => {
    const { key, config } = await makeCalls(0)
    const operationId = randomUUID()
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(key, config, operationId)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1)
    expect(answers.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1)
    const { data } = (await call('GET', '/v1/audit-events?limit=200', { key })).body
    expect(data.filter(({ action }: { action: string }) => action === 'monitor-export.create')).toHaveLength(1)
  })

  it('by another organization creates another export', async () => {
    const [ours, theirs] = [await makeCalls(0), await makeCalls(0)]
    const operationId = randomUUID()
    const first = await ask(ours.key, ours.config, operationId)
    const second = await ask(theirs.key, theirs.config, operationId)
    expect(second.status).toBe(202)
    expect(second.body.id).not.toBe(first.body.id)
    expect((await call('GET', `/v1/monitor-exports/${first.body.id}`, { key: theirs.key })).status).toBe(404)
    expect((await call('DELETE', `/v1/monitor-exports/${first.body.id}`, { key: theirs.key })).status).toBe(404)
  })
})

describe('the list', () => {
  it('is paged, newest first, and can be filtered by status', async () => {
    const { key, config } = await makeCalls(0)
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.unshift((await ask(key, config)).body.id)
    const listed: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { body: { data: { id: string }[]; nextCursor: string | null } } = await call(
        'GET',
        `/v1/monitor-exports?limit=2${cursor && `&cursor=${cursor}`}`,
        { key },
      )
      listed.push(...page.body.data.map(({ id }) => id))
      cursor = page.body.nextCursor
    }
    expect(listed).toEqual(ids)
    await call('DELETE', `/v1/monitor-exports/${ids[1]}`, { key })
    const { body } = await call('GET', '/v1/monitor-exports?status=failed', { key })
    expect(body.data).toMatchObject([{ id: ids[1], errorCode: 'cancelled' }])
    expect((await call('GET', '/v1/monitor-exports?status=done', { key })).status).toBe(400)
  })
})
