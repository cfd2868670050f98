import { beforeEach, expect, it } from 'vitest'
import {
  elsewhere,
  makeAgent,
  makeBoard,
  makeBoardShare,
  makeCompany,
  makeConversations,
  makeKey,
  makeMonitor,
  makeOrganization,
} from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { noResult } from '../../monitor-results/no-result.ts'
import { upsertResults } from '../../monitor-results/queries.ts'
import { orgIdOf } from '../../platform/ids.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock } = server

let key: string
let org: string
beforeEach(async () => {
  ;({ key, id: org } = await makeOrganization(server))
})

const open = (token: string) => call('POST', '/v1/shared-board', { headers: elsewhere(), body: { token } })

const query = async (token: string, chartId: string, more: object = {}) =>
  call('POST', '/v1/shared-board/query', { headers: elsewhere(), body: { token, chartId, ...more } })

const dayMs = 86_400_000

const agoOf = (days: number) => new Date(clock.now().getTime() - days * dayMs).toISOString()

/** Creates two companies. Their conversations have values for everything that charts measure. */
const makeTwo = async () => {
  const [ours, theirs] = [
    await makeCompany(server, key, 'Acme Dental'),
    await makeCompany(server, key, 'Globex Secrets'),
  ]
  const [ourAgent, theirAgent] = [
    await makeAgent(server, key, { name: 'Ada', companyId: ours.id }),
    await makeAgent(server, key, { name: 'Otto', companyId: theirs.id }),
  ]
  const of = (companyId: string, agentId: string, count: number, plan: string) =>
    Array.from({ length: count }, (_, at) => ({
      companyId,
      agent: undefined,
      agentId,
      startedAt: agoOf(at + 1),
      durationSeconds: count * 10,
      metadata: { plan },
    }))
  const ids = await makeConversations(server, key, [
    ...of(ours.id, ourAgent.id, 2, 'gold'),
    ...of(theirs.id, theirAgent.id, 5, 'globex-only'),
  ])
  const monitor = await makeMonitor(server, key, { name: 'Asks for a person' })
  const rows = ids.map((conversationId, at) => ({
    ...noResult,
    conversationId,
    monitorId: monitor.id as string,
    monitorVersion: 1,
    status: 'scored' as const,
    result: at === 0 || at > 3 ? ('affected' as const) : ('not_affected' as const),
    score: at,
    evaluatedAt: null,
    evaluator: 'test',
    cost: at,
  }))
  await server.deps.db.transaction().execute((trx) => upsertResults(trx, orgIdOf(org), rows, clock.now()))
  return { ours, theirs, monitorId: monitor.id as string, theirAgent }
}

const chart = (measure: object, more: object = {}) => ({
  title: 'Chart',
  kind: 'table',
  width: 'half',
  query: { measure, ...more },
})

it('shows the board to anyone with the link, with its company only', async () => {
  const { ours, theirs, monitorId, theirAgent } = await makeTwo()
  const measures = [
    { kind: 'volume' },
    { kind: 'rate', monitorId },
    { kind: 'score', monitorId, statistic: 'sum' },
    { kind: 'duration', statistic: 'p50' },
    { kind: 'delay', statistic: 'mean' },
    { kind: 'cost', statistic: 'sum' },
    { kind: 'agreement', monitorId },
  ]
  const charts = [
    ...measures.map((measure) => chart(measure)),
    ...['company', 'agent', 'version', 'metadata:plan'].map((name) => chart({ kind: 'volume' }, { groupBy: [name] })),
    { ...chart({ kind: 'volume' }, { interval: 'day' }), kind: 'line' },
    chart({ kind: 'volume' }, { filter: { companyIds: [theirs.id] } }),
    chart({ kind: 'volume' }, { filter: { anyOf: [{ companyIds: [theirs.id] }, { agentIds: [theirAgent.id] }] } }),
  ]
  const board = { name: 'For Acme', charts, filter: { period: { last: '30d' } }, compareTo: 'previous_period' }
  const { token, chartIds } = await makeBoardShare(server, key, board, ours.id)
  const shown = await open(token)
  expect(shown.status).toBe(200)
  expect(shown.body).toMatchObject({ name: 'For Acme', company: { name: 'Acme Dental', logoUrl: null } })
  const own = { period: { last: '30d', timezone: 'UTC' }, companyIds: [ours.id] }
  for (const [at, { query: asked }] of charts.entries()) {
    const { status, body, text } = await query(token, chartIds[at] ?? '')
    expect(status, text).toBe(200)
    expect(text).not.toMatch(/globex|otto/i)
    for (const id of [theirs.id, theirAgent.id, org]) expect(text).not.toContain(id)
    if ('filter' in asked) {
      expect(body.groups.every(({ n }: { n: number }) => n === 0)).toBe(true)
      continue
    }
    const request = { ...asked, filter: own, compareTo: 'previous_period' }
    expect(body).toEqual((await call('POST', '/v1/analytics/query', { key, body: request })).body)
  }
  const [volume, rate] = [(await query(token, chartIds[0] ?? '')).body, (await query(token, chartIds[1] ?? '')).body]
  expect(volume.groups[0]).toMatchObject({ n: 2 })
  expect(rate.groups[0]).toMatchObject({ n: 2, value: 0.5 })
  for (const id of [theirs.id, org]) expect(shown.text).not.toContain(id)
})

it('shows nothing of a board that is about other companies', async () => {
  const { ours, theirs } = await makeTwo()
  const fields = { filter: { companyIds: [theirs.id], period: { last: '30d' } } }
  const { token, chartIds } = await makeBoardShare(server, key, fields, ours.id)
  expect((await query(token, chartIds[0] ?? '')).body).toEqual({
    period: null,
    comparedPeriod: null,
    groups: [],
    warnings: [],
  })
})

it('counts days in the time zone of the reader', async () => {
  const { ours } = await makeTwo()
  const fields = { charts: [{ ...chart({ kind: 'volume' }, { interval: 'day' }), kind: 'line' }] }
  const { token, chartIds } = await makeBoardShare(server, key, fields, ours.id)
  const { body } = await query(token, chartIds[0] ?? '', { timezone: 'Asia/Kolkata' })
  expect(body.groups[0].series[1].start).toMatch(/T18:30:00\.000Z$/)
  expect((await query(token, chartIds[0] ?? '', { timezone: 'Nowhere' })).status).toBe(400)
})

it('ends when it expires, when it is revoked, and with its board or company', async () => {
  const company = await makeCompany(server, key)
  const share = () => makeBoardShare(server, key, {}, company.id)
  const statusOf = async ({ token, chartIds }: Awaited<ReturnType<typeof share>>) => [
    (await open(token)).status,
    (await query(token, chartIds[0] ?? '')).status,
  ]
  const revoked = await share()
  expect(await statusOf(revoked)).toEqual([200, 200])
  const path = `/v1/boards/${revoked.boardId}/shares/${revoked.id}`
  expect((await call('DELETE', path, { key })).status).toBe(204)
  expect((await call('DELETE', path, { key })).status).toBe(404)
  expect(await statusOf(revoked)).toEqual([404, 404])

  const ofBoard = await share()
  await call('DELETE', `/v1/boards/${ofBoard.boardId}`, { key })
  expect(await statusOf(ofBoard)).toEqual([404, 404])

  const ofCompany = await share()
  expect((await call('DELETE', `/v1/companies/${company.id}`, { key })).status).toBe(204)
  expect(await statusOf(ofCompany)).toEqual([404, 404])

  const suspended = await makeBoardShare(server, key)
  await call('POST', `/v1/organizations/${org}/suspend`, { key: serviceKey })
  expect(await statusOf(suspended)).toEqual([404, 404])
  await call('POST', `/v1/organizations/${org}/reactivate`, { key: serviceKey })
  expect(await statusOf(suspended)).toEqual([200, 200])
  clock.advance(30 * dayMs)
  expect(await statusOf(suspended)).toEqual([404, 404])
})

it('rejects changed tokens and charts of other boards with one text', async () => {
  const { token } = await makeBoardShare(server, key)
  const other = await makeBoardShare(server, key)
  const changed = token.at(-2) === 'A' ? 'B' : 'A'
  const answers = [
    await open(`${token.slice(0, -2)}${changed}${token.at(-1)}`),
    await open('earb_nothing'),
    await query(token, other.chartIds[0] ?? ''),
    await query('nothing', other.chartIds[0] ?? ''),
  ]
  expect(new Set(answers.map(({ status, body }) => `${status} ${body.message}`)).size).toBe(1)
  expect(answers[0]?.status).toBe(404)
})

it('stores only a hash of the token, and records who shared and revoked', async () => {
  const { id, boardId, companyId, token } = await makeBoardShare(server, key)
  const list = await call('GET', `/v1/boards/${boardId}/shares`, { key })
  expect(list.body.data).toEqual([expect.objectContaining({ id, boardId, companyId, lastOpenedAt: null })])
  await open(token)
  const { data } = (await call('GET', `/v1/boards/${boardId}/shares`, { key })).body
  expect(data[0].lastOpenedAt).toBe(clock.now().toISOString())
  expect(list.text).not.toContain(token)
  const stored = await server.deps.db.selectFrom('board_shares').selectAll().where('id', '=', id).execute()
  expect(JSON.stringify(stored)).not.toContain(token.slice(0, 60))
  await call('DELETE', `/v1/boards/${boardId}/shares/${id}`, { key })
  const events = (await call('GET', '/v1/audit-events?action=board', { key })).body.data
  const targets = expect.arrayContaining([
    expect.objectContaining({ type: 'board', id: boardId }),
    expect.objectContaining({ type: 'company', id: companyId }),
  ])
  expect(events.slice(0, 2)).toEqual([
    expect.objectContaining({ action: 'board.unshare', targets }),
    expect.objectContaining({ action: 'board.share', targets }),
  ])
})

it('built-in boards can be shared, without what the organization may not measure', async () => {
  await makeMonitor(server, key)
  const company = await makeCompany(server, key)
  const { builtIn } = (await call('GET', '/v1/boards', { key })).body
  const [quality] = builtIn
  const body = { companyId: company.id, expiresInDays: 7 }
  const created = await call('POST', `/v1/boards/${quality.id}/shares`, { key, body })
  expect(created.status).toBe(201)
  expect(Date.parse(created.body.expiresAt) - clock.now().getTime()).toBe(7 * dayMs)
  const token = new URL(created.body.url).hash.slice(1)
  expect((await open(token)).body.charts).toHaveLength(quality.charts.length)
  await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: { entitlements: { monitors: false } } })
  const kinds = (await open(token)).body.charts.map(
    ({ query: { measure } }: { query: { measure: { kind: string } } }) => measure.kind,
  )
  expect(kinds).toEqual(['volume'])
})

it('only admins create links, for companies and boards that exist', async () => {
  const { id } = await makeBoard(server, key)
  const company = await makeCompany(server, key)
  const { key: member } = await makeKey(server, key, 'member')
  const path = `/v1/boards/${id}/shares`
  const body = { companyId: company.id }
  expect((await call('POST', path, { key: member, body })).status).toBe(403)
  expect((await call('GET', path, { key: member })).status).toBe(200)
  const stranger = await makeOrganization(server)
  const foreign = { companyId: (await makeCompany(server, stranger.key)).id }
  expect((await call('POST', path, { key, body: foreign })).status).toBe(404)
  expect((await call('POST', path, { key: stranger.key, body: foreign })).status).toBe(404)
  expect((await call('POST', path, { key, body: { ...body, expiresInDays: 367 } })).status).toBe(400)
})

it('limits how often an address asks', async () => {
  const headers = elsewhere()
  const ask = () => call('POST', '/v1/shared-board', { headers, body: { token: 'earb_guess' } })
  const statuses = new Set<number>()
  for (let request = 0; request < 130 && !statuses.has(429); request++) statuses.add((await ask()).status)
  expect([...statuses]).toEqual([404, 429])
})
