import { beforeEach, describe, expect, it } from 'vitest'
import { makeKey, makeMember, makeOrganization, makePerson } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { type Role, roles } from '../platform/identity/actor.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call } = server

type Member = { id: string; userId: string; email: string; name: string; role: Role; status: string }

let org: Awaited<ReturnType<typeof makeOrganization>>
let owner: Member
beforeEach(async () => {
  org = await makeOrganization(server)
  owner = (await call('GET', '/v1/me', { key: org.key })).body.member
})

const invite = (key: string, role: Role, email = `${crypto.randomUUID()}@example.com`) =>
  call('POST', '/v1/members', { key, body: { email, name: 'Ivy Invited', role } })
const patch = (key: string, id: string, body: object) => call('PATCH', `/v1/members/${id}`, { key, body })
const listMembers = async (): Promise<Member[]> => (await call('GET', '/v1/members', { key: org.key })).body.data

describe('an invitation', () => {
  it('creates a member who has not joined yet', async () => {
    const answer = await invite(org.key, 'member', 'Ivy@Example.COM')
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/v1/members/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      email: 'ivy@example.com',
      name: 'Ivy Invited',
      role: 'member',
      status: 'invited',
    })
    expect((await listMembers()).map(({ id }) => id)).toEqual([answer.body.id, owner.id])
  })

  it('is rejected for an existing member, however the address is spelled', async () => {
    await invite(org.key, 'member', 'ivy@elsewhere.example')
    expect((await invite(org.key, 'viewer', 'IVY@elsewhere.example')).status).toBe(409)
    expect(await listMembers()).toHaveLength(2)
  })

  it('of one person to two organizations keeps the names and roles separate', async () => {
    const other = await makeOrganization(server)
    const email = `${crypto.randomUUID()}@example.com`
    const here = await invite(org.key, 'admin', email)
    const there = await call('POST', '/v1/members', {
      key: other.key,
      body: { email, name: 'I. Nvited', role: 'viewer' },
    })
    expect(there.body.userId).toBe(here.body.userId)
    expect(there.body).toMatchObject({ name: 'I. Nvited', role: 'viewer' })
    expect((await listMembers())[0]).toMatchObject({ name: 'Ivy Invited', role: 'admin' })
  })
})

describe('roles', () => {
  it.each(roles.flatMap((own) => roles.map((given) => [own, given] as const)))(
    'a key with the role %s can only invite a %s within its own role',
    async (own, given) => {
      const { key } = await makeKey(server, org.key, own)
      const may = roles.indexOf(own) >= roles.indexOf('admin') && roles.indexOf(own) >= roles.indexOf(given)
      expect((await invite(key, given)).status).toBe(may ? 201 : 403)
    },
  )

  it('an admin cannot change, create, or remove an owner', async () => {
    const { key } = await makeKey(server, org.key, 'admin')
    const second = await makeMember(server, org.key, 'owner')
    const member = await makeMember(server, org.key, 'member')
    for (const refused of [
      await patch(key, second.id, { name: 'Renamed' }),
      await patch(key, second.id, { role: 'viewer' }),
      await patch(key, member.id, { role: 'owner' }),
      await call('DELETE', `/v1/members/${second.id}`, { key }),
    ]) {
      expect(refused.status).toBe(403)
    }
    expect((await listMembers()).map(({ role }) => role)).toEqual(['member', 'owner', 'owner'])
    expect((await patch(key, member.id, { role: 'admin', name: 'Promoted' })).body).toMatchObject({
      role: 'admin',
      name: 'Promoted',
    })
  })
})

describe('the last owner', () => {
  it('cannot be demoted or removed', async () => {
    await makeMember(server, org.key, 'admin')
    for (const refused of [
      await patch(org.key, owner.id, { role: 'admin' }),
      await patch(org.key, owner.id.toUpperCase(), { role: 'admin' }),
      await call('DELETE', `/v1/members/${owner.id}`, { key: org.key }),
    ]) {
      expect(refused).toMatchObject({ status: 409, body: { error: 'conflict' } })
    }
    expect((await patch(org.key, owner.id, { name: 'Renamed', role: 'owner' })).status).toBe(200)
    expect((await call('GET', '/v1/me', { key: org.key })).body.role).toBe('owner')
  })

  it('can leave if there is another one', async () => {
    await makeMember(server, org.key, 'owner')
    expect((await call('DELETE', `/v1/members/${owner.id}`, { key: org.key })).status).toBe(204)
    expect((await call('GET', '/v1/me', { key: org.key })).status).toBe(401)
  })

  it('who has joined is protected, even if another owner is invited', async () => {
    const joined = await makePerson(server, org.key, 'owner')
    const leave = () => call('DELETE', `/v1/members/${joined.id}`, { key: org.key })
    const demote = () => patch(org.key, joined.id, { role: 'admin' })
    // Both owners are only invited.
    await makeMember(server, org.key, 'owner')
    for (const refused of [await leave(), await demote()]) expect(refused.status).toBe(409)

    const second = await makePerson(server, org.key, 'owner')
    expect((await demote()).status).toBe(200)
    expect((await call('DELETE', `/v1/members/${second.id}`, { key: org.key })).status).toBe(409)
    expect((await call('DELETE', `/v1/members/${owner.id}`, { key: org.key })).status).toBe(204)
  })

  it.each(['demoted', 'removed'])('stays when two owners are %s at the same time', async (how) => {
    for (let round = 0; round < 10; round++) {
      const second = await makeMember(server, org.key, 'owner')
      const before = (await listMembers()).filter(({ role }) => role === 'owner')
      const answers = await Promise.all(
        before.map(({ id }) =>
          how === 'demoted'
            ? patch(org.key, id, { role: 'viewer' })
            : call('DELETE', `/v1/members/${id}`, { key: org.key }),
        ),
      )
      const statuses = answers.map(({ status }) => status)
      // The caller may already have lost their role because of the first change.
      expect(statuses.filter((status) => status < 300)).toHaveLength(1)
      expect(statuses.filter((status) => status >= 400).every((status) => [401, 403, 409].includes(status))).toBe(true)
      const owners = await ownersInDatabase()
      expect(owners).toHaveLength(1)
      // The next round needs a caller who is an owner.
      if (owners[0] === second.userId) org = await makeOrganization(server)
    }
  })

  const ownersInDatabase = async () => {
    const rows = await server.deps.db
      .selectFrom('members')
      .select('user_id as userId')
      .where('organization_id', '=', org.id)
      .where('role', '=', 'owner')
      .execute()
    return rows.map(({ userId }) => userId)
  }
})

it('an empty change is rejected', async () => {
  const member = await makeMember(server, org.key, 'member')
  for (const body of [{}, { name: '' }, { name: null }, { role: 'boss' }, { email: 'new@example.com' }]) {
    expect((await patch(org.key, member.id, body)).status).toBe(400)
  }
})
