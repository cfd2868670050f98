import { expect, it } from 'vitest'
import {
  makeAgent,
  makeAgentGroup,
  makeAgentVersion,
  makeCompany,
  makeOrganization,
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
