import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { openIssuer } from '../../../test/issuer.ts'
import { acceptance, elsewhere, makeMember, makeOrganization, makePerson, password } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'

const { issuer, client, state } = await openIssuer(afterAll)
const server = await testServer({
  ...{ EARSHOT_OIDC_ISSUER: issuer, EARSHOT_OIDC_CLIENT_ID: client.id, EARSHOT_OIDC_CLIENT_SECRET: client.secret },
  EARSHOT_TRUST_PROXY: '1',
})
const { call } = server

let org: Awaited<ReturnType<typeof makeOrganization>>
beforeEach(async () => {
  org = await makeOrganization(server)
  Object.assign(state, { person: undefined, forged: false })
})

const claimsOf = (email: string, more: object = {}) => ({ sub: randomUUID(), email, email_verified: true, ...more })

const cookiesOf = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')

/** From our page to the issuer and back, as a browser goes. */
const goThrough = async ({ to, cookie }: { to?: string; cookie?: string } = {}) => {
  const from = elsewhere()
  const begun = await call('GET', `/auth/oidc${to === undefined ? '' : `?to=${encodeURIComponent(to)}`}`, {
    headers: from,
  })
  expect(begun.status).toBe(302)
  const there = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })
  const back = new URL(there.headers.get('location') ?? '')
  expect(`${back.origin}${back.pathname}`).toBe(`${server.origin}/auth/oidc/callback`)
  const headers = { ...from, cookie: cookie ?? cookiesOf(begun.headers) }
  const path = back.pathname + back.search
  return { answer: await call('GET', path, { headers }), path, headers }
}

const me = (headers: Headers) => call('GET', '/v1/me', { headers: { cookie: cookiesOf(headers) } })

it('says by which ways one can sign in', async () => {
  expect((await call('GET', '/auth/ways')).body).toEqual({ password: true, oidc: true, forgottenPassword: false })
})

it('lets in whom the issuer vouches for, to the page that they asked for', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email.toUpperCase())
  const { answer, path, headers } = await goThrough({ to: '/findings?layout=list' })
  expect(answer.status).toBe(302)
  expect(answer.headers.get('location')).toBe('/findings?layout=list')
  const session = await me(answer.headers)
  expect(session.body).toMatchObject({
    organization: { id: org.id },
    member: { email: person.email, name: 'Pia Person' },
  })
  const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
  expect(data[0]).toMatchObject({ action: 'session.create', actor: { kind: 'user', userId: person.userId } })
  // The way back works once.
  const again = await call('GET', path, { headers })
  expect(again.headers.get('location')).toMatch(/^\/sign-in\?refused=/)
  // And the person is known by the issuer's name for them from now on, whatever address it has of them then.
  state.person = { ...state.person, email: `${randomUUID()}@example.com` }
  expect((await me((await goThrough()).answer.headers)).body.member.id).toBe(person.id)
})

it('lets the invited join without a link', async () => {
  const member = await makeMember(server, org.key, 'viewer')
  state.person = claimsOf(member.email)
  const { answer } = await goThrough()
  expect((await me(answer.headers)).body).toMatchObject({ role: 'viewer', member: { id: member.id, status: 'active' } })
  const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
  expect(data.map(({ action }: { action: string }) => action)).toContain('member.join')
})

it('ends what stood there before the issuer vouched for the address, which anybody may have chosen', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  const { answer } = await goThrough()
  expect((await me(answer.headers)).status).toBe(200)
  expect((await call('GET', '/v1/me', { headers: person.headers })).status).toBe(401)
  const body = { email: person.email, password }
  expect((await call('POST', '/auth/sign-in/email', { headers: elsewhere(), body })).status).toBe(401)
  // A session by the issuer is no reason to end another one by the issuer.
  const second = await goThrough()
  expect([(await me(answer.headers)).status, (await me(second.answer.headers)).status]).toEqual([200, 200])
})

it('keeps an account without a password from an admin elsewhere who has a link for its address', async () => {
  const { id, email } = await makeMember(server, org.key, 'owner')
  state.person = claimsOf(email)
  expect((await me((await goThrough()).answer.headers)).body.member.id).toBe(id)

  const other = await makeOrganization(server)
  const invite = { email, name: 'Taken', role: 'viewer' }
  const link = (await call('POST', '/v1/members', { key: other.key, body: invite })).body.invitationUrl
  const headers = elsewhere()
  const { token, ...chosen } = acceptance(link)
  expect((await call('POST', '/auth/invitation/check', { headers, body: { token } })).status).toBe(409)
  expect((await call('POST', '/auth/invitation', { headers, body: { token, ...chosen } })).status).toBe(409)
  expect((await call('POST', '/auth/sign-in/email', { headers, body: { email, password } })).status).toBe(401)

  // The way of joining is the issuer's.
  const { answer } = await goThrough()
  const joined = await call('GET', '/auth/organizations', { headers: { cookie: cookiesOf(answer.headers) } })
  expect(joined.body.data.map((each: { id: string }) => each.id)).toEqual([org.id, other.id])
})

it.each([
  ['an address that nobody here has', 'unknown', (email: string) => claimsOf(`x${email}`)],
  [
    'an address that is not verified',
    /unverified|unknown/,
    (email: string) => claimsOf(email, { email_verified: false }),
  ],
  ['another service’s token', 'failed', (email: string) => claimsOf(email, { aud: 'another' })],
  ['another issuer’s token', 'failed', (email: string) => claimsOf(email, { iss: 'https://other.example' })],
  ['a token for another visit', 'failed', (email: string) => claimsOf(email, { nonce: 'another' })],
])('refuses %s', async (_, refused, claims) => {
  const person = await makePerson(server, org.key)
  state.person = claims(person.email)
  const { answer } = await goThrough()
  const location = answer.headers.get('location') ?? ''
  expect(location).toMatch(/^\/sign-in\?refused=/)
  expect(location.split('=')[1]).toMatch(refused)
  expect((await me(answer.headers)).status).toBe(401)
})

it('refuses what the issuer did not sign, and those who turned back there', async () => {
  const person = await makePerson(server, org.key)
  Object.assign(state, { person: claimsOf(person.email), forged: true })
  expect((await goThrough()).answer.headers.get('location')).toBe('/sign-in?refused=failed')
  Object.assign(state, { person: undefined, forged: false })
  expect((await goThrough()).answer.headers.get('location')).toBe('/sign-in?refused=failed')
})

it('refuses a way back that another browser began', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  const { answer } = await goThrough({ cookie: 'none=1' })
  expect(answer.headers.get('location')).toBe('/sign-in?refused=failed')
  expect((await me(answer.headers)).status).toBe(401)
})

it.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/\n\\evil.example',
  'javascript:alert(1)',
])('leads to no other place: %s', async (to) => {
  expect((await call('GET', `/auth/oidc?to=${encodeURIComponent(to)}`)).status).toBe(400)
})

it('is not there where no issuer is set', async () => {
  const other = await testServer()
  expect((await other.call('GET', '/auth/ways')).body).toEqual({
    password: true,
    oidc: false,
    forgottenPassword: false,
  })
  expect((await other.call('GET', '/auth/oidc')).status).toBe(404)
  expect((await other.call('GET', '/auth/oidc/callback?code=1')).status).toBe(404)
})

it('says so while the issuer cannot be reached', async () => {
  const other = await testServer({
    ...{ EARSHOT_OIDC_ISSUER: 'http://127.0.0.1:1', EARSHOT_OIDC_CLIENT_ID: 'a', EARSHOT_OIDC_CLIENT_SECRET: 'b' },
  })
  const answer = await other.call('GET', '/auth/oidc')
  expect(answer).toMatchObject({ status: 503, body: { error: 'temporarily unavailable' } })
  expect(answer.headers.get('retry-after')).toBe('5')
})
