import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  acceptance,
  cookieOf,
  elsewhere,
  makeCompany,
  makeKey,
  makeMember,
  makeOrganization,
  makePerson,
  password,
} from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { openListener } from '../platform/db/listen.ts'
import { openIdentity } from '../platform/identity/identity.ts'
import { sweepSessions } from './jobs.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock } = server

let org: Awaited<ReturnType<typeof makeOrganization>>
let person: Awaited<ReturnType<typeof makePerson>>
beforeEach(async () => {
  org = await makeOrganization(server)
  person = await makePerson(server, org.key)
})

type Headers = Record<string, string>
const signIn = (email: string, given = password, headers: Headers = elsewhere()) =>
  call('POST', '/auth/sign-in/email', { headers, body: { email, password: given } })
const signOut = (headers: Headers) => call('POST', '/auth/sign-out', { headers })
const statusOfMe = async (headers: Headers) => (await call('GET', '/v1/me', { headers })).status
const { origin } = server

describe('signing in', () => {
  it('opens a session with a cookie that no script and no other site can read', async () => {
    const opened = await signIn(person.email.toUpperCase())
    expect(opened.status).toBe(200)
    expect(opened.body).toEqual({
      userId: person.userId,
      email: person.email,
      name: 'Pia Person',
      organizationId: org.id,
    })
    const [cookie, ...others] = opened.headers.getSetCookie()
    expect(others).toEqual([
      expect.stringMatching(/^earshot\.device=[^;]+; Max-Age=7776000; Path=\/; HttpOnly; SameSite=Lax$/),
    ])
    expect(cookie).toMatch(/^earshot\.session_token=[^;]+; Max-Age=1209600; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(await statusOfMe({ cookie: cookieOf(opened) })).toBe(200)
    const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
    expect(data[0]).toMatchObject({ action: 'session.create', actor: { kind: 'user', userId: person.userId } })
  })

  it('responds equally to a wrong password, an unknown address, and one that has not joined', async () => {
    const invited = await makeMember(server, org.key, 'member')
    const answers = [
      await signIn(person.email, 'not the one that is known'),
      await signIn(`${randomUUID()}@example.com`),
      await signIn(invited.email),
    ]
    for (const answer of answers) {
      expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized' }, text: answers[0]?.text })
      expect(answer.headers.getSetCookie()).toEqual([])
    }
  })

  it('is limited by IP address, whatever is guessed', async () => {
    const invitation = await makeMember(server, org.key, 'member')
    const body = acceptance(invitation.invitationUrl)
    const headers = elsewhere()
    // All guesses are sent at once, because one more attempt is allowed every five seconds.
    const guesses = Array.from({ length: 20 }, (_, i) => signIn(`${i}@example.com`, 'x', headers))
    const limited = [signIn(person.email, password, headers), call('POST', '/auth/invitation', { headers, body })]
    expect(new Set((await Promise.all(guesses)).map(({ status }) => status))).toEqual(new Set([401]))
    for (const answer of await Promise.all(limited)) {
      expect(answer).toMatchObject({ status: 429, body: { error: 'rate limited' } })
      expect(answer.headers.get('retry-after')).toBe('5')
    }
    expect((await signIn(person.email)).status).toBe(200)
  })

  it('is rejected for pages of other sites', async () => {
    for (const other of ['https://evil.example', 'null', `${origin}0`]) {
      expect((await signIn(person.email, password, { ...elsewhere(), origin: other })).status).toBe(403)
    }
    expect((await signIn(person.email, password, { ...elsewhere(), origin })).status).toBe(200)
  })
})

describe('a session', () => {
  it('has its person’s permissions, like a key', async () => {
    const created = await call('POST', '/v1/companies', { headers: person.headers, body: { name: 'Acme' } })
    expect(created.status).toBe(201)
    expect(created.headers.get('ratelimit-policy')).not.toBeNull()
    const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
    expect(data[0]).toMatchObject({
      action: 'company.create',
      actor: { kind: 'user', keyId: null, userId: person.userId },
    })
    const invite = { email: 'x@example.com', name: 'X', role: 'viewer' }
    expect((await call('POST', '/v1/members', { headers: person.headers, body: invite })).status).toBe(403)
    expect((await call('GET', '/v1/organizations', { headers: person.headers })).status).toBe(401)
  })

  it('only writes from pages of this origin', async () => {
    const { cookie = '' } = person.headers
    const { id } = await makeCompany(server, org.key)
    for (const [method, path, body] of [
      ['POST', '/v1/companies', { name: 'Acme' }],
      ['PATCH', `/v1/companies/${id}`, { name: 'Acme' }],
      ['DELETE', `/v1/companies/${id}`, undefined],
      ['POST', '/auth/organization', { organizationId: org.id }],
      ['POST', '/auth/sign-out', undefined],
      ['POST', '/auth/sign-out-everywhere', {}],
      ['POST', '/auth/change-password', { currentPassword: password, newPassword: 'x'.repeat(12) }],
    ] as const) {
      const foreign = [{ cookie }, { cookie, origin: 'https://evil.example' }, { cookie, origin: 'null' }]
      for (const headers of foreign) {
        expect(await call(method, path, { headers, body })).toMatchObject({
          status: 403,
          body: { error: 'forbidden' },
        })
      }
    }
    expect((await call('GET', `/v1/companies/${id}`, { headers: { cookie } })).body.name).toBe('Acme Dental')
    const byKey = { origin: 'https://evil.example' }
    expect((await call('DELETE', `/v1/companies/${id}`, { key: org.key, headers: byKey })).status).toBe(204)
  })

  it('never replaces an invalid key', async () => {
    for (const authorization of ['', 'Bearer', 'Bearer nonsense', 'Basic eDp5']) {
      expect(await statusOfMe({ ...person.headers, authorization })).toBe(401)
    }
    const viewer = await makeKey(server, org.key, 'viewer')
    const me = await call('GET', '/v1/me', { key: viewer.key, headers: person.headers })
    expect(me.body).toMatchObject({ keyId: viewer.id, role: 'viewer' })
  })

  it('requires its complete cookie', async () => {
    const [name, value = ''] = (person.headers.cookie ?? '').split('=')
    const [token = '', signature = ''] = decodeURIComponent(value).split('.')
    const wrong = [
      '',
      '%',
      token,
      `${token}.`,
      `${token}.${signature.slice(1)}`,
      `x${token}.${signature}`,
      `.${signature}`,
    ]
    for (const other of wrong) expect(await statusOfMe({ cookie: `${name}=${other}` })).toBe(401)
    expect(await statusOfMe({ cookie: `__Secure-${name}=${value}` })).toBe(401)
    expect(await statusOfMe({ authorization: `Bearer ${token}` })).toBe(401)
    expect(await statusOfMe({ cookie: `theme=dark; ${name}=${value}; x=y` })).toBe(200)
  })

  it('ends by signing out, immediately, and only there', async () => {
    const second = cookieOf(await signIn(person.email))
    expect(await statusOfMe(person.headers)).toBe(200)
    const out = await signOut(person.headers)
    expect(out.status).toBe(204)
    expect(out.headers.getSetCookie()).toContainEqual(expect.stringMatching(/^earshot\.session_token=; Max-Age=0;/))
    expect(await statusOfMe(person.headers)).toBe(401)
    expect((await signOut(person.headers)).status).toBe(401)
    expect(await statusOfMe({ cookie: second })).toBe(200)
  })

  it('ends everywhere at once if its person requests it, and only theirs', async () => {
    const phone = { ...person.headers, cookie: cookieOf(await signIn(person.email)) }
    const colleague = await makePerson(server, org.key)
    expect(
      (await call('POST', '/auth/sign-out-everywhere', { headers: { ...phone, origin: 'https://other.example' } }))
        .status,
    ).toBe(403)
    const ended = await call('POST', '/auth/sign-out-everywhere', { headers: phone })
    expect(ended.status).toBe(204)
    expect(ended.headers.getSetCookie()[0]).toMatch(/^earshot\.session_token=; Max-Age=0;/)
    expect([await statusOfMe(phone), await statusOfMe(person.headers), await statusOfMe(colleague.headers)]).toEqual([
      401, 401, 200,
    ])
    expect((await call('POST', '/auth/sign-out-everywhere', { headers: phone })).status).toBe(401)
    const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
    expect(data.map(({ action }: { action: string }) => action)).toContain('user.signOutEverywhere')
  })

  it('ends in other processes too', async () => {
    const { deps } = server
    const listener = await openListener(deps.database.connection, deps.log)
    const elsewhereIdentity = await openIdentity({ ...deps, listener, serviceKey: undefined })
    const token = deps.sessionCookie.read(person.headers.cookie) ?? ''
    const known = async () => (await elsewhereIdentity.resolveSession(token)).kind
    expect(await known()).toBe('session')
    await signOut(person.headers)
    await expect.poll(known, { timeout: 4_000 }).toBe('unknown')
    await elsewhereIdentity.close()
    await listener.close()
  })

  it('ends with a change of the password, wherever it was opened', async () => {
    const second = cookieOf(await signIn(person.email))
    expect(await statusOfMe({ cookie: second })).toBe(200)
    const change = (currentPassword: string, newPassword: string) =>
      call('POST', '/auth/change-password', { headers: person.headers, body: { currentPassword, newPassword } })
    const wrong = await change('not the one that is known', 'a new one of them')
    expect(wrong.body.details.issues).toEqual([{ path: 'currentPassword', message: expect.any(String) }])
    expect((await change(password, 'elevenchars')).status).toBe(400)

    const changed = await change(password, 'a new one of them')
    expect(changed.body).toMatchObject({ userId: person.userId, organizationId: org.id })
    expect(await statusOfMe(person.headers)).toBe(401)
    expect(await statusOfMe({ cookie: second })).toBe(401)
    expect(await statusOfMe({ cookie: cookieOf(changed) })).toBe(200)
    expect((await signIn(person.email)).status).toBe(401)
    expect((await signIn(person.email, 'a new one of them')).status).toBe(200)
  })

  it('of a former member changes the password where they are still members, and only there', async () => {
    const other = await makeOrganization(server)
    const body = { email: person.email, name: 'Pia', role: 'viewer' }
    const { invitationUrl } = (await call('POST', '/v1/members', { key: other.key, body })).body
    const joined = await call('POST', '/auth/invitation', { headers: elsewhere(), body: acceptance(invitationUrl) })
    expect(joined.status).toBe(200)
    const newest = async (key: string) => (await call('GET', '/v1/audit-events', { key })).body.data[0].action
    const change = (cookie: string, currentPassword: string, newPassword: string) =>
      call('POST', '/auth/change-password', {
        headers: { ...elsewhere(), origin, cookie },
        body: { currentPassword, newPassword },
      })

    await call('DELETE', `/v1/members/${person.id}`, { key: org.key })
    const changed = await change(person.headers.cookie ?? '', password, 'a second one of them')
    expect(changed).toMatchObject({ status: 200, body: { organizationId: other.id } })
    expect([await newest(org.key), await newest(other.key)]).toEqual(['member.remove', 'user.changePassword'])

    const there = (await call('GET', '/v1/me', { headers: { cookie: cookieOf(changed) } })).body.member
    await call('DELETE', `/v1/members/${there.id}`, { key: other.key })
    const again = await change(cookieOf(changed), 'a second one of them', 'a third one of them')
    expect(again).toMatchObject({ status: 200, body: { organizationId: null } })
    expect(await newest(other.key)).toBe('member.remove')
  })

  it('follows changes of the member', async () => {
    const role = async () => (await call('GET', '/v1/me', { headers: person.headers })).body.role
    expect(await role()).toBe('member')
    await call('PATCH', `/v1/members/${person.id}`, { key: org.key, body: { role: 'viewer' } })
    expect(await role()).toBe('viewer')
    expect((await call('DELETE', `/v1/members/${person.id}`, { key: org.key })).status).toBe(204)
    expect(await statusOfMe(person.headers)).toBe(401)
    expect((await call('GET', '/auth/organizations', { headers: person.headers })).body).toEqual({ data: [] })
    expect((await signIn(person.email)).body.organizationId).toBeNull()
  })

  it('returns 403 while the organization is suspended', async () => {
    expect(await statusOfMe(person.headers)).toBe(200)
    await call('POST', `/v1/organizations/${org.id}/suspend`, { key: serviceKey })
    expect(await statusOfMe(person.headers)).toBe(403)
    await call('POST', `/v1/organizations/${org.id}/reactivate`, { key: serviceKey })
    expect(await statusOfMe(person.headers)).toBe(200)
  })

  it('ends after fourteen days and is deleted', async () => {
    const dayMs = 24 * 60 * 60 * 1_000
    const count = async () => {
      const rows = await server.deps.db
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', person.userId)
        .execute()
      return rows.length
    }
    clock.advance(13 * dayMs)
    expect(await statusOfMe(person.headers)).toBe(200)
    // The library uses the system clock, which has advanced while this test ran.
    clock.advance(dayMs + 60_000)
    expect(await statusOfMe(person.headers)).toBe(401)
    expect((await call('GET', '/auth/organizations', { headers: person.headers })).status).toBe(401)
    await server.deps.jobs.enqueue(server.deps.db, sweepSessions, {})
    expect(await count()).toBe(1)
    await server.drain()
    expect(await count()).toBe(0)
    clock.advance(-14 * dayMs - 60_000)
  })
})

it('uses an https-only cookie if the base URL is https', async () => {
  const { call: callSecure } = await testServer({ EARSHOT_BASE_URL: 'https://earshot.example.com' })
  const body = { name: 'Acme', slug: 'acme', owner: { email: 'olga@example.com', name: 'Olga' } }
  const { invitationUrl } = (await callSecure('POST', '/v1/organizations', { key: serviceKey, body })).body
  expect(invitationUrl).toMatch(/^https:\/\/earshot\.example\.com\/welcome#/)
  const joined = await callSecure('POST', '/auth/invitation', { body: acceptance(invitationUrl) })
  expect(joined.headers.getSetCookie()).toEqual([
    expect.stringMatching(
      /^__Host-earshot\.session_token=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    ),
    expect.stringMatching(/^__Host-earshot\.device=[^;]+; Max-Age=\d+; Path=\/; HttpOnly; Secure; SameSite=Lax$/),
  ])
  const headers = { cookie: cookieOf(joined), origin: 'https://earshot.example.com' }
  expect((await callSecure('POST', '/auth/sign-out', { headers })).status).toBe(204)
})
