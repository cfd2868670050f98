import { expect, it } from 'vitest'
import {
  makeConversation,
  makeFinding,
  makeMonitor,
  makeOrganization,
  makePerson,
  makeTopic,
} from '../../../../test/make.ts'
import { serviceKey, testServer } from '../../../../test/server.ts'

const server = await testServer()
const { call } = server

const everything = ['results', 'metrics', 'findings', 'excerpt', 'cost']

const search = (key: string, include?: string[], headers = {}) =>
  call('POST', '/v1/conversations/search', {
    ...(key && { key }),
    headers,
    body: { filter: {}, ...(include && { include }) },
  })

it('a page includes the topic of each conversation, or null', async () => {
  const { key } = await makeOrganization(server)
  const [one, without] = [await makeConversation(server, key), await makeConversation(server, key)]
  const topic = await makeTopic(server, key, one.id)
  const topics = async () => {
    const { body } = await search(key, ['topic'])
    return new Map(body.data.map((row: { id: string; topic: object }) => [row.id, row.topic]))
  }
  expect([...(await topics())]).toEqual(
    expect.arrayContaining([
      [one.id, { id: topic, label: 'refund' }],
      [without.id, null],
    ]),
  )
  const into = await makeTopic(server, key)
  await call('POST', `/v1/topics/${topic}/merge`, { key, body: { into } })
  expect((await topics()).get(one.id)).toEqual({ id: into, label: 'refund' })
})

it('a page includes what was asked for', async () => {
  const { key } = await makeOrganization(server)
  const [first, second] = [await makeMonitor(server, key), await makeMonitor(server, key)]
  const plain = await makeConversation(server, key, { startedAt: '2026-11-01T00:00:00Z', transcript: undefined })
  const { id } = await makeConversation(server, key, {
    startedAt: '2026-11-02T00:00:00Z',
    transcript: [
      { role: 'agent', text: 'Acme Dental?' },
      { role: 'customer', text: 'A refund, please.' },
    ],
    metrics: [
      { key: 'csat', value: 4.5 },
      { key: 'note', value: 'x'.repeat(500) },
    ],
  })
  const results = [
    {
      monitorId: first.id,
      conversationId: id,
      result: 'affected',
      score: 7.5,
      reasoning: 'A refund',
      categories: ['refund'],
      fields: { amount: 5 },
    },
    { monitorId: second.id, conversationId: id, result: 'unscored' },
  ]
  await call('POST', '/v1/monitor-results', { key, body: { results } })
  const finding = await makeFinding(server, key)
  await call('POST', `/v1/findings/${finding.id}/conversations`, { key, body: { conversationId: id } })
  const { body } = await search(key, everything)
  const found = (which: string) => body.data.find((row: { id: string }) => row.id === which)
  const read = (await call('GET', `/v1/conversations/${id}`, { key })).body
  expect(found(id)).toEqual({
    ...read,
    results: [
      {
        monitorId: second.id,
        version: 1,
        status: 'unscored',
        result: null,
        score: null,
        categories: null,
        fields: null,
      },
      {
        monitorId: first.id,
        version: 1,
        status: 'scored',
        result: 'affected',
        score: 7.5,
        categories: ['refund'],
        fields: { amount: 5 },
      },
    ],
    metrics: [
      { key: 'csat', value: 4.5 },
      { key: 'note', value: 'x'.repeat(200) },
    ],
    findings: [{ id: finding.id, title: expect.any(String), status: 'open', priority: expect.any(String) }],
    excerpt: 'A refund, please.',
    cost: null,
  })
  expect(found(plain.id)).toMatchObject({ results: [], metrics: [], findings: [], excerpt: null, cost: null })
  expect((await search(key)).body.data).toContainEqual(read)
  expect(Object.keys((await search(key, ['excerpt'])).body.data[0])).not.toContain('results')
})

it('results and findings are missing while the reader has a blind review', async () => {
  const { key } = await makeOrganization(server)
  const { id } = await makeConversation(server, key)
  const other = await makeConversation(server, key)
  const bucket = await call('POST', '/v1/buckets', { key, body: { name: 'Blind', type: 'static', blind: true } })
  const add = { conversationIds: [id] }
  await call('POST', `/v1/buckets/${bucket.body.id}/conversations`, { key, body: add })
  const { headers } = await makePerson(server, key)
  await call('POST', `/v1/buckets/${bucket.body.id}/claim`, { headers })
  const mine = (await search('', everything, headers)).body.data
  const of = (rows: { id: string }[], which: string) => rows.find((row) => row.id === which)
  expect(of(mine, id)).toMatchObject({ results: null, findings: null })
  expect(of(mine, other.id)).toMatchObject({ results: [], findings: [] })
  expect(of((await search(key, everything)).body.data, id)).toMatchObject({ results: [], findings: [] })
})

it('results and metrics need their entitlement', async () => {
  const { id, key } = await makeOrganization(server)
  const entitlements = { monitors: false, metrics: false }
  await call('PATCH', `/v1/organizations/${id}`, { key: serviceKey, body: { entitlements } })
  for (const include of ['results', 'cost', 'metrics']) expect((await search(key, [include])).status).toBe(403)
  expect((await search(key, ['findings', 'excerpt'])).status).toBe(200)
  const sorted = { filter: {}, sort: { by: 'metric:csat' } }
  expect((await call('POST', '/v1/conversations/search', { key, body: sorted })).status).toBe(403)
})
