import { hash } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeKey, makeMember, makeOrganization, makePerson } from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { type Role, roles } from '../platform/identity/actor.ts'
import { orgIdOf } from '../platform/ids.ts'
import { createApiKey } from './create.ts'

const server = await testServer()
const { call, clock, deps } = server

let org: Awaited<ReturnType<typeof makeOrganization>>
beforeEach(async () => {
  org = await makeOrganization(server)
})

const statusOf = async (key: string) => (await call('GET', '/v1/me', { key })).status
const roleOf = async (key: string) => (await call('GET', '/v1/me', { key })).body.role

/** Creates a key for a member in the database. Members create their own keys in the console. */
const makeKeyOf = (userId: string, role: Role) =>
  createApiKey(deps.db, clock, orgIdOf(org.id), userId, { name: 'Own key', role })

describe('a key', () => {
  it('is only shown in the response that creates it', async () => {
    const { body } = await call('POST', '/v1/api-keys', { key: org.key, body: { name: 'Sync', role: 'member' } })
    expect(body).toMatchObject({ name: 'Sync', role: 'member', expiresAt: null, lastUsedAt: null, revokedAt: null })
    expect(body.key).toMatch(/^ear_[0-9A-Za-z]{38}$/)
    expect(body.prefix).toBe(body.key.slice(0, 8))
    expect(await statusOf(body.key)).toBe(200)

    const { key, ...shown } = body
    const list = await call('GET', '/v1/api-keys', { key: org.key })
    expect(list.body.data[0]).toEqual({ ...shown, lastUsedAt: list.body.data[0].lastUsedAt })
    const { rows } = await sql`SELECT to_jsonb(t) AS row FROM api_keys t`.execute(deps.db)
    const stored = JSON.stringify(rows)
    expect(stored).toContain(hash('sha256', key, 'base64'))
    for (const text of [stored, list.text, server.logged.join('')]) expect(text).not.toContain(key.slice(8))
  })

  it('works until it expires, to the millisecond', async () => {
    const expiresAt = new Date(clock.now().getTime() + 60_000)
    const { key } = await makeKey(server, org.key, 'viewer', expiresAt.toISOString())
    expect(await statusOf(key)).toBe(200)
    clock.advance(59_999)
    expect(await statusOf(key)).toBe(200)
    clock.advance(1)
    expect(clock.now()).toEqual(expiresAt)
    expect(await statusOf(key)).toBe(401)
  })

  it('accepts an expiry with any offset, and null for none', async () => {
    const body = { name: 'Offset', role: 'viewer', expiresAt: '2999-01-01T00:30:00+01:00' }
    const dated = await call('POST', '/v1/api-keys', { key: org.key, body })
    expect(dated.body.expiresAt).toBe('2998-12-31T23:30:00.000Z')
    const undated = await call('POST', '/v1/api-keys', { key: org.key, body: { ...body, expiresAt: null } })
    expect(undated.body.expiresAt).toBeNull()
  })

  it('cannot be created with an expiry in the past', async () => {
    for (const expiresAt of [clock.now().toISOString(), '2020-01-01T00:00:00Z', '0001-01-01T00:00:00Z']) {
      const answer = await call('POST', '/v1/api-keys', {
        key: org.key,
        body: { name: 'Old', role: 'viewer', expiresAt },
      })
      expect(answer).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'expiresAt' }] } } })
    }
  })

  it('records its last use at most once a minute', async () => {
    const { id, key } = await makeKey(server, org.key, 'viewer')
    const lastUse = async () => {
      const { rows } = await sql<{ at: Date }>`
        SELECT last_used_at AS at FROM api_key_uses WHERE organization_id = ${org.id} AND api_key_id = ${id}`.execute(
        deps.db,
      )
      return rows[0]?.at ?? null
    }
    expect(await lastUse()).toBeNull()
    const firstUse = clock.now()
    await call('GET', '/v1/me', { key })
    await expect.poll(lastUse).toEqual(firstUse)

    clock.advance(59_000)
    for (let i = 0; i < 5; i++) await call('GET', '/v1/me', { key })
    await deps.identity.close()
    expect(await lastUse()).toEqual(firstUse)

    clock.advance(1_000)
    await call('GET', '/v1/me', { key })
    await expect.poll(lastUse).toEqual(clock.now())
  })

  it.each([
    ['a digit more', (key: string) => `${key}0`],
    ['one less', (key: string) => key.slice(0, -1)],
    ['another checksum', (key: string) => key.slice(0, -1) + (key.endsWith('0') ? '1' : '0')],
    ['other letter case', (key: string) => key.toUpperCase()],
    ['another beginning', (key: string) => key.replace('ear_', 'eer_')],
  ])('is rejected with %s, without a database query', async (_what, alter) => {
    const before = deps.database.stats()
    const known = deps.identity.resolve(alter(org.key))
    expect(deps.database.stats()).toEqual(before)
    expect(await known).toEqual({ kind: 'unknown' })
    expect(await statusOf(alter(org.key))).toBe(401)
  })
})

describe('roles', () => {
  const pairs = roles.flatMap((own) => roles.map((given) => [own, given] as const))

  it.each(pairs)(
    'a key with the role %s can only create a key with the role %s within its own role',
    async (own, given) => {
      const { key } = await makeKey(server, org.key, own)
      const answer = await call('POST', '/v1/api-keys', { key, body: { name: 'Given', role: given } })
      const may = roles.indexOf(own) >= roles.indexOf('admin') && roles.indexOf(own) >= roles.indexOf(given)
      expect(answer.status).toBe(may ? 201 : 403)
    },
  )

  it('a key follows the current role of its person, but never exceeds its own', async () => {
    const member = await makeMember(server, org.key, 'admin')
    const { key } = await makeKeyOf(member.userId, 'admin')
    expect(await roleOf(key)).toBe('admin')
    const setRole = (role: Role) => call('PATCH', `/v1/members/${member.id}`, { key: org.key, body: { role } })
    for (const [role, effective] of [
      ['viewer', 'viewer'],
      ['member', 'member'],
      ['owner', 'admin'],
    ] as const) {
      expect((await setRole(role)).status).toBe(200)
      expect(await roleOf(key)).toBe(effective)
    }
    await setRole('viewer')
    const body = { name: 'More', role: 'viewer' }
    expect((await call('POST', '/v1/api-keys', { key, body })).status).toBe(403)
  })

  it('a key stops working for good when its person leaves the organization', async () => {
    const member = await makeMember(server, org.key, 'member')
    const { id, key } = await makeKeyOf(member.userId, 'member')
    expect(await statusOf(key)).toBe(200)
    await call('DELETE', `/v1/members/${member.id}`, { key: org.key })
    expect(await statusOf(key)).toBe(401)
    const list = await call('GET', '/v1/api-keys', { key: org.key })
    expect(list.body.data.find((listed: { id: string }) => listed.id === id).revokedAt).not.toBeNull()

    const { email, name } = member
    const again = await call('POST', '/v1/members', { key: org.key, body: { email, name, role: 'owner' } })
    expect(again.body.userId).toBe(member.userId)
    expect(await statusOf(key)).toBe(401)
  })
})

describe('revocation', () => {
  it('works immediately, keeps other keys, and keeps its first timestamp', async () => {
    const [first, second] = [await makeKey(server, org.key, 'member'), await makeKey(server, org.key, 'member')]
    expect(await statusOf(first.key)).toBe(200)
    const revoke = () => call('DELETE', `/v1/api-keys/${first.id}`, { key: org.key })
    expect((await revoke()).status).toBe(204)
    const revokedAt = clock.now().toISOString()
    expect(await statusOf(first.key)).toBe(401)
    expect(await statusOf(second.key)).toBe(200)
    clock.advance(1_000)
    expect((await revoke()).status).toBe(204)
    const list = await call('GET', '/v1/api-keys', { key: org.key })
    expect(list.body.data.find(({ id }: { id: string }) => id === first.id).revokedAt).toBe(revokedAt)
  })

  it.each(['revoked', 'expired'])('the use of a %s key is recorded, once for many requests', async (how) => {
    const soon = new Date(clock.now().getTime() + 60_000).toISOString()
    const { id, key } = await makeKey(server, org.key, 'viewer', soon)
    if (how === 'revoked') await call('DELETE', `/v1/api-keys/${id}`, { key: org.key })
    else clock.advance(60_000)
    for (let i = 0; i < 3; i++) expect(await statusOf(key)).toBe(401)
    const refusals = async () => {
      const { body } = await call('GET', '/v1/audit-events', { key: org.key })
      return body.data.filter(({ action }: { action: string }) => action === 'apiKey.refused')
    }
    await expect
      .poll(refusals)
      .toMatchObject([{ actor: { kind: 'key', keyId: id }, targets: [{ type: 'apiKey', id }] }])
  })

  it('of an owner key requires an owner, even if an admin uses a session', async () => {
    const admin = await makeKey(server, org.key, 'admin')
    const person = await makePerson(server, org.key, 'admin')
    const owners = await makeKey(server, org.key, 'owner')
    for (const caller of [{ key: admin.key }, { headers: person.headers }]) {
      const answer = await call('DELETE', `/v1/api-keys/${owners.id}`, caller)
      expect(answer).toMatchObject({ status: 403, body: { error: 'forbidden' } })
    }
    expect(await statusOf(owners.key)).toBe(200)
    // Admins can revoke an owner's key with a lower role.
    const lesser = await makeKey(server, org.key, 'admin')
    expect((await call('DELETE', `/v1/api-keys/${lesser.id}`, { key: admin.key })).status).toBe(204)
    expect((await call('DELETE', `/v1/api-keys/${owners.id}`, { key: org.key })).status).toBe(204)
  })

  it('a key can revoke itself', async () => {
    const { id, key } = await makeKey(server, org.key, 'admin')
    expect((await call('DELETE', `/v1/api-keys/${id}`, { key })).status).toBe(204)
    expect(await statusOf(key)).toBe(401)
  })
})

describe('a key created by the operator', () => {
  const provision = (body: object) => call('POST', `/v1/organizations/${org.id}/api-keys`, { key: serviceKey, body })

  it('acts for the owner', async () => {
    const { body } = await provision({ name: 'Recovery', role: 'owner' })
    const me = await call('GET', '/v1/me', { key: body.key })
    expect(me.body).toMatchObject({
      role: 'owner',
      keyId: body.id,
      organization: { id: org.id },
      member: { role: 'owner' },
    })
  })

  it('is rejected for an unknown organization', async () => {
    org = { ...org, id: '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f' }
    expect((await provision({ name: 'Nowhere', role: 'owner' })).status).toBe(404)
  })
})
