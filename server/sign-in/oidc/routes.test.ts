import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { onPlainPostgres } from '../../../test/citus.ts'
import { openIssuer } from '../../../test/issuer.ts'
import { acceptance, elsewhere, makeMember, makeOrganization, makePerson, password } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { buildApp } from '../../app.ts'
import { invitationUrl, inviteMember } from '../../members/invitations/invite.ts'
import type { Oidc } from '../../platform/config.ts'
import { openMetrics } from '../../platform/http/metrics.ts'
import { orgIdOf } from '../../platform/ids.ts'

const { issuer, client, state } = await openIssuer(afterAll)
const server = await testServer({
  EARSHOT_OIDC_ISSUER: issuer,
  EARSHOT_OIDC_CLIENT_ID: client.id,
  EARSHOT_OIDC_CLIENT_SECRET: client.secret,
  EARSHOT_TRUST_PROXY: '1',
})
const { call } = server

let org: Awaited<ReturnType<typeof makeOrganization>>
beforeEach(async () => {
  org = await makeOrganization(server)
  Object.assign(state, { person: undefined, forged: false, userInfo: undefined, silent: false })
})

const claimsOf = (email: string, more: object = {}) => ({ sub: randomUUID(), email, email_verified: true, ...more })

const cookiesOf = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';', 1)[0])
    .join('; ')

/** Goes from one of the service's pages to the issuer and back, as a browser does. */
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

it('returns the available ways to sign in', async () => {
  expect((await call('GET', '/auth/ways')).body).toEqual({ password: true, oidc: true, forgottenPassword: false })
})

it('signs in a verified person, and returns to the requested page', async () => {
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
  // The callback only works once.
  const again = await call('GET', path, { headers })
  expect(again.headers.get('location')).toMatch(/^\/sign-in\?refused=/)
  // From now on, the subject identifies the person, even if their address changes.
  state.person = { ...state.person, email: `${randomUUID()}@example.com` }
  expect((await me((await goThrough()).answer.headers)).body.member.id).toBe(person.id)
})

const invitationsOf = async (headers: Record<string, string>) =>
  (await call('GET', '/auth/invitations', { headers })).body.data

/** Returns the headers for one of the service's pages, with the session that a response opened. */
const inSession = ({ headers }: { headers: Headers }) => ({ origin: server.origin, cookie: cookiesOf(headers) })

it('asks invited people before they join, and opens the chosen organization', async () => {
  const member = await makeMember(server, org.key, 'viewer')
  const other = await makeOrganization(server)
  const invite = { email: member.email, name: 'Max', role: 'admin' }
  await call('POST', '/v1/members', { key: other.key, body: invite })
  state.person = claimsOf(member.email)
  const { answer } = await goThrough({ to: '/findings?layout=list' })
  expect(answer.headers.get('location')).toBe('/invitations?to=%2Ffindings%3Flayout%3Dlist')
  const headers = inSession(answer)
  expect((await call('GET', '/v1/me', { headers })).status).toBe(401)
  expect((await call('GET', '/auth/organizations', { headers })).body).toEqual({ data: [] })
  expect(await invitationsOf(headers)).toEqual([
    { organizationId: org.id, organization: org.organization.name, role: 'viewer', invitedAt: expect.any(String) },
    { organizationId: other.id, organization: other.organization.name, role: 'admin', invitedAt: expect.any(String) },
  ])

  const accept = (organizationId: string) =>
    call('POST', '/auth/invitations/accept', { headers, body: { organizationId } })
  expect((await accept(other.id)).body).toMatchObject({ organizationId: other.id })
  expect((await call('GET', '/v1/me', { headers })).body).toMatchObject({
    organization: { id: other.id },
    role: 'admin',
  })
  expect((await accept(other.id)).status).toBe(404)
  const { data } = (await call('GET', '/v1/audit-events', { key: other.key })).body
  expect(data[0]).toMatchObject({ action: 'member.join' })

  // The service shows a person their other invitations again, but signs them in to the organization that they have
  // joined.
  const again = await goThrough()
  expect(again.answer.headers.get('location')).toBe('/invitations?to=%2F')
  expect((await me(again.answer.headers)).body.organization.id).toBe(other.id)
  const declined = await call('POST', '/auth/invitations/decline', { headers, body: { organizationId: org.id } })
  expect(declined.status).toBe(204)
  expect(await invitationsOf(headers)).toEqual([])
  const members = (await call('GET', '/v1/members', { key: org.key })).body.data
  expect(members.map(({ email }: { email: string }) => email)).not.toContain(member.email)
  expect((await goThrough()).answer.headers.get('location')).toBe('/')
})

it('lists no invitations to a person without a verified address', async () => {
  const person = await makePerson(server, org.key)
  const other = await makeOrganization(server)
  const invite = { email: person.email, name: 'Pia', role: 'viewer' }
  await call('POST', '/v1/members', { key: other.key, body: invite })
  expect(await invitationsOf(person.headers)).toEqual([])
  const body = { organizationId: other.id }
  expect((await call('POST', '/auth/invitations/accept', { headers: person.headers, body })).status).toBe(404)
})

it('removes what existed before the address was verified, which anyone may have chosen', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  const { answer } = await goThrough()
  expect((await me(answer.headers)).status).toBe(200)
  expect((await call('GET', '/v1/me', { headers: person.headers })).status).toBe(401)
  const body = { email: person.email, password }
  expect((await call('POST', '/auth/sign-in/email', { headers: elsewhere(), body })).status).toBe(401)
  // Signing in through the issuer does not end another session that was opened through the issuer.
  const second = await goThrough()
  expect([(await me(answer.headers)).status, (await me(second.answer.headers)).status]).toEqual([200, 200])
})

it('protects an account without a password from another organization’s admin with a link for its address', async () => {
  const { id, email } = await makeMember(server, org.key, 'owner')
  state.person = claimsOf(email)
  const first = inSession((await goThrough()).answer)
  await call('POST', '/auth/invitations/accept', { headers: first, body: { organizationId: org.id } })
  expect((await call('GET', '/v1/me', { headers: first })).body.member.id).toBe(id)

  const other = await makeOrganization(server)
  const invite = { email, name: 'Taken', role: 'viewer' }
  const link = (await call('POST', '/v1/members', { key: other.key, body: invite })).body.invitationUrl
  const headers = elsewhere()
  const { token, ...chosen } = acceptance(link)
  expect((await call('POST', '/auth/invitation/check', { headers, body: { token } })).status).toBe(200)
  expect((await call('POST', '/auth/invitation', { headers, body: { token, ...chosen } })).status).toBe(401)
  expect((await call('POST', '/auth/sign-in/email', { headers, body: { email, password } })).status).toBe(401)

  // This person joins through the issuer.
  const asked = inSession((await goThrough()).answer)
  await call('POST', '/auth/invitations/accept', { headers: asked, body: { organizationId: other.id } })
  const joined = await call('GET', '/auth/organizations', { headers: asked })
  expect(joined.body.data.map((each: { id: string }) => each.id)).toEqual([org.id, other.id])
})

it.each([
  ['an address that nobody here has', 'unknown', (email: string) => claimsOf(`x${email}`)],
  ['an address that is not verified', 'unverified', (email: string) => claimsOf(email, { email_verified: false })],
  ['the word "false"', 'verification_malformed', (email: string) => claimsOf(email, { email_verified: 'false' })],
  ['the word "true"', 'verification_malformed', (email: string) => claimsOf(email, { email_verified: 'true' })],
  ['the number 1', 'verification_malformed', (email: string) => claimsOf(email, { email_verified: 1 })],
  ['no word about it', 'verification_missing', (email: string) => ({ sub: randomUUID(), email })],
  ['no address', 'no_email', () => ({ sub: randomUUID(), email_verified: true })],
  ['another service’s token', 'token_rejected', (email: string) => claimsOf(email, { aud: 'another' })],
  ['another issuer’s token', 'token_rejected', (email: string) => claimsOf(email, { iss: 'https://other.example' })],
  ['a token for another visit', 'token_rejected', (email: string) => claimsOf(email, { nonce: 'another' })],
])('rejects %s with the reason %s', async (_, refused, claims) => {
  const person = await makePerson(server, org.key)
  state.person = claims(person.email)
  const { answer } = await goThrough()
  expect(answer.headers.get('location')).toBe(`/sign-in?refused=${refused}`)
  expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^earshot\.oidc=; Max-Age=0;/)])
  expect((await me(answer.headers)).status).toBe(401)
})

it('only accepts the user info of the same subject', async () => {
  const person = await makePerson(server, org.key)
  const sub = randomUUID()
  state.person = { sub }
  state.userInfo = claimsOf(person.email)
  expect((await goThrough()).answer.headers.get('location')).toBe('/sign-in?refused=subject_mismatch')
  state.userInfo = claimsOf(person.email, { sub, email_verified: 'true' })
  expect((await goThrough()).answer.headers.get('location')).toBe('/sign-in?refused=verification_malformed')
  state.userInfo = claimsOf(person.email, { sub })
  expect((await me((await goThrough()).answer.headers)).body.member.id).toBe(person.id)
})

it('rejects tokens without the issuer’s signature, and people who turned back there', async () => {
  const person = await makePerson(server, org.key)
  Object.assign(state, { person: claimsOf(person.email), forged: true })
  expect((await goThrough()).answer.headers.get('location')).toBe('/sign-in?refused=token_rejected')
  Object.assign(state, { person: undefined, forged: false })
  expect((await goThrough()).answer.headers.get('location')).toBe('/sign-in?refused=declined')
})

const storedOf = async (userId: string) => {
  const { rows } = await sql<{ text: string }>`
    SELECT to_jsonb(t)::text AS text FROM accounts t WHERE user_id = ${userId}
    UNION ALL SELECT to_jsonb(t)::text FROM identities t WHERE user_id = ${userId}
    UNION ALL SELECT to_jsonb(t)::text FROM sessions t WHERE user_id = ${userId}
    UNION ALL SELECT to_jsonb(t)::text FROM verifications t`.execute(server.deps.db)
  return rows.map(({ text }) => text)
}

it('stores no token of the issuer', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  await goThrough()
  const stored = (await storedOf(person.userId)).join('\n')
  expect(stored).toContain(state.person.sub)
  // Every JSON Web Token starts with this text.
  expect(stored).not.toContain('eyJ')
})

it('recognizes one person by several subjects', async () => {
  const person = await makePerson(server, org.key)
  const first = claimsOf(person.email)
  const second = claimsOf(person.email)
  const opened = []
  for (const claims of [first, second, first, second]) {
    state.person = claims
    const { answer } = await goThrough()
    expect(answer.status).toBe(302)
    opened.push((await me(answer.headers)).body.member.id)
  }
  expect(opened).toEqual(Array.from({ length: 4 }, () => person.id))
  const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
  const links = data.filter(({ action }: { action: string }) => action === 'user.linkIdentity')
  expect(links).toHaveLength(2)
})

it('keeps a password that is set after the address was verified, whatever subject comes later', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  await goThrough()
  const invite = inviteMember(server.deps.db, server.clock, orgIdOf(org.id), person.id, { byOperator: true })
  const link = invitationUrl(server.deps.baseUrl(), await invite)
  const chosen = { ...acceptance(link), password: 'a password set later on' }
  expect((await call('POST', '/auth/invitation', { headers: elsewhere(), body: chosen })).status).toBe(200)
  state.person = claimsOf(person.email)
  await goThrough()
  const body = { email: person.email, password: chosen.password }
  expect((await call('POST', '/auth/sign-in/email', { headers: elsewhere(), body })).status).toBe(200)
})

it('links one person to one identity for two concurrent callbacks', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  const answers = await Promise.all([goThrough(), goThrough()])
  for (const { answer } of answers) expect((await me(answer.headers)).body.member.id).toBe(person.id)
  expect((await storedOf(person.userId)).filter((text) => text.includes(state.person?.sub ?? ''))).toHaveLength(1)
})

/** Returns the same service with a different issuer, or with a different registration at the same issuer. */
const withOidc = async (change: Partial<Oidc>) => {
  const { deps } = server
  const config = { ...deps.config, oidc: { ...(deps.config.oidc as Oidc), ...change } }
  const app = await buildApp(
    { ...deps, config, metrics: openMetrics(deps) },
    { overload: { check: () => {}, close: () => {} } },
  )
  onTestFinished(() => app.close())
  return async () => {
    const begun = await app.inject({ url: '/auth/oidc' })
    const there = await fetch(begun.headers.location ?? '', { redirect: 'manual' })
    const { pathname, search } = new URL(there.headers.get('location') ?? '')
    const cookie = String(begun.headers['set-cookie']).split(';', 1)[0] ?? ''
    const { headers } = await app.inject({ url: pathname + search, headers: { cookie } })
    const answered = new Headers({ location: headers.location ?? '' })
    for (const set of [headers['set-cookie'] ?? []].flat()) answered.append('set-cookie', set)
    return answered
  }
}

it('signs people in after a change of the client registration, which changes their subjects', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  await goThrough()
  const enter = await withOidc({ clientId: 'earshot-again' })
  state.person = claimsOf(person.email)
  expect((await me(await enter())).body.member.id).toBe(person.id)
})

it('treats the same subject of another issuer as someone else', async () => {
  const [person, stranger] = [await makePerson(server, org.key), await makePerson(server, org.key)]
  state.person = claimsOf(person.email)
  await goThrough()
  const second = await openIssuer(onTestFinished)
  const enter = await withOidc({ issuer: second.issuer })
  second.state.person = { ...state.person, email: stranger.email }
  expect((await me(await enter())).body.member.id).toBe(stranger.id)
  second.state.person = { ...state.person, email: `${randomUUID()}@example.com` }
  expect((await me(await enter())).body.member.id).toBe(stranger.id)
  // The first issuer's users now use the second issuer.
  second.state.person = claimsOf(person.email)
  expect((await me(await enter())).body.member.id).toBe(person.id)
})

it('trusts an issuer that omits the claim if configured, but not one that denies it', async () => {
  const person = await makePerson(server, org.key)
  const enter = await withOidc({ trustEmail: true })
  for (const denied of [false, 'false', null]) {
    state.person = claimsOf(person.email, { email_verified: denied })
    expect((await enter()).get('location')).toMatch(/refused=(unverified|verification_malformed)$/)
  }
  state.person = { sub: randomUUID(), email: person.email }
  expect((await me(await enter())).body.member.id).toBe(person.id)
})

const { it: itWithTriggers } = onPlainPostgres('fails a write by a trigger')

itWithTriggers('leaves no session behind when something fails on the way', async () => {
  const person = await makePerson(server, org.key)
  const before = await storedOf(person.userId)
  state.person = claimsOf(person.email)
  await sql`CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END'`.execute(
    server.deps.db,
  )
  await sql`CREATE TRIGGER fail BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION fail()`.execute(
    server.deps.db,
  )
  const { answer } = await goThrough().finally(() => sql`DROP FUNCTION fail CASCADE`.execute(server.deps.db))
  expect(answer.status).toBe(500)
  expect(answer.headers.getSetCookie()).toEqual([])
  expect(await storedOf(person.userId)).toEqual(before)
})

it('allows sign-in by password while the issuer does not respond, and reports that within seconds', async () => {
  const silent = await openIssuer(onTestFinished)
  silent.state.silent = true
  const other = await testServer({
    EARSHOT_OIDC_ISSUER: silent.issuer,
    EARSHOT_OIDC_CLIENT_ID: 'a',
    EARSHOT_OIDC_CLIENT_SECRET: 'b',
    EARSHOT_TRUST_PROXY: '1',
  })
  const begun = performance.now()
  const waiting = other.call('GET', '/auth/oidc')
  const there = await makeOrganization(other)
  const { email } = await makePerson(other, there.key)
  const body = { email, password }
  const byPassword = await other.call('POST', '/auth/sign-in/email', { headers: elsewhere(), body })
  expect(byPassword.status).toBe(200)
  expect((await other.call('GET', '/auth/ways')).body.oidc).toBe(true)
  expect((await waiting).headers.get('location')).toBe('/sign-in?refused=unreachable')
  expect(performance.now() - begun).toBeLessThan(15_000)
  // The next person triggers another request to the issuer.
  silent.state.silent = false
  expect((await other.call('GET', '/auth/oidc')).headers.get('location')).toContain(silent.issuer)
}, 30_000)

it('rejects a callback that another browser started', async () => {
  const person = await makePerson(server, org.key)
  state.person = claimsOf(person.email)
  const { answer } = await goThrough({ cookie: 'none=1' })
  expect(answer.headers.get('location')).toBe('/sign-in?refused=expired')
  expect((await me(answer.headers)).status).toBe(401)
})

it.each([
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/\n\\evil.example',
  'javascript:alert(1)',
])('redirects nowhere else: %s', async (to) => {
  expect((await call('GET', `/auth/oidc?to=${encodeURIComponent(to)}`)).status).toBe(400)
})

it('does not exist without an issuer', async () => {
  const other = await testServer()
  expect((await other.call('GET', '/auth/ways')).body).toEqual({
    password: true,
    oidc: false,
    forgottenPassword: false,
  })
  expect((await other.call('GET', '/auth/oidc')).status).toBe(404)
  expect((await other.call('GET', '/auth/oidc/callback?code=1')).status).toBe(404)
})

it('returns with the reason while the issuer cannot be reached', async () => {
  const other = await testServer({
    EARSHOT_OIDC_ISSUER: 'http://127.0.0.1:1',
    EARSHOT_OIDC_CLIENT_ID: 'a',
    EARSHOT_OIDC_CLIENT_SECRET: 'b',
  })
  const answer = await other.call('GET', '/auth/oidc')
  expect(answer.headers.get('location')).toBe('/sign-in?refused=unreachable')
})
