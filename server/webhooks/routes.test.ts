import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeKey, makeOrganization, makeWebhookEndpoint } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

const server = await testServer()
const { call, clock } = server

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const path = (id: string, verb?: string) => `/v1/webhook-endpoints/${id}${verb ? `/${verb}` : ''}`
const url = 'https://hooks.example.com/earshot'

it('an endpoint is proposed by a member, approved by an admin, read, changed, and deleted', async () => {
  const member = (await makeKey(server, key, 'member')).key
  const { userId } = (await call('GET', '/v1/me', { key })).body.member
  const body = { name: 'Warehouse', url, events: ['monitor_export.failed'] }
  const created = await call('POST', '/v1/webhook-endpoints', { key: member, body })
  const { secret, ...endpoint } = created.body
  expect(created.status).toBe(201)
  expect(created.headers.get('location')).toBe(path(endpoint.id))
  const now = clock.now().toISOString()
  expect(endpoint).toEqual({
    id: expect.any(String),
    ...body,
    status: 'proposed',
    disabledReason: null,
    failingSince: null,
    previousSecretUntil: null,
    approvedByUserId: null,
    approvedAt: null,
    createdByUserId: userId,
    createdAt: now,
    updatedAt: now,
  })
  expect((await call('POST', path(endpoint.id, 'approve'), { key: member })).status).toBe(403)
  clock.advance(1_000)
  const approved = await call('POST', path(endpoint.id, 'approve'), { key, body: { url } })
  const later = clock.now().toISOString()
  const active = { ...endpoint, status: 'active', approvedByUserId: userId, approvedAt: later, updatedAt: later }
  expect(approved).toMatchObject({ status: 200, body: active })
  expect((await call('GET', path(endpoint.id), { key })).body).toEqual(active)
  expect((await call('GET', '/v1/webhook-endpoints', { key })).body).toEqual({ data: [active], nextCursor: null })
  const renamed = await call('PATCH', path(endpoint.id), { key: member, body: { name: 'Lake', url, events: [] } })
  expect(renamed.body).toEqual({ ...active, name: 'Lake', events: [] })
  expect((await call('DELETE', path(endpoint.id), { key })).status).toBe(204)
  expect((await call('GET', path(endpoint.id), { key })).status).toBe(404)
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
})

it('a secret is shown once, and neither stored in plain text nor logged', async () => {
  const { id, secret } = await makeWebhookEndpoint(server, key)
  const rotated = await call('POST', path(id, 'rotate-secret'), { key })
  expect(rotated).toMatchObject({ status: 200, body: { id, secret: expect.stringMatching(/^whsec_/) } })
  expect(rotated.body.secret).not.toBe(secret)
  const dayMs = 24 * 60 * 60 * 1_000
  const until = new Date(clock.now().getTime() + dayMs).toISOString()
  const shown = await call('GET', path(id), { key })
  expect(shown.body).toMatchObject({ previousSecretUntil: until })
  expect(shown.text).not.toContain('whsec')
  const { rows } = await sql`SELECT to_jsonb(e) FROM webhook_endpoints e WHERE id = ${id}`.execute(server.deps.db)
  const kept = JSON.stringify(rows) + server.logged.join('')
  for (const each of [secret, rotated.body.secret]) expect(kept).not.toContain(each.slice('whsec_'.length))
  clock.advance(dayMs)
  expect((await call('GET', path(id), { key })).body.previousSecretUntil).toBeNull()
})

it('another URL needs another approval, and nobody approves what they have not seen', async () => {
  const member = (await makeKey(server, key, 'member')).key
  const { id } = await makeActiveWebhookEndpoint(server, key)
  const moved = await call('PATCH', path(id), { key: member, body: { url: `${url}2` } })
  expect(moved.body).toMatchObject({ status: 'proposed', url: `${url}2`, approvedByUserId: null, approvedAt: null })
  expect((await call('POST', path(id, 'approve'), { key, body: { url } })).status).toBe(409)
  expect((await call('POST', path(id, 'approve'), { key, body: { url: `${url}2` } })).status).toBe(200)
})

describe('status changes', () => {
  const to = { approve: 'active', disable: 'disabled', change: 'proposed' }
  it.each([
    ['proposed', 'approve', 200],
    ['proposed', 'disable', 200],
    ['proposed', 'change', 200],
    ['active', 'approve', 409],
    ['active', 'disable', 200],
    ['active', 'change', 200],
    ['disabled', 'approve', 200],
    ['disabled', 'disable', 409],
    ['disabled', 'change', 200],
  ] as const)('%s: %s is answered %i', async (from, verb, status) => {
    const { id } = await makeWebhookEndpoint(server, key)
    if (from !== 'proposed') await call('POST', path(id, 'approve'), { key })
    if (from === 'disabled') await call('POST', path(id, 'disable'), { key })
    const answer =
      verb === 'change'
        ? await call('PATCH', path(id), { key, body: { url: `${url}/new` } })
        : await call('POST', path(id, verb), { key })
    expect(answer.status).toBe(status)
    const { body } = await call('GET', path(id), { key })
    expect(body.status).toBe(status === 200 ? to[verb] : from)
    expect(body.disabledReason).toBe(body.status === 'disabled' ? 'by_admin' : null)
  })
})

it.each([
  { url: 'http://hooks.example.com/' },
  { url: 'https://user:password@hooks.example.com/' },
  { url: 'https://hooks.example.com/a b' },
  // These look like another URL.
  { url: 'https://hooks.example.org\\@hooks.example.com/' },
  { url: 'https://h\u043e\u043eks.example.com/' },
  { url: 'https://hooks.example.org/\u202emoc.elpmaxe.skooh' },
  { url: 'https://hooks.example.org?#@hooks.example.com/' },
  { url: 'https://localhost/' },
  { url: 'https://127.0.0.1/' },
  { url: 'https://[::1]/' },
  { url: 'https://169.254.169.254/latest/meta-data' },
  { url: 'https://hooks.internal/' },
  { url: 'ftp://hooks.example.com/' },
  { url: 'hooks' },
  { url: `${url}/${'x'.repeat(2_048)}` },
  { name: 'x'.repeat(101) },
  { name: ' ' },
  { events: ['monitor_export.completed', 'monitor_export.completed'] },
  { events: ['webhook.test'] },
])('%j is rejected, when created and when changed', async (fault) => {
  const body = { name: 'Warehouse', url, ...fault }
  const [field = ''] = Object.keys(fault)
  const refused = await call('POST', '/v1/webhook-endpoints', { key, body })
  expect(refused).toMatchObject({ status: 400, body: { error: 'validation failed' } })
  expect(refused.body.details.issues[0].path).toContain(field)
  const endpoint = await makeActiveWebhookEndpoint(server, key)
  const before = (await call('GET', path(endpoint.id), { key })).body
  expect((await call('PATCH', path(endpoint.id), { key, body: fault })).status).toBe(400)
  expect((await call('GET', path(endpoint.id), { key })).body).toEqual(before)
})

it('of twenty-five concurrent requests, twenty create one', async () => {
  const body = { name: 'Warehouse', url }
  const made = Array.from({ length: 25 }, () => call('POST', '/v1/webhook-endpoints', { key, body }))
  const statuses = (await Promise.all(made)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 201)).toHaveLength(20)
  expect(statuses.filter((status) => status === 409)).toHaveLength(5)
  expect((await call('GET', '/v1/webhook-endpoints', { key })).body.data).toHaveLength(20)
})
