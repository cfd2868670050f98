import { sql } from 'kysely'
import { expect, it } from 'vitest'
import {
  makeAgent,
  makeAgentGroup,
  makeAgentVersion,
  makeCompany,
  makeOrganization,
  makePerson,
  makeSavedView,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

it('a filter is stored in canonical spelling under its name, and described with current names', async () => {
  const { key } = await makeOrganization(server)
  const { member } = (await call('GET', '/v1/me', { key })).body
  const agent = await makeAgent(server, key)
  const version = await makeAgentVersion(server, key, agent.id)
  const company = await makeCompany(server, key)
  const group = await makeAgentGroup(server, key, 'Night shift')
  const filter = {
    agentIds: [agent.id.toUpperCase()],
    agentVersionIds: [version.id],
    agentGroupIds: [group.id],
    companyIds: [company.id],
    since: '2026-11-01T01:00:00+01:00',
    metadata: [{ key: 'plan', op: 'is_set', value: 'ignored' }],
  }
  const created = await call('POST', '/v1/saved-views', { key, body: { name: 'Mine', filter } })
  expect(created.status).toBe(201)
  expect(created.headers.get('location')).toBe(`/v1/saved-views/${created.body.id}`)
  expect(created.body).toEqual({
    id: expect.any(String),
    name: 'Mine',
    filter: {
      ...filter,
      agentIds: [agent.id],
      since: '2026-11-01T00:00:00.000Z',
      metadata: [{ key: 'plan', op: 'is_set' }],
    },
    explanation:
      'conversations, of agent Leo, of version 1 of Leo, of an agent in group Night shift, for company Acme Dental, ' +
      'started since 1 Nov 2026 00:00 UTC, where plan is set',
    columns: null,
    sort: null,
    shared: true,
    isDefault: false,
    createdByUserId: member.userId,
    createdAt: expect.any(String),
    updatedAt: expect.any(String),
  })
  expect((await call('GET', '/v1/saved-views', { key })).body).toEqual({ data: [created.body], nextCursor: null })
  await call('PATCH', `/v1/agents/${agent.id}`, { key, body: { name: 'Lea' } })
  const [listed] = (await call('GET', '/v1/saved-views', { key })).body.data
  expect(listed.explanation).toContain('of agent Lea, of version 1 of Lea')
  const searched = await call('POST', '/v1/conversations/search', { key, body: { filter: listed.filter } })
  expect(searched).toMatchObject({ status: 200, body: { data: [] } })
})

it('names of another organization are not shown', async () => {
  const stranger = await makeOrganization(server)
  const agent = await makeAgent(server, stranger.key, { name: 'Secret' })
  const { key } = await makeOrganization(server)
  const view = await makeSavedView(server, key, { agentIds: [agent.id] })
  expect(view.explanation).toBe(`conversations, of agent ${agent.id}`)
})

it('a view is renamed, gets another filter, and is deleted', async () => {
  const { key } = await makeOrganization(server)
  const view = await makeSavedView(server, key, { text: 'refund' })
  const path = `/v1/saved-views/${view.id}`
  const renamed = await call('PATCH', path, { key, body: { name: 'Other' } })
  expect(renamed).toMatchObject({ status: 200, body: { name: 'Other', filter: { text: 'refund' } } })
  const changed = await call('PATCH', path, { key, body: { filter: { channels: ['call'] } } })
  expect(changed.body).toMatchObject({ name: 'Other', filter: { channels: ['call'] }, explanation: 'all calls' })
  expect((await call('PATCH', path, { key, body: {} })).status).toBe(400)
  expect((await call('DELETE', path, { key })).status).toBe(204)
  expect((await call('DELETE', path, { key })).status).toBe(404)
  expect((await call('PATCH', path, { key, body: { name: 'Gone' } })).status).toBe(404)
  expect((await call('GET', '/v1/saved-views', { key })).body.data).toEqual([])
})

it('a name is unique in an organization', async () => {
  const { key } = await makeOrganization(server)
  const body = { name: 'Taken', filter: {} }
  expect((await call('POST', '/v1/saved-views', { key, body })).status).toBe(201)
  expect(await call('POST', '/v1/saved-views', { key, body })).toMatchObject({
    status: 409,
    body: { message: 'Another saved view has this name.' },
  })
  const other = await makeSavedView(server, key)
  expect((await call('PATCH', `/v1/saved-views/${other.id}`, { key, body: { name: 'Taken' } })).status).toBe(409)
  const elsewhere = await makeOrganization(server)
  expect((await call('POST', '/v1/saved-views', { key: elsewhere.key, body })).status).toBe(201)
})

it('an invalid filter is rejected with its path, and nothing is stored', async () => {
  const { key } = await makeOrganization(server)
  const refused = await call('POST', '/v1/saved-views', {
    key,
    body: { name: 'Bad', filter: { metadata: [{ key: 'a', op: 'eq' }], text: '?' } },
  })
  expect(refused.status).toBe(400)
  expect(refused.body.details.issues.map(({ path }: { path: string }) => path)).toEqual([
    'filter.text',
    'filter.metadata[0].value',
  ])
  const view = await makeSavedView(server, key)
  const unchanged = await call('PATCH', `/v1/saved-views/${view.id}`, { key, body: { filter: { folderId: view.id } } })
  expect(unchanged.body.details.issues).toEqual([{ path: 'filter.folderId', message: 'is not a known property' }])
  expect((await call('GET', '/v1/saved-views', { key })).body.data).toEqual([view])
})

const monitorId = '0197A3B0-5E1C-7C3A-9A59-3F1F0C2D4E5F'

it('columns and sort are stored in canonical spelling, changed, and reset', async () => {
  const { key } = await makeOrganization(server)
  const columns = [
    { key: 'startedAt', width: 120 },
    { key: `result:${monitorId}` },
    { key: `categories:${monitorId}` },
    { key: `field:${monitorId}:refundAmount` },
    { key: 'metadata:a:b' },
    { key: 'signal:responseLatencyMs.p95' },
    { key: 'sound:responseMs.agent.p95' },
  ]
  const body = { name: 'Slow ones', filter: {}, columns, sort: { by: `score:${monitorId}` } }
  const created = await call('POST', '/v1/saved-views', { key, body })
  const stored = columns.map((column) => ({ ...column, key: column.key.replace(monitorId, monitorId.toLowerCase()) }))
  const sort = { by: `score:${monitorId.toLowerCase()}`, direction: 'desc' }
  expect(created).toMatchObject({ status: 201, body: { columns: stored, sort } })
  const path = `/v1/saved-views/${created.body.id}`
  const renamed = await call('PATCH', path, { key, body: { name: 'Slow' } })
  expect(renamed.body).toMatchObject({ name: 'Slow', columns: stored, sort })
  const changed = await call('PATCH', path, { key, body: { columns: [{ key: 'agentId' }], sort: null } })
  expect(changed.body).toMatchObject({ columns: [{ key: 'agentId' }], sort: null })
  expect((await call('PATCH', path, { key, body: { columns: null } })).body).toMatchObject({ columns: null })
})

it('unknown columns and orders are rejected with their path', async () => {
  const { key } = await makeOrganization(server)
  const pathsOf = async (fields: object) => {
    const answer = await call('POST', '/v1/saved-views', { key, body: { name: 'Bad', filter: {}, ...fields } })
    expect(answer.status, answer.text).toBe(400)
    return answer.body.details.issues.map((issue: { path: string }) => issue.path)
  }
  const wrong = [
    'mood',
    'categories:leo',
    `field:${monitorId}`,
    `field:${monitorId}:a b`,
    'result:',
    'score:leo',
    'metadata:',
    'signal:turns',
    'startedAt',
    'startedAt',
  ]
  expect(await pathsOf({ columns: wrong.map((name) => ({ key: name })) })).toEqual(
    [0, 1, 2, 3, 4, 5, 6, 7, 9].map((index) => `columns[${index}].key`),
  )
  expect(await pathsOf({ columns: [] })).toEqual(['columns'])
  expect(await pathsOf({ columns: [{ key: 'startedAt', width: 4 }] })).toEqual(['columns[0].width'])
  expect(await pathsOf({ sort: { by: 'mood' } })).toEqual(['sort.by'])
})

it('a personal view only exists for the person who created it', async () => {
  const { key } = await makeOrganization(server)
  const ann = await makePerson(server, key)
  const ben = await makePerson(server, key)
  const as = (person: typeof ann, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    call(method, path, { headers: person.headers, ...(body && { body }) })
  const body = { name: 'Mine', filter: {}, shared: false }
  const mine = (await as(ann, 'POST', '/v1/saved-views', body)).body
  expect(mine.shared).toBe(false)
  // Another person's view can have the same name, and so can a shared view.
  expect((await as(ben, 'POST', '/v1/saved-views', body)).status).toBe(201)
  expect((await as(ben, 'POST', '/v1/saved-views', { ...body, shared: true })).status).toBe(201)
  expect((await as(ann, 'POST', '/v1/saved-views', body)).status).toBe(409)
  const path = `/v1/saved-views/${mine.id}`
  for (const [method, change] of [
    ['GET'],
    ['PATCH', { name: 'Taken' }],
    ['PATCH', { isDefault: true }],
    ['DELETE'],
  ] as const) {
    expect((await as(ben, method, path, change)).status).toBe(404)
  }
  expect((await as(ben, 'GET', '/v1/saved-views')).body.data.map(({ id }: { id: string }) => id)).not.toContain(mine.id)
  expect((await as(ann, 'GET', path)).body).toEqual(mine)
  expect((await as(ann, 'PATCH', path, { shared: true })).status).toBe(409)
  const shared = await as(ann, 'PATCH', path, { shared: true, name: 'Ours' })
  expect(shared.body).toMatchObject({ shared: true })
  expect((await as(ben, 'GET', path)).body).toEqual({ ...shared.body })
  expect((await as(ben, 'PATCH', path, { isDefault: true })).body.isDefault).toBe(true)
  expect((await as(ben, 'PATCH', path, { shared: false })).status).toBe(403)
  expect((await as(ann, 'PATCH', path, { shared: false })).status).toBe(200)
  expect((await as(ann, 'PATCH', path, { shared: true })).status).toBe(200)
  expect((await as(ben, 'GET', path)).body.isDefault).toBe(false)
})

it('each person has one default view', async () => {
  const { key } = await makeOrganization(server)
  const ann = await makePerson(server, key)
  const first = (await call('POST', '/v1/saved-views', { key, body: { name: 'A', filter: {}, isDefault: true } })).body
  const second = await makeSavedView(server, key)
  expect([first.isDefault, second.isDefault]).toEqual([true, false])
  const defaults = async (headers?: Record<string, string>) => {
    const { body } = await call('GET', '/v1/saved-views', headers ? { headers } : { key })
    return body.data.filter(({ isDefault }: { isDefault: boolean }) => isDefault).map(({ id }: { id: string }) => id)
  }
  await call('PATCH', `/v1/saved-views/${second.id}`, { key, body: { isDefault: true } })
  expect(await defaults()).toEqual([second.id])
  expect(await defaults(ann.headers)).toEqual([])
  await call('PATCH', `/v1/saved-views/${first.id}`, { key, body: { isDefault: false } })
  expect(await defaults()).toEqual([second.id])
  expect((await call('DELETE', `/v1/saved-views/${second.id}`, { key })).status).toBe(204)
  expect(await defaults()).toEqual([])
})

it('personal views of a person who left are deleted', async () => {
  const { key } = await makeOrganization(server)
  const ann = await makePerson(server, key, 'admin')
  const ben = await makePerson(server, key)
  const make = (name: string, shared: boolean) =>
    call('POST', '/v1/saved-views', { headers: ben.headers, body: { name, filter: {}, shared, isDefault: true } })
  await make('Personal', false)
  const ours = (await make('Shared', true)).body
  expect((await call('DELETE', `/v1/members/${ben.id}`, { headers: ann.headers })).status).toBe(204)
  const { rows } = await sql`
    SELECT id FROM saved_views WHERE created_by_user_id = ${ben.userId}
    UNION ALL SELECT saved_view_id FROM default_views WHERE user_id = ${ben.userId}`.execute(server.deps.db)
  expect(rows).toEqual([{ id: ours.id }])
})
