import { describe, expect, it } from 'vitest'
import { makeKey, makeMember, makeOrganization } from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'

const server = await testServer()
const { call } = server

const create = (body: object) => call('POST', '/v1/organizations', { key: serviceKey, body })
const patch = (id: string, body: object) => call('PATCH', `/v1/organizations/${id}`, { key: serviceKey, body })
const act = (id: string, verb: 'suspend' | 'reactivate') =>
  call('POST', `/v1/organizations/${id}/${verb}`, { key: serviceKey })
const draft = (slug: string) => ({ name: 'Acme', slug, owner: { email: `${slug}@example.com`, name: 'Ada' } })
const unique = () => `s-${crypto.randomUUID()}`

const allOn = { monitors: true, observability: true, metrics: true }
const fresh = { monitorExports: true, exportWebhooks: true, experimentsV2: true, phiMode: false }

describe('provisioning', () => {
  it('returns the organization and the owner’s key', async () => {
    const slug = unique()
    const { status, headers, body } = await create(draft(slug))
    expect(status).toBe(201)
    expect(headers.get('location')).toBe(`/v1/organizations/${body.organization.id}`)
    expect(body.organization).toMatchObject({
      name: 'Acme',
      slug,
      status: 'active',
      entitlements: allOn,
      features: fresh,
    })
    expect(body.apiKey).toMatchObject({ role: 'owner', key: expect.stringMatching(/^ear_/) })
    const me = await call('GET', '/v1/me', { key: body.apiKey.key })
    expect(me.body).toMatchObject({ role: 'owner', member: { email: `${slug}@example.com`, role: 'owner' } })
  })

  it('accepts some entitlements and features and uses the defaults for the others', async () => {
    const switches = { entitlements: { metrics: false }, features: { phiMode: true, monitorExports: false } }
    const { body } = await create({ ...draft(unique()), ...switches })
    expect(body.organization).toMatchObject({
      entitlements: { ...allOn, metrics: false },
      features: { ...fresh, phiMode: true, monitorExports: false },
    })
    expect((await create({ ...draft(unique()), entitlements: {} })).status).toBe(400)
    expect((await create({ ...draft(unique()), features: { phiMode: 'yes' } })).status).toBe(400)
  })

  it('rejects a slug that is taken, and creates nothing', async () => {
    const slug = unique()
    await create(draft(slug))
    const before = (await call('GET', '/v1/organizations?limit=200', { key: serviceKey })).body.data.length
    const refused = await create({ ...draft(slug), owner: { email: 'other@example.com', name: 'Other' } })
    expect(refused).toMatchObject({ status: 409, body: { error: 'conflict' } })
    const { data } = (await call('GET', '/v1/organizations?limit=200', { key: serviceKey })).body
    expect(data).toHaveLength(before)
  })

  it('with one slug by many concurrent requests creates one organization', async () => {
    const slug = unique()
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(draft(slug))))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
  })

  it.each(['', 'A', 'a b', '-a', 'a-', 'a_b', 'é', 'a'.repeat(64)])('rejects the slug %j', async (slug) => {
    expect((await create({ ...draft(unique()), slug })).status).toBe(400)
  })
})

describe('a change by the operator', () => {
  it('of the slug makes the former one available to others', async () => {
    const [before, after] = [unique(), unique()]
    const first = (await create(draft(before))).body.organization
    const second = (await create(draft(after))).body.organization
    expect((await patch(first.id, { slug: after })).status).toBe(409)
    expect((await patch(first.id, { slug: before })).status).toBe(200)
    const free = unique()
    expect((await patch(first.id, { slug: free })).body.slug).toBe(free)
    expect((await patch(second.id, { slug: before })).body.slug).toBe(before)
  })

  it('of one feature leaves the others, and applies immediately', async () => {
    const { id, key } = await makeOrganization(server)
    expect((await call('GET', '/v1/me', { key })).body.entitlements).toEqual(allOn)
    const changed = await patch(id, { entitlements: { monitors: false }, features: { phiMode: true } })
    expect(changed.body).toMatchObject({
      entitlements: { ...allOn, monitors: false },
      features: { ...fresh, phiMode: true },
    })
    const me = await call('GET', '/v1/me', { key })
    expect(me.body).toMatchObject({
      entitlements: { ...allOn, monitors: false },
      features: { ...fresh, phiMode: true },
    })
  })

  it.each([
    {},
    { name: '' },
    { status: 'suspended' },
    { retentionDays: 5 },
    { entitlements: {} },
    { entitlements: null },
  ])('to %j is rejected', async (body) => {
    const { id } = await makeOrganization(server)
    expect((await patch(id, body)).status).toBe(400)
  })
})

describe('suspension', () => {
  it('blocks all keys of the organization immediately, and only those, until it ends', async () => {
    const { id, key } = await makeOrganization(server)
    const other = await makeOrganization(server)
    const viewer = await makeKey(server, key, 'viewer')
    const statuses = () =>
      Promise.all([key, viewer.key, other.key].map(async (each) => (await call('GET', '/v1/me', { key: each })).status))
    expect(await statuses()).toEqual([200, 200, 200])
    expect((await act(id, 'suspend')).body.status).toBe('suspended')
    expect(await statuses()).toEqual([403, 403, 200])
    // The operator still has access.
    expect((await call('GET', `/v1/organizations/${id}`, { key: serviceKey })).body.status).toBe('suspended')
    expect((await act(id, 'reactivate')).body.status).toBe('active')
    expect(await statuses()).toEqual([200, 200, 200])
  })

  it('can be requested twice, and ended twice', async () => {
    const { id } = await makeOrganization(server)
    const suspendedAt = async () => {
      const row = await server.deps.db
        .selectFrom('organizations')
        .select('suspended_at as at')
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return row.at
    }
    for (const verb of ['suspend', 'reactivate'] as const) {
      expect((await act(id, verb)).status).toBe(200)
      const first = await suspendedAt()
      expect((await act(id, verb)).status).toBe(200)
      expect(await suspendedAt()).toEqual(first)
    }
  })
})

describe('its own settings', () => {
  it('are changed by its admins, separately, and cleared with null', async () => {
    const { key } = await makeOrganization(server)
    const own = (body: object) => call('PATCH', '/v1/organization', { key, body })
    const changed = await own({
      name: 'Renamed',
      retentionDays: 30,
      redaction: true,
      measureSound: false,
      monthlyJudgeBudget: 12.34,
    })
    expect(changed.body).toMatchObject({
      name: 'Renamed',
      retentionDays: 30,
      redaction: true,
      measureSound: false,
      monthlyJudgeBudget: 12.34,
    })
    const cleared = await own({ retentionDays: null, monthlyJudgeBudget: null })
    expect(cleared.body).toMatchObject({
      name: 'Renamed',
      retentionDays: null,
      redaction: true,
      monthlyJudgeBudget: null,
    })
    expect((await call('GET', '/v1/organization', { key })).body).toEqual(cleared.body)
  })

  it.each([
    {},
    { slug: 'mine' },
    { entitlements: { monitors: true } },
    { features: { phiMode: true } },
    { status: 'active' },
    { retentionDays: 0 },
    { retentionDays: 1.5 },
    { retentionDays: '30' },
    { redaction: null },
    { measureSound: null },
    { monthlyJudgeBudget: -1 },
    { monthlyJudgeBudget: 10_000_000_000 },
  ])('cannot be changed to %j', async (body) => {
    const { key } = await makeOrganization(server)
    const before = await call('GET', '/v1/organization', { key })
    expect((await call('PATCH', '/v1/organization', { key, body })).status).toBe(400)
    expect((await call('GET', '/v1/organization', { key })).body).toEqual(before.body)
  })

  it('store the largest allowed budget to the cent', async () => {
    const { key } = await makeOrganization(server)
    for (const monthlyJudgeBudget of [9_999_999_999, 0.01, 0]) {
      const { status, body } = await call('PATCH', '/v1/organization', { key, body: { monthlyJudgeBudget } })
      expect([status, body.monthlyJudgeBudget]).toEqual([200, monthlyJudgeBudget])
    }
  })
})

it('one organization cannot see another', async () => {
  const first = await makeOrganization(server)
  const second = await makeOrganization(server)
  await makeMember(server, first.key, 'member')
  for (const path of ['/v1/members', '/v1/api-keys', '/v1/audit-events', '/v1/organization', '/v1/me']) {
    expect((await call('GET', path, { key: second.key })).text).not.toContain(first.id)
  }
  expect((await call('GET', '/v1/members', { key: second.key })).body.data).toHaveLength(1)
})
