import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeConversation, makeOrganization } from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'

const server = await testServer()
const { call } = server

let org: Awaited<ReturnType<typeof makeOrganization>>
let key: string
let id: string
beforeEach(async () => {
  org = await makeOrganization(server)
  key = org.key
  id = (await makeConversation(server, key)).id
})

const path = (name = '') => `/v1/conversations/${id}/metrics${name && `/${encodeURIComponent(name)}`}`
const put = (name: string, body: object) => call('PUT', path(name), { key, body })
const list = async () => (await call('GET', path(), { key })).body.data
const batch = (metrics: unknown[]) => call('POST', '/v1/customer-metrics', { key, body: { metrics } })
const told = async (metrics: unknown[]) =>
  (await batch(metrics)).body.data.map(({ status }: { status: string }) => status)

describe('a metric', () => {
  it('is created, read, replaced, and deleted', async () => {
    const made = await put('csat', { value: 4.5, comment: 'By SMS' })
    expect(made.status).toBe(201)
    expect(made.headers.get('location')).toBe(path('csat'))
    const metric = { key: 'csat', value: 4.5, comment: 'By SMS', updatedAt: expect.stringMatching(/Z$/) }
    expect(made.body).toEqual(metric)
    expect(await list()).toEqual([made.body])

    const replaced = await put('csat', { value: 'good' })
    expect(replaced.status).toBe(200)
    expect(replaced.body).toEqual({ key: 'csat', value: 'good', comment: null, updatedAt: expect.any(String) })
    expect((await call('DELETE', path('csat'), { key })).status).toBe(204)
    expect((await call('DELETE', path('csat'), { key })).status).toBe(404)
    expect(await list()).toEqual([])
  })

  it('does not change if it is sent again unchanged', async () => {
    const { body } = await put('csat', { value: 1 })
    expect((await put('csat', { value: 1 })).body).toEqual(body)
  })

  it.each([0, -0.1, 1e300, true, false, '', 'x'.repeat(10_000), '[1]', 'null'])('can be %j', async (value) => {
    expect((await put('any', { value })).body.value).toBe(value)
    expect(await list()).toMatchObject([{ key: 'any', value }])
  })

  it.each([
    {},
    { value: null },
    { value: {} },
    { value: [1] },
    { value: 'x'.repeat(10_001) },
    { value: 1, comment: 'x'.repeat(2_001) },
    { value: 1, key: 'csat' },
    { value: 'a\0b' },
  ])('cannot be %j', async (body) => {
    expect((await put('csat', body)).status).toBe(400)
    expect(await list()).toEqual([])
  })

  it.each(['ü/ö ?#%', '…', 'x'.repeat(120), 'a b'])('can have the key %j', async (name) => {
    const made = await put(name, { value: 1 })
    expect(made.status).toBe(201)
    expect(made.body.key).toBe(name)
  })

  it.each(['x'.repeat(121), 'a\nb', 'a\u007fb'])('cannot have the key %j', async (name) => {
    expect((await put(name, { value: 1 })).status).toBe(400)
  })

  it('belongs to its organization', async () => {
    const stranger = await makeOrganization(server)
    for (const [method, where] of [
      ['GET', path()],
      ['PUT', path('a')],
      ['DELETE', path('a')],
    ] as const) {
      const body = method === 'PUT' ? { body: { value: 1 } } : {}
      expect((await call(method, where, { key: stranger.key, ...body })).status).toBe(404)
    }
  })
})

describe('the list', () => {
  it('pages by key', async () => {
    for (const name of ['b', 'd', 'a', 'c', 'e']) await put(name, { value: name })
    const keys: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page = await call('GET', `${path()}?limit=2${cursor && `&cursor=${cursor}`}`, { key })
      keys.push(...page.body.data.map((metric: { key: string }) => metric.key))
      cursor = page.body.nextCursor as string | null
    }
    expect(keys).toEqual(['a', 'b', 'c', 'd', 'e'])
  })
})

describe('a batch', () => {
  it('reports the outcome of each item, and writes the valid ones', async () => {
    const other = await makeConversation(server, key, { externalId: 'call-of-another' })
    await put('kept', { value: 1 })
    await put('changed', { value: 1 })
    const answer = await batch([
      { conversationId: id, key: 'new', value: true, comment: 'why' },
      { conversationId: id.toUpperCase(), key: 'changed', value: 2 },
      { conversationId: id, key: 'kept', value: 1 },
      { conversationExternalId: 'call-of-another', key: 'new', value: 'x' },
      { conversationExternalId: 'nobody', key: 'new', value: 'x' },
      { conversationId: id, key: 'bad', value: null, extra: 1 },
      'nonsense',
      { key: 'nameless', value: 1 },
      { conversationId: id, conversationExternalId: 'call-of-another', key: 'twice', value: 1 },
      { conversationId: id, key: 'a\u0001', value: 1 },
    ])
    expect(answer.status).toBe(200)
    const statuses = answer.body.data.map(({ index, status }: { index: number; status: string }) => [index, status])
    expect(statuses).toEqual([
      [0, 'created'],
      [1, 'updated'],
      [2, 'unchanged'],
      [3, 'created'],
      ...[4, 5, 6, 7, 8, 9].map((index) => [index, 'rejected']),
    ])
    expect(answer.body.data[4].error).toMatchObject({ error: 'not found' })
    expect(answer.body.data[5].error.details.issues.map((issue: { path: string }) => issue.path).sort()).toEqual([
      'extra',
      'value',
    ])
    expect(await list()).toMatchObject([
      { key: 'changed', value: 2 },
      { key: 'kept', value: 1 },
      { key: 'new', value: true, comment: 'why' },
    ])
    expect((await call('GET', `/v1/conversations/${other.id}/metrics`, { key })).body.data).toHaveLength(1)
  })

  it('uses the last of several values for a key, by either ID', async () => {
    const { externalId } = (await call('GET', `/v1/conversations/${id}`, { key })).body
    const items = [
      { conversationId: id, key: 'score', value: 1, comment: 'first' },
      { conversationExternalId: externalId, key: 'score', value: 2 },
      { conversationId: id, key: 'score', value: 3 },
    ]
    expect(await told(items)).toEqual(['created', 'created', 'created'])
    expect(await list()).toEqual([{ key: 'score', value: 3, comment: null, updatedAt: expect.any(String) }])
    expect(await told(items)).toEqual(['unchanged', 'unchanged', 'unchanged'])
  })

  it('has at most 1,000 items, written at once', async () => {
    const many = Array.from({ length: 5 }, () => makeConversation(server, key))
    const ids = (await Promise.all(many)).map((conversation) => conversation.id)
    const items = Array.from({ length: 1_000 }, (_, index) => ({
      conversationId: ids[index % 5],
      key: `key ${Math.floor(index / 5)}`,
      value: index,
    }))
    expect(new Set(await told(items))).toEqual(new Set(['created']))
    expect((await batch([...items, items[0]])).status).toBe(400)
    expect((await batch([])).status).toBe(400)
  })

  it('limits a conversation to 200 keys', async () => {
    const items = Array.from({ length: 201 }, (_, index) => ({ conversationId: id, key: `k${index}`, value: 1 }))
    const statuses = await told(items)
    expect(statuses.slice(0, 200)).toEqual(Array(200).fill('created'))
    expect(statuses[200]).toBe('rejected')
    expect((await put('one more', { value: 1 })).status).toBe(409)
    expect((await put('k0', { value: 2 })).status).toBe(200)
  })

  it('loses nothing and does not deadlock with many concurrent writers', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `m${index}`)
    const other = await makeConversation(server, key)
    const items = names.flatMap((name) =>
      [id, other.id].map((conversationId) => ({ conversationId, key: name, value: 1 })),
    )
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => batch(index % 2 === 0 ? items : items.toReversed())),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200))
    const statuses = answers.flatMap(({ body }) => body.data.map((item: { status: string }) => item.status))
    expect(statuses.filter((status) => status === 'created')).toHaveLength(40)
    expect(await list()).toHaveLength(20)
  })

  it('is one audit event without content', async () => {
    await batch([{ conversationId: id, key: 'key-of-the-audit-test', value: 'value-of-the-audit-test' }])
    const { rows } = await sql`
      SELECT action, to_jsonb(a)::text AS text FROM audit_events a
      WHERE organization_id::text = ${org.id} AND action = 'conversation.metrics'`.execute(server.deps.db)
    expect(rows).toHaveLength(1)
    expect(JSON.stringify(rows)).not.toContain('of-the-audit-test')
  })
})

describe('an organization', () => {
  it('without the entitlement is rejected', async () => {
    await call('PATCH', `/v1/organizations/${org.id}`, { key: serviceKey, body: { entitlements: { metrics: false } } })
    expect((await put('a', { value: 1 })).status).toBe(403)
    expect((await batch([{ conversationId: id, key: 'a', value: 1 }])).status).toBe(403)
    expect((await call('GET', path(), { key })).status).toBe(403)
  })

  it('that redacts everything stores no phone number', async () => {
    await call('PATCH', `/v1/organizations/${org.id}`, { key: serviceKey, body: { features: { phiMode: true } } })
    await call('PATCH', '/v1/organization', { key, body: { redaction: true } })
    await put('one', { value: 'ada@example.com', comment: 'call 555-010-0199' })
    await batch([{ conversationId: id, key: 'many', value: 4_111_111_111_111_111, comment: '123-45-6789' }])
    expect(await list()).toMatchObject([
      { key: 'many', value: '[card]', comment: '[ssn]' },
      { key: 'one', value: '[email]', comment: 'call [phone]' },
    ])
  })
})
