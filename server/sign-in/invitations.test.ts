import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  acceptance,
  cookieOf,
  elsewhere,
  makeKey,
  makeMember,
  makeOrganization,
  makePerson,
  password,
} from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { dayMs } from '../platform/durations.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock } = server

let org: Awaited<ReturnType<typeof makeOrganization>>
beforeEach(async () => {
  org = await makeOrganization(server)
})

const post = (path: string, body: unknown) => call('POST', path, { body, headers: elsewhere() })
const accept = (invitationUrl: string, change = {}) =>
  post('/auth/invitation', { ...acceptance(invitationUrl), ...change })
const check = (invitationUrl: string) => post('/auth/invitation/check', { token: new URL(invitationUrl).hash.slice(1) })

describe('an invitation', () => {
  it('makes a person a member, who is then signed in', async () => {
    const member = await makeMember(server, org.key, 'admin')
    expect(member.status).toBe('invited')
    expect(member.invitationUrl).toMatch(new RegExp(`^${server.origin}/welcome#[\\w-]{54}$`))
    const offer = await check(member.invitationUrl)
    expect(offer.body).toEqual({
      email: member.email,
      organization: org.organization.name,
      setsPassword: false,
      setsEmail: false,
    })

    const joined = await accept(member.invitationUrl, { name: 'Ada Lovelace' })
    expect(joined.status).toBe(200)
    expect(joined.body).toEqual({
      userId: member.userId,
      email: member.email,
      name: 'Ada Lovelace',
      organizationId: org.id,
    })
    const me = await call('GET', '/v1/me', { headers: { cookie: cookieOf(joined) } })
    expect(me.body).toMatchObject({
      organization: { id: org.id },
      member: { id: member.id, name: 'Ada Lovelace', status: 'active' },
      keyId: null,
      role: 'admin',
    })
    const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
    expect(data[0]).toMatchObject({
      action: 'member.join',
      actor: { kind: 'user', userId: member.userId },
      targets: [{ type: 'member', id: member.id }],
      requestId: joined.headers.get('x-request-id'),
    })
  })

  it('works once', async () => {
    const { invitationUrl } = await makeMember(server, org.key, 'member')
    expect((await accept(invitationUrl)).status).toBe(200)
    for (const again of [await accept(invitationUrl), await check(invitationUrl)]) {
      expect(again).toMatchObject({ status: 410, body: { error: 'gone' } })
      expect(again.headers.getSetCookie()).toEqual([])
    }
  })

  it('works once for two people who accept at the same time', async () => {
    const { invitationUrl } = await makeMember(server, org.key, 'member')
    const answers = await Promise.all([accept(invitationUrl), accept(invitationUrl)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410])
  })

  it('ends after seven days', async () => {
    const { invitationUrl } = await makeMember(server, org.key, 'member')
    clock.advance(7 * dayMs - 1_000)
    expect((await check(invitationUrl)).status).toBe(200)
    clock.advance(1_000)
    for (const late of [await check(invitationUrl), await accept(invitationUrl)]) {
      expect(late).toMatchObject({ status: 410, body: { error: 'gone' } })
    }
    clock.advance(-7 * dayMs)
  })

  it('that is unknown, modified, or incomplete is a fault of the token, always the same', async () => {
    const { invitationUrl } = await makeMember(server, org.key, 'member')
    const { token } = acceptance(invitationUrl)
    const stranger = await makeOrganization(server)
    const foreign = Buffer.from(token, 'base64url')
    Buffer.from(stranger.id.replaceAll('-', ''), 'hex').copy(foreign)
    const end = token.endsWith('AAA') ? 'BBB' : 'AAA'
    const wrong = ['x', token.slice(1), `${token.slice(0, -3)}${end}`, foreign.toString('base64url')]
    const bodies = new Set<string>()
    for (const other of wrong) {
      for (const path of ['/auth/invitation/check', '/auth/invitation']) {
        const body = path.endsWith('check') ? { token: other } : { ...acceptance(invitationUrl), token: other }
        const answer = await post(path, body)
        expect(answer.status).toBe(400)
        expect(answer.body.details.issues[0].path).toBe('token')
        bodies.add(answer.text)
      }
    }
    expect(bodies.size).toBe(1)
  })

  it('is replaced by a new one, and rejected for members who have joined', async () => {
    const { id, invitationUrl } = await makeMember(server, org.key, 'member')
    const renew = () => call('POST', `/v1/members/${id}/invitation`, { key: org.key })
    const fresh = await renew()
    expect(fresh.status).toBe(201)
    expect(new Date(fresh.body.invitationExpiresAt)).toEqual(new Date(clock.now().getTime() + 7 * dayMs))
    expect((await accept(invitationUrl)).status).toBe(400)
    expect((await accept(fresh.body.invitationUrl)).status).toBe(200)
    expect(await renew()).toMatchObject({ status: 409, body: { error: 'conflict' } })
  })

  it('of an owner cannot be created by an admin', async () => {
    const { data } = (await call('GET', '/v1/members', { key: org.key })).body
    const admin = await makeKey(server, org.key, 'admin')
    const path = `/v1/members/${data[0].id}/invitation`
    expect(data[0]).toMatchObject({ role: 'owner', status: 'invited' })
    expect((await call('POST', path, { key: admin.key })).status).toBe(403)
    expect((await call('POST', path, { key: org.key })).status).toBe(201)
  })

  it('of a provisioned organization admits its owner', async () => {
    const body = { name: 'New', slug: `new-${org.id}`, owner: { email: `owner-${org.id}@example.com`, name: 'Olga' } }
    const provisioned = await call('POST', '/v1/organizations', { key: serviceKey, body })
    const joined = await accept(provisioned.body.invitationUrl)
    const me = await call('GET', '/v1/me', { headers: { cookie: cookieOf(joined) } })
    expect(me.body).toMatchObject({ role: 'owner', organization: { id: provisioned.body.organization.id } })
  })

  it('ends with the member, and returns 403 while the organization is suspended', async () => {
    const { id, invitationUrl } = await makeMember(server, org.key, 'member')
    await call('POST', `/v1/organizations/${org.id}/suspend`, { key: serviceKey })
    for (const answer of [await check(invitationUrl), await accept(invitationUrl)]) expect(answer.status).toBe(403)
    await call('POST', `/v1/organizations/${org.id}/reactivate`, { key: serviceKey })
    expect((await call('DELETE', `/v1/members/${id}`, { key: org.key })).status).toBe(204)
    expect((await accept(invitationUrl)).status).toBe(400)
  })

  it.each([
    { password: 'elevenchars' },
    { password: 'x'.repeat(257) },
    { password: '' },
    { name: ' ' },
    { token: undefined },
    { email: 'eve@example.com' },
    { password: 'aaaaaaaaaaaa' },
    { password: 'Password1234' },
    { password: 'qwertyuiop123' },
    { password: 'iloveyou2024' },
  ])('is rejected with %j and stays open', async (change) => {
    const { invitationUrl } = await makeMember(server, org.key, 'member')
    const answer = await accept(invitationUrl, change)
    expect(answer.status).toBe(400)
    expect(answer.body.details.issues[0].path).toBe(Object.keys(change)[0])
    expect((await check(invitationUrl)).status).toBe(200)
  })
})

describe('a person who already belongs to an organization', () => {
  const inviteTo = (key: string, email: string) =>
    call('POST', '/v1/members', { key, body: { email, name: 'Known', role: 'viewer' } })

  it('joins another with their current password', async () => {
    const { email } = await makePerson(server, org.key)
    const other = await makeOrganization(server)
    const { invitationUrl } = (await inviteTo(other.key, email.toUpperCase())).body
    expect((await check(invitationUrl)).body).toMatchObject({ email, setsPassword: false })

    const wrong = await accept(invitationUrl, { password: 'not the one that is known' })
    expect(wrong).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect(wrong.headers.getSetCookie()).toEqual([])

    const joined = await accept(invitationUrl)
    expect(joined.body).toMatchObject({ email, organizationId: other.id })
  })

  it('cannot be distinguished from a new one by the inviter', async () => {
    const { email } = await makePerson(server, org.key)
    const issuers = await makeMember(server, org.key, 'member')
    await server.deps.db
      .insertInto('identities')
      .values({ id: randomUUID(), user_id: issuers.userId, issuer: 'https://login.example.com', subject: randomUUID() })
      .execute()
    const other = await makeOrganization(server)
    const fresh = `${randomUUID()}@example.com`
    const seen = []
    for (const address of [email, issuers.email, fresh]) {
      const invited = (await inviteTo(other.key, address)).body
      // Unlike other UUIDs in Earshot, version 4 contains no time.
      expect(invited.userId[14]).toBe('4')
      const offer = await check(invited.invitationUrl)
      const weak = await accept(invited.invitationUrl, { password: 'Password1234' })
      const short = await accept(invited.invitationUrl, { password: 'elevenchars' })
      const shown = { ...offer.body, email: undefined }
      seen.push([offer.status, shown, weak.status, weak.text, short.status, short.text].map((part) => part))
    }
    expect(seen[1]).toEqual(seen[0])
    expect(seen[2]).toEqual(seen[0])
  })

  it('can switch the session to either of them, and to no other', async () => {
    const { email, headers } = await makePerson(server, org.key, 'admin')
    const other = await makeOrganization(server)
    const invited = await makeOrganization(server)
    await inviteTo(invited.key, email)
    await accept((await inviteTo(other.key, email)).body.invitationUrl)
    const seen = async () => (await call('GET', '/v1/me', { headers })).body

    const { data } = (await call('GET', '/auth/organizations', { headers })).body
    expect(data).toEqual([
      { id: org.id, name: org.organization.name, slug: org.organization.slug, role: 'admin', suspended: false },
      { id: other.id, name: other.organization.name, slug: other.organization.slug, role: 'viewer', suspended: false },
    ])
    expect(await seen()).toMatchObject({ organization: { id: org.id }, role: 'admin' })
    const turn = (organizationId: string) => call('POST', '/auth/organization', { headers, body: { organizationId } })
    expect((await turn(other.id)).body).toMatchObject({ organizationId: other.id })
    expect(await seen()).toMatchObject({ organization: { id: other.id }, role: 'viewer' })

    const stranger = await makeOrganization(server)
    const [unknown, unjoined] = [await turn(stranger.id), await turn(invited.id)]
    for (const answer of [unknown, unjoined]) expect(answer).toMatchObject({ status: 404, text: unknown.text })
    expect(await seen()).toMatchObject({ organization: { id: other.id } })
  })
})

it('has no stored or logged tokens and passwords in plain text', async () => {
  const member = await makeMember(server, org.key, 'member')
  const { token } = acceptance(member.invitationUrl)
  const joined = await accept(member.invitationUrl)
  const session = decodeURIComponent(cookieOf(joined).split('=')[1] ?? '').split('.')[0] as string
  expect(session).toMatch(/^\w{32}$/)
  const { rows } = await sql<{ text: string }>`
    SELECT to_jsonb(t)::text AS text FROM sessions t UNION ALL SELECT to_jsonb(t)::text FROM invitations t
    UNION ALL SELECT to_jsonb(t)::text FROM accounts t UNION ALL SELECT to_jsonb(t)::text FROM audit_events t`.execute(
    server.deps.db,
  )
  const stored = rows.map(({ text }) => text).join('\n')
  const logged = server.logged.join('\n')
  expect(stored).toContain(member.userId)
  for (const secret of [token, session, password]) {
    expect(stored).not.toContain(secret)
    expect(logged).not.toContain(secret)
  }
  expect(logged).not.toContain(member.email)
})
