import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeMonitor, makeOrganization } from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import type { OrgId } from '../platform/db/database.ts'
import { orgIdOf } from '../platform/ids.ts'
import { type ResultRow, upsertResults } from './queries.ts'

const server = await testServer()
const { call } = server
const { db } = server.deps

let org: OrgId
let key: string
let monitor: { id: string }
let conversation: { id: string; externalId: string }
beforeEach(async () => {
  const made = await makeOrganization(server)
  // The API returned this ID, so it is valid.
  org = orgIdOf(made.id)
  key = made.key
  monitor = await makeMonitor(server, key)
  conversation = await makeConversation(server, key)
})

const post = (results: unknown[]) => call('POST', '/v1/monitor-results', { key, body: { results } })
const told = async (results: unknown[]) =>
  (await post(results)).body.data.map(({ status }: { status: string }) => status)
const item = (fields: object = {}) => ({
  monitorId: monitor.id,
  conversationId: conversation.id,
  result: 'affected',
  ...fields,
})
const list = async (path: string) => (await call('GET', path, { key })).body.data
const results = () => list(`/v1/conversations/${conversation.id}/results`)

const row = (fields: Partial<ResultRow> = {}): ResultRow => ({
  conversationId: conversation.id,
  monitorId: monitor.id,
  monitorVersion: 1,
  status: 'scored',
  result: 'affected',
  score: 0.5,
  reasoning: 'Because',
  evidence: [{ turn: 1, quote: 'I will' }],
  categories: null,
  fields: null,
  unsupportedFields: [],
  evaluatedAt: new Date('2026-11-20T10:00:00.000Z'),
  evaluator: 'judge',
  tokens: { input: 900, output: 80 },
  cost: 0.0012,
  responseMs: 900,
  breakdown: null,
  ...fields,
})
const upsert = (...rows: ResultRow[]) =>
  db.transaction().execute((trx) => upsertResults(trx, org, rows, server.clock.now()))

/** Adds a version without its own definition, because only its number matters here. */
const addVersion = (number: number) =>
  sql`
  INSERT INTO monitor_versions (organization_id, monitor_id, number, definition)
  VALUES (${org}, ${monitor.id}, ${number}, '{}')`.execute(db)

describe('a batch of results', () => {
  it('is stored, and returned with the conversation and with the monitor', async () => {
    const answer = await post([
      item({
        score: 0.8,
        reasoning: 'A refund was promised.',
        evidence: [{ turn: 2, quote: 'I will refund you.' }],
        evaluatedAt: '2026-11-20T12:00:00+01:00',
      }),
    ])
    expect(answer).toMatchObject({ status: 200, body: { data: [{ index: 0, status: 'created' }] } })
    const stored = {
      conversationId: conversation.id,
      monitorId: monitor.id,
      monitorVersion: 1,
      status: 'scored',
      result: 'affected',
      score: 0.8,
      reasoning: 'A refund was promised.',
      evidence: [{ turn: 2, quote: 'I will refund you.' }],
      evaluatedAt: '2026-11-20T11:00:00.000Z',
      evaluator: 'external',
      tokens: null,
      cost: null,
      categories: null,
      fields: null,
      unsupportedFields: [],
      notApplicable: false,
      breakdown: null,
    }
    expect(await results()).toEqual([stored])
    expect(await list(`/v1/monitors/${monitor.id}/results`)).toEqual([stored])
  })

  it('carries categories and fields, and replaces them', async () => {
    const fields = { amount: 24.5, reason: 'late "delivery"', isPaid: false, items: ['cup', 'lid'], null: null }
    const evidence = [{ turn: 1, quote: '24.50', field: 'amount' }]
    const given = item({ categories: ['billing', 'null'], fields, evidence })
    expect(await told([given, given])).toEqual(['created', 'created'])
    expect(await told([given])).toEqual(['unchanged'])
    expect(await results()).toMatchObject([
      { categories: ['billing', 'null'], fields, evidence, unsupportedFields: [], notApplicable: false },
    ])
    expect(await told([item({ categories: [], fields: {} })])).toEqual(['updated'])
    expect(await results()).toMatchObject([{ categories: [], fields: {} }])
    expect(await told([item({ result: 'unscored', categories: ['not_applicable'] })])).toEqual(['updated'])
    expect(await results()).toMatchObject([
      { status: 'unscored', result: null, categories: ['not_applicable'], fields: null, notApplicable: true },
    ])
    expect(await told([item({ categories: ['other'] })])).toEqual(['updated'])
    expect(await told([item({ categories: null, fields: null })])).toEqual(['updated'])
    expect(await results()).toMatchObject([{ categories: null, fields: null, notApplicable: false }])
  })

  it.each([
    ['result', { result: 'affected', categories: ['not_applicable'] }],
    ['result', { result: 'not_affected', categories: ['billing', 'other'] }],
    ['categories', { result: 'unscored', categories: ['not_applicable', 'billing'] }],
    ['categories[0]', { categories: ['Billing question'] }],
    ['categories', { categories: ['billing', 'billing'] }],
    ['categories', { categories: Array.from({ length: 21 }, (_, at) => `c${at}`) }],
    ['fields', { fields: { 'the amount': 1 } }],
    ['fields.amount', { fields: { amount: { value: 1 } } }],
    ['fields.reason', { fields: { reason: 'x'.repeat(1_001) } }],
    ['fields.items[0]', { fields: { items: [1] } }],
    ['fields', { fields: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`f${at}`, at])) }],
    ['evidence[0].field', { evidence: [{ turn: 0, quote: 'x', field: '' }] }],
  ])('names the path %s of %j', async (path, fields) => {
    const { data } = (await post([item(fields)])).body
    expect(data).toMatchObject([{ status: 'rejected', error: { error: 'validation failed' } }])
    expect(data[0].error.details.issues[0].path).toBe(path)
  })

  it('reports the outcome of each item, and stores the valid ones', async () => {
    const stranger = await makeOrganization(server)
    const foreignMonitor = await makeMonitor(server, stranger.key)
    const foreignConversation = await makeConversation(server, stranger.key)
    const rule = await makeMonitor(server, key, { kind: 'rule', definition: { expression: 'true' } })
    const other = await makeConversation(server, key)
    await post([item()])
    const { data } = (
      await post([
        item({ conversationId: conversation.id.toUpperCase(), monitorId: monitor.id.toUpperCase() }),
        { monitorId: monitor.id, conversationExternalId: other.externalId, result: 'unscored' },
        item({ monitorId: foreignMonitor.id }),
        item({ monitorId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' }),
        item({ conversationId: foreignConversation.id }),
        item({ conversationId: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' }),
        item({ conversationId: undefined, conversationExternalId: foreignConversation.externalId }),
        item({ monitorId: rule.id }),
        item({ result: 'maybe', extra: 1 }),
        item({ conversationExternalId: other.externalId }),
        item({ reasoning: 'x'.repeat(65_537) }),
        item({ score: '1' }),
        item({ evidence: [{ turn: -1, quote: 'x' }] }),
        item({ evaluatedAt: '2026-11-20' }),
        'nonsense',
      ])
    ).body
    expect(data.map(({ status }: { status: string }) => status)).toEqual([
      'unchanged',
      'created',
      ...Array(13).fill('rejected'),
    ])
    const errors = data.slice(2).map(({ error }: { error: object }) => error)
    // Random IDs and IDs from another organization lead to the same error.
    expect(new Set(errors.slice(0, 5).map((error: object) => JSON.stringify(error))).size).toBe(1)
    expect(errors[0].error).toBe('not found')
    expect(errors[5]).toMatchObject({ error: 'conflict', message: expect.stringContaining('external monitors') })
    expect(errors[6].details.issues.map(({ path }: { path: string }) => path).sort()).toEqual(['extra', 'result'])
    expect(errors[8].details.issues[0].path).toBe('reasoning')
    expect(errors[10].details.issues[0].path).toBe('evidence[0].turn')
    expect(await list(`/v1/conversations/${other.id}/results`)).toMatchObject([{ status: 'unscored', result: null }])
    expect(
      await call('GET', `/v1/conversations/${foreignConversation.id}/results`, { key: stranger.key }),
    ).toMatchObject({
      body: { data: [] },
    })
  })

  it('changes nothing when it is repeated, and keeps its first time', async () => {
    expect(await told([item({ score: 1 })])).toEqual(['created'])
    const before = await results()
    server.clock.advance(60_000)
    expect(await told([item({ score: 1 }), item({ score: 1 })])).toEqual(['unchanged', 'unchanged'])
    expect(await results()).toEqual(before)
    expect(await told([item({ score: 2 })])).toEqual(['updated'])
    const [after] = await results()
    expect(after).toMatchObject({ score: 2, evaluatedAt: server.clock.now().toISOString() })
    expect(await told([item({ score: 2, evaluatedAt: '2026-11-20T11:00:00Z' })])).toEqual(['updated'])
    expect(await told([item({ score: 2, evaluatedAt: '2026-11-20T11:00:00Z' })])).toEqual(['unchanged'])
  })

  it('stores the last of several results for a conversation', async () => {
    expect(await told([item({ score: 3 }), item({ score: 1 }), item({ result: 'not_affected', score: 2 })])).toEqual([
      'created',
      'created',
      'created',
    ])
    expect(await results()).toMatchObject([{ result: 'not_affected', score: 2 }])
  })

  it('accepts reasoning up to the documented length, in characters', async () => {
    const reasoning = '😀'.repeat(65_536)
    expect(await told([item({ reasoning })])).toEqual(['created'])
    expect((await results())[0].reasoning).toBe(reasoning)
  })

  it('is stored once when it is sent many times concurrently', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => makeConversation(server, key)))
    const batch = others.map(({ id }) => item({ conversationId: id, evaluatedAt: '2026-11-20T11:00:00Z' }))
    const answers = await Promise.all([batch, batch.toReversed(), batch, batch.toReversed()].map(told))
    expect(answers.flat().filter((status) => status === 'created')).toHaveLength(5)
    expect(answers.flat().filter((status) => status === 'unchanged')).toHaveLength(15)
    expect(await list(`/v1/monitors/${monitor.id}/results`)).toHaveLength(5)
  })

  it('stores no email address if the organization redacts', async () => {
    const phi = await makeOrganization(server, { features: { phiMode: true } })
    await call('PATCH', '/v1/organization', { key: phi.key, body: { redaction: true } })
    const { id } = await makeConversation(server, phi.key)
    const { id: monitorId } = await makeMonitor(server, phi.key)
    const reasoning = 'Wrote to a@b.co '.repeat(4_096)
    expect(reasoning).toHaveLength(65_536)
    const evidence = [{ turn: 0, quote: 'a@b.co' }]
    const fields = { mail: 'a@b.co', list: ['a@b.co'], long: 'a@b.co '.repeat(142) }
    const body = { results: [{ monitorId, conversationId: id, result: 'affected', reasoning, evidence, fields }] }
    const answer = await call('POST', '/v1/monitor-results', { key: phi.key, body })
    expect(answer.body.data).toEqual([{ index: 0, status: 'created' }])
    const { data } = (await call('GET', `/v1/conversations/${id}/results`, { key: phi.key })).body
    expect(data[0].evidence).toEqual([{ turn: 0, quote: '[email]' }])
    expect(data[0].reasoning).toMatch(/^Wrote to \[email\] /)
    expect(data[0].reasoning).toHaveLength(65_536)
    expect(data[0].fields).toMatchObject({ mail: '[email]', list: ['[email]'] })
    expect(data[0].fields.long).toHaveLength(1_000)
  })

  it.each([[[]], [Array.from({ length: 1_001 }, () => ({}))]])('has 1 to 1,000 items', async (given) => {
    expect((await post(given)).status).toBe(400)
  })
})

describe('writing results', () => {
  it('keeps one row per version, and reports what no longer exists', async () => {
    await addVersion(2)
    const absent = '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'
    expect(
      await upsert(
        row(),
        row({ monitorVersion: 2, status: 'failed', result: null, tokens: null, cost: null }),
        row({ monitorVersion: 3 }),
        row({ conversationId: absent }),
        row({ monitorId: absent }),
      ),
    ).toEqual(['created', 'created', 'absent', 'absent', 'absent'])
    expect(await upsert(row(), row({ monitorVersion: 2, evaluatedAt: new Date(0) }))).toEqual(['unchanged', 'updated'])
    expect(await upsert()).toEqual([])
    expect(await results()).toMatchObject([
      { monitorVersion: 2, result: 'affected', tokens: { input: 900, output: 80 } },
    ])
  })

  it('does not write an equal row', async () => {
    await upsert(row())
    const place = async () =>
      (await sql`SELECT ctid, xmin FROM monitor_results WHERE organization_id = ${org}`.execute(db)).rows
    const before = await place()
    await upsert(row())
    expect(await place()).toEqual(before)
  })

  it('waits for a pending erasure or deletion, and then finds nothing', async () => {
    const rival = await makeConversation(server, key)
    const [erased, ...answers] = await Promise.all([
      call('DELETE', `/v1/conversations/${rival.id}`, { key }),
      ...Array.from({ length: 10 }, () => told([item({ conversationId: rival.id })])),
    ])
    expect(erased.status).toBe(204)
    expect(answers).toHaveLength(10)
    const [deleted] = await Promise.all([
      call('DELETE', `/v1/monitors/${monitor.id}`, { key }),
      ...Array.from({ length: 10 }, () => told([item()])),
    ])
    expect(deleted.status).toBe(204)
    await server.drain()
    const { rows } = await sql`SELECT 1 FROM monitor_results WHERE organization_id = ${org}`.execute(db)
    expect(rows).toEqual([])
  })
})

describe('the lists', () => {
  const follow = async (path: string) => {
    const found: { conversationId: string; monitorId: string; monitorVersion: number }[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body } = await call('GET', `${path}limit=2${cursor && `&cursor=${cursor}`}`, { key })
      found.push(...body.data)
      cursor = body.nextCursor as string | null
    }
    return found
  }

  it('of a monitor start with the latest call, and can be filtered', async () => {
    const calls: { id: string }[] = []
    for (const day of [11, 13, 12, 15, 14]) {
      calls.push(await makeConversation(server, key, { startedAt: `2026-11-${day}T09:00:00Z` }))
    }
    const [a, c, b, e, d] = calls.map(({ id }) => id)
    await addVersion(2)
    const give = (conversationId: string | undefined, fields: Partial<ResultRow> = {}) =>
      row({ conversationId: conversationId ?? '', ...fields })
    await upsert(
      give(a),
      give(b, { result: 'not_affected' }),
      give(c, { status: 'unscored', result: null }),
      give(d, { status: 'failed', result: null }),
      give(e),
      give(e, { monitorVersion: 2 }),
    )
    const path = `/v1/monitors/${monitor.id}/results?`
    const ids = async (query = '') => (await follow(`${path}${query && `${query}&`}`)).map((one) => one.conversationId)
    expect(await ids()).toEqual([e, e, d, c, b, a])
    expect(await ids('result=affected')).toEqual([e, e, a])
    expect(await ids('result=not_affected')).toEqual([b])
    expect(await ids('result=unscored')).toEqual([c])
    expect(await ids('result=failed')).toEqual([d])
    expect(await ids('version=2')).toEqual([e])
    expect(await ids('since=2026-11-12T09:00:00Z&until=2026-11-14T09:00:00Z')).toEqual([c, b])
    expect((await call('GET', `${path}since=2026-11-12T09:00:00Z&until=2026-11-12T09:00:00Z`, { key })).status).toBe(
      400,
    )
  })

  it('of a conversation have the newest version of each monitor, and the others on request', async () => {
    const second = await makeMonitor(server, key)
    const third = await makeMonitor(server, key)
    await addVersion(2)
    await upsert(row(), row({ monitorVersion: 2 }), row({ monitorId: second.id }), row({ monitorId: third.id }))
    const path = `/v1/conversations/${conversation.id}/results?`
    const places = async (query = '') =>
      (await follow(`${path}${query}`)).map(({ monitorId, monitorVersion }) => [monitorId, monitorVersion])
    expect(await places()).toEqual([
      [third.id, 1],
      [second.id, 1],
      [monitor.id, 2],
    ])
    expect(await places('history=true&')).toEqual([
      [third.id, 1],
      [second.id, 1],
      [monitor.id, 2],
      [monitor.id, 1],
    ])
  })

  it('require the entitlement', async () => {
    await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: { entitlements: { monitors: false } } })
    expect((await call('GET', `/v1/conversations/${conversation.id}/results`, { key })).status).toBe(403)
    expect((await post([item()])).status).toBe(403)
  })
})
