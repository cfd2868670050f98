import { expect, it } from 'vitest'
import { makeCompany, makeKey, makeMember, makeOrganization } from '../../test/make.ts'
import { serviceKey, type TestAnswer, testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

type Event = {
  id: string
  action: string
  actor: { kind: string; keyId: string | null; userId: string | null }
  targets: { type: string; id: string }[]
  requestId: string
  callerRequestId: string | null
}
const listEvents = async (key: string, query = ''): Promise<Event[]> =>
  (await call('GET', `/v1/audit-events${query}`, { key })).body.data

it('an event has its actor, targets, and request, and never their content', async () => {
  const org = await makeOrganization(server)
  const { member } = (await call('GET', '/v1/me', { key: org.key })).body
  const headers = { 'x-request-id': 'trace-4711' }
  const created = await call('POST', '/v1/companies', { key: org.key, body: { name: 'Sesame Secret' }, headers })
  await call('PATCH', `/v1/companies/${created.body.id}`, {
    key: org.key,
    body: { logoUrl: 'https://cdn.example.com/secret.png' },
  })
  const [changed, made] = await listEvents(org.key)
  const target = { type: 'company', id: created.body.id }
  const actor = { kind: 'key', keyId: org.keyId, userId: member.userId }
  expect(created.headers.get('x-request-id')).toBe('trace-4711')
  expect(made).toMatchObject({ action: 'company.create', actor, targets: [target], callerRequestId: 'trace-4711' })
  // Different requests can have the same ID from the caller, so the service adds its own, which also appears in its
  // log.
  expect(made?.requestId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/)
  expect(server.logged.find((line) => line.includes('trace-4711'))).toContain(made?.requestId)
  expect(changed?.callerRequestId).toBeNull()
  expect(changed).toMatchObject({ action: 'company.update', actor, targets: [target] })
  const { text } = await call('GET', '/v1/audit-events', { key: org.key })
  for (const content of ['Sesame', 'secret.png', org.key, member.email]) expect(text).not.toContain(content)
})

it('operations of the operator are events of the organization, without a person', async () => {
  const { id, key } = await makeOrganization(server)
  await call('PATCH', `/v1/organizations/${id}`, { key: serviceKey, body: { name: 'Renamed' } })
  await call('POST', `/v1/organizations/${id}/suspend`, { key: serviceKey })
  await call('POST', `/v1/organizations/${id}/reactivate`, { key: serviceKey })
  const events = await listEvents(key)
  expect(events.map(({ action }) => action)).toEqual([
    'organization.reactivate',
    'organization.suspend',
    'organization.update',
    'organization.create',
  ])
  for (const event of events) {
    expect(event.actor).toEqual({ kind: 'service', keyId: null, userId: null })
    expect(event.targets).toEqual([{ type: 'organization', id }])
  }
})

it('a rejected or failed request leaves no event', async () => {
  const { key } = await makeOrganization(server)
  const viewer = await makeKey(server, key, 'viewer')
  const before = await listEvents(key)
  await call('POST', '/v1/companies', { key: viewer.key, body: { name: 'Forbidden' } })
  await call('POST', '/v1/companies', { key, body: { name: '' } })
  await call('PATCH', `/v1/companies/${crypto.randomUUID()}`, { key, body: { name: 'Absent' } })
  const { member } = (await call('GET', '/v1/me', { key })).body
  await call('DELETE', `/v1/members/${member.id}`, { key })
  expect(await listEvents(key)).toEqual(before)
})

it('events are listed for admins, in pages', async () => {
  const { key } = await makeOrganization(server)
  for (let i = 0; i < 5; i++) await makeCompany(server, key)
  await makeMember(server, key, 'member')
  for (const [role, status] of [
    ['viewer', 403],
    ['member', 403],
    ['admin', 200],
  ] as const) {
    const caller = await makeKey(server, key, role)
    expect((await call('GET', '/v1/audit-events', { key: caller.key })).status).toBe(status)
  }
  const all = await listEvents(key)
  expect(all).toHaveLength(10)
  const paged: Event[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: TestAnswer<{ data: Event[]; nextCursor: string | null }> = await call(
      'GET',
      `/v1/audit-events?limit=3${cursor && `&cursor=${cursor}`}`,
      { key },
    )
    expect(body.data.length).toBeLessThanOrEqual(3)
    paged.push(...body.data)
    cursor = body.nextCursor
  }
  expect(paged).toEqual(all)
})

it('events are filtered by action, person, and time', async () => {
  const { key, keyId } = await makeOrganization(server)
  const company = await makeCompany(server, key)
  await call('PATCH', `/v1/companies/${company.id}`, { key, body: { name: 'Renamed' } })
  const admin = await makeKey(server, key, 'admin')
  const actions = async (query: string) => (await listEvents(key, query)).map(({ action }) => action)
  expect(await actions('?action=company')).toEqual(['company.update', 'company.create'])
  expect(await actions('?action=company.update')).toEqual(['company.update'])
  expect(await actions('?action=compan')).toEqual([])
  const { member } = (await call('GET', '/v1/me', { key })).body
  const mine = await listEvents(key, `?userId=${member.userId.toUpperCase()}`)
  expect(mine.map(({ action }) => action)).toEqual(['apiKey.create', 'company.update', 'company.create'])
  expect(new Set(mine.map(({ actor }) => actor.keyId))).toEqual(new Set([keyId]))
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  const yesterday = new Date(Date.now() - 86_400_000).toISOString()
  expect(await actions(`?action=apiKey&since=${yesterday}&until=${tomorrow}`)).toEqual(['apiKey.create'])
  expect(await actions(`?since=${tomorrow}`)).toEqual([])
  expect(await actions(`?until=${yesterday}`)).toEqual([])
  for (const [query, path] of [
    [`?since=${tomorrow}&until=${yesterday}`, 'until'],
    ['?action=a%20b', 'action'],
    ['?userId=me', 'userId'],
  ]) {
    const answer = await call('GET', `/v1/audit-events${query}`, { key: admin.key })
    expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path }] } } })
  }
})
