import { beforeEach, expect, it } from 'vitest'
import { makeBoard, makeMonitor, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

let key: string
beforeEach(async () => {
  ;({ key } = await makeOrganization(server))
})

const volumeByDay = {
  title: 'Calls',
  kind: 'line',
  width: 'half',
  query: { measure: { kind: 'volume' }, interval: 'day' },
}

it('every organization has boards with charts that can be queried', async () => {
  const monitor = await makeMonitor(server, key, { name: 'Asks for a person' })
  const { body } = await call('GET', '/v1/boards', { key })
  expect(body).toMatchObject({ data: [], nextCursor: null })
  expect(body.builtIn.map(({ name }: { name: string }) => name)).toEqual([
    'Quality',
    'Voice latency',
    'Volume and cost',
    'By company',
  ])
  for (const board of body.builtIn) {
    expect((await call('GET', `/v1/boards/${board.id}`, { key })).body).toEqual(board)
    expect(board.charts.length).toBeGreaterThan(2)
    for (const { query } of board.charts) {
      const answer = await call('POST', '/v1/analytics/query', {
        key,
        body: { ...query, filter: board.filter, compareTo: board.compareTo },
      })
      expect(answer.status, answer.text).toBe(200)
    }
    const patched = await call('PATCH', `/v1/boards/${board.id}`, { key, body: { name: 'Mine' } })
    expect(patched.status).toBe(409)
    expect((await call('DELETE', `/v1/boards/${board.id}`, { key })).status).toBe(409)
  }
  const [quality] = body.builtIn
  expect(quality.charts).toContainEqual(
    expect.objectContaining({
      title: 'Asks for a person',
      kind: 'line',
      query: { measure: { kind: 'rate', monitorId: monitor.id }, interval: 'day' },
    }),
  )
})

it('boards without the Monitors entitlement have no charts of monitors', async () => {
  const plain = await makeOrganization(server, { entitlements: { monitors: false } })
  const { builtIn } = (await call('GET', '/v1/boards', { key: plain.key })).body
  const kinds = builtIn.flatMap(({ charts }: { charts: { query: { measure: { kind: string } } }[] }) =>
    charts.map(({ query }) => query.measure.kind),
  )
  expect(kinds).not.toContain('rate')
  expect(kinds).not.toContain('cost')
})

it('a copy of a built-in board can be changed', async () => {
  const { builtIn } = (await call('GET', '/v1/boards', { key })).body
  const copied = await call('POST', `/v1/boards/${builtIn[1].id}/duplicate`, { key, body: {} })
  expect(copied.status).toBe(201)
  expect(copied.headers.get('location')).toBe(`/v1/boards/${copied.body.id}`)
  expect(copied.body).toMatchObject({ name: 'Voice latency copy', isBuiltIn: false, filter: builtIn[1].filter })
  expect(copied.body.charts).toHaveLength(builtIn[1].charts.length)
  const path = `/v1/boards/${copied.body.id}`
  const charts = copied.body.charts.toReversed()
  const changed = await call('PATCH', path, { key, body: { name: 'Speed', charts, compareTo: null } })
  expect(changed.body).toMatchObject({ name: 'Speed', charts, compareTo: null, description: copied.body.description })
  expect((await call('GET', '/v1/boards', { key })).body.data).toEqual([changed.body])
  expect((await call('DELETE', path, { key })).status).toBe(204)
  expect((await call('GET', path, { key })).status).toBe(404)
  expect((await call('POST', `${path}/duplicate`, { key, body: {} })).status).toBe(404)
})

it('filters are stored in canonical spelling, and charts get IDs', async () => {
  const board = await makeBoard(server, key, {
    filter: { since: '2026-11-01T01:00:00+01:00' },
    charts: [
      {
        ...volumeByDay,
        query: { ...volumeByDay.query, filter: { metadata: [{ key: 'a', op: 'is_set', value: 'x' }] } },
      },
    ],
  })
  expect(board.filter).toEqual({ since: '2026-11-01T00:00:00.000Z' })
  expect(board.charts).toEqual([
    {
      ...volumeByDay,
      id: expect.any(String),
      query: { ...volumeByDay.query, filter: { metadata: [{ key: 'a', op: 'is_set' }] } },
    },
  ])
  const empty = await makeBoard(server, key)
  expect(empty).toMatchObject({ filter: { period: { last: '30d', timezone: 'UTC' } }, charts: [], compareTo: null })
})

it('rejects charts that contradict themselves, with all paths', async () => {
  const stranger = await makeOrganization(server)
  const { id: monitorId } = await makeMonitor(server, stranger.key)
  const measure = { kind: 'volume' }
  const { id } = await makeMonitor(server, key)
  const chart = { title: 'A', width: 'half' }
  const charts = [
    { ...chart, kind: 'line', query: { measure } },
    { ...chart, kind: 'heatmap', query: { measure, groupBy: ['agent'], interval: 'day' } },
    { ...chart, kind: 'number', query: { measure, groupBy: ['agent'] } },
    {
      ...chart,
      id,
      kind: 'table',
      query: { measure: { kind: 'rate', monitorId }, filter: { period: { last: '7d' } } },
    },
    { ...chart, id, kind: 'bar', query: { measure: { kind: 'rate', monitorId: id }, filter: { text: '?' } } },
  ]
  const { status, body } = await call('POST', '/v1/boards', { key, body: { name: 'Bad', charts } })
  expect(status).toBe(400)
  expect(body.details.issues.map(({ path }: { path: string }) => path)).toEqual([
    'charts[0].query.interval',
    'charts[1].query.groupBy',
    'charts[1].query.interval',
    'charts[2].query.groupBy',
    'charts[3].query.filter.period',
    'charts[3].query.measure.monitorId',
    'charts[4].query.filter.text',
    'charts[4].id',
  ])
  expect((await call('GET', '/v1/boards', { key })).body.data).toEqual([])
})

it('a board belongs to its organization', async () => {
  const board = await makeBoard(server, key)
  const stranger = await makeOrganization(server)
  const path = `/v1/boards/${board.id}`
  expect((await call('GET', path, { key: stranger.key })).status).toBe(404)
  expect((await call('PATCH', path, { key: stranger.key, body: { name: 'Mine' } })).status).toBe(404)
  expect((await call('DELETE', path, { key: stranger.key })).status).toBe(404)
})
