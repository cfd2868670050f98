import { randomUUID } from 'node:crypto'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import {
  acceptance,
  cookieOf,
  elsewhere,
  makeMember,
  makeOrganization,
  makePerson,
  password,
} from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'
import { readSmtpUrl } from '../../platform/mail/smtp-url.ts'
import { makeAddressLink } from './link.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, deps, clock } = server

const withMail = async () => {
  const mailServer = await openMailServer()
  deps.config.smtp = readSmtpUrl(`smtp://127.0.0.1:${mailServer.port}`)
  onTestFinished(() => {
    deps.config.smtp = undefined
  })
  return mailServer
}

let org: Awaited<ReturnType<typeof makeOrganization>>
let person: Awaited<ReturnType<typeof makePerson>>
let email: string
beforeEach(async () => {
  org = await makeOrganization(server)
  person = await makePerson(server, org.key)
  email = `${randomUUID()}@example.com`
})

const change = (to: string, currentPassword = password) =>
  call('POST', '/auth/address', { headers: person.headers, body: { email: to, currentPassword } })
const confirm = (token: string) => call('POST', '/auth/address/confirm', { headers: elsewhere(), body: { token } })
const signIn = async (address: string) =>
  (await call('POST', '/auth/sign-in/email', { headers: elsewhere(), body: { email: address, password } })).status
const tokenIn = (text: string | undefined) => /confirm-address#(\S+)/.exec(text ?? '')?.[1] ?? ''
const actions = async () =>
  (await call('GET', '/v1/audit-events', { key: org.key })).body.data.map(({ action }: { action: string }) => action)

const linkTo = (to: string, userId = person.userId) =>
  makeAddressLink(deps, deps.db, { userId, email: to, lifetimeMs: 60_000 })

it('without email, gives nobody an unconfirmed address, and reveals nothing about other accounts', async () => {
  const other = await makePerson(server, org.key)
  const [free, taken] = [await change(email), await change(other.email)]
  expect(free).toMatchObject({ status: 409, body: { message: expect.stringContaining('--new-email') } })
  expect(taken.body).toEqual(free.body)
  expect([await signIn(person.email), await signIn(email)]).toEqual([200, 401])
  // Someone else is invited with this address.
  const body = { email, name: 'Ada', role: 'owner' }
  const { status, body: invited } = await call('POST', '/v1/members', { key: org.key, body })
  expect(status).toBe(201)
  expect(invited.id).not.toBe(person.id)
})

it('changes the address with the operator’s link', async () => {
  expect((await confirm(tokenIn(await linkTo(email)))).body).toEqual({ email })
  expect([await signIn(person.email), await signIn(email)]).toEqual([401, 200])
  expect((await call('GET', '/v1/me', { headers: person.headers })).body.member.email).toBe(email)
  expect((await actions()).filter((action: string) => action === 'user.changeEmail')).toHaveLength(1)
})

it('requires the current password', async () => {
  const refused = await change(email, 'not the one that is known')
  expect(refused.body.details.issues).toEqual([{ path: 'currentPassword', message: expect.any(String) }])
  expect(await signIn(person.email)).toBe(200)
})

it('changes the address once the emailed link is opened, and notifies the former address', async () => {
  const { received } = await withMail()
  const before = received.length
  expect((await change(email)).body).toEqual({ email: person.email, confirmationSent: true })
  await server.drain()
  const [asked, ...others] = received.slice(before)
  expect(others).toEqual([])
  expect(asked?.recipients).toEqual([email])
  expect([await signIn(person.email), await signIn(email)]).toEqual([200, 401])
  const token = tokenIn(asked?.text)
  expect((await confirm(`${token}x`)).status).toBe(400)
  expect((await confirm(token)).body).toEqual({ email })
  expect([await signIn(person.email), await signIn(email)]).toEqual([401, 200])
  await server.drain()
  expect(received.slice(before + 1).map(({ recipients }) => recipients)).toEqual([[person.email]])
  expect((await confirm(token)).status).toBe(400)
  expect(await actions()).toContain('user.changeEmail')
})

it('only accepts the last link, for an hour', async () => {
  const { received } = await withMail()
  await change(email)
  await server.drain()
  const first = tokenIn(received.find(({ recipients }) => recipients.includes(email))?.text)
  await change(`x${email}`)
  await server.drain()
  expect((await confirm(first)).status).toBe(400)
  clock.advance(61 * 60_000)
  expect((await confirm(tokenIn(received.at(-1)?.text))).status).toBe(400)
  clock.advance(-61 * 60_000)
  expect(await signIn(person.email)).toBe(200)
})

it('with email, does not reveal whether another account has an address, and never gives it away', async () => {
  const taken = await makePerson(server, org.key)
  const { received } = await withMail()
  await server.drain()
  const before = received.length
  expect((await change(taken.email)).body).toEqual({ email: person.email, confirmationSent: true })
  // Another person may take the address before the link is opened.
  await change(email)
  await server.drain()
  expect(received.slice(before).map(({ recipients }) => recipients)).toEqual([[email]])
  await call('POST', '/v1/members', { key: org.key, body: { email, name: 'Quick', role: 'viewer' } })
  expect((await confirm(tokenIn(received[before]?.text))).status).toBe(409)
})

it('replaces a former link whether or not another account has the next address', async () => {
  const taken = await makePerson(server, org.key)
  const { received } = await withMail()
  for (const next of [taken.email, `x${email}`]) {
    await change(email)
    await server.drain()
    const former = tokenIn(received.findLast(({ recipients }) => recipients.includes(email))?.text)
    expect(former).not.toBe('')
    expect((await change(next)).status).toBe(200)
    expect((await confirm(former)).status, next).toBe(400)
  }
})

it('ends with the sessions: an earlier link confirms nothing', async () => {
  const { received } = await withMail()
  await change(email)
  await server.drain()
  const link = tokenIn(received.find(({ recipients }) => recipients.includes(email))?.text)
  expect((await call('POST', '/auth/sign-out-everywhere', { headers: person.headers })).status).toBeLessThan(300)
  expect((await confirm(link)).status).toBe(400)
  expect(await signIn(person.email)).toBe(200)
})

it('ends password links that were sent to the former address', async () => {
  const { received } = await withMail()
  await call('POST', '/auth/forgotten-password', { headers: elsewhere(), body: { email: person.email } })
  await server.drain()
  const reset = received.find(({ recipients }) => recipients.includes(person.email))
  const link = /^http:\S+$/m.exec(reset?.text ?? '')?.[0] ?? ''
  await change(email)
  await server.drain()
  const asked = received.find(({ recipients }) => recipients.includes(email))
  expect((await confirm(tokenIn(asked?.text))).status).toBe(200)
  const body = { ...acceptance(link), password: 'another one of them all' }
  expect((await call('POST', '/auth/invitation', { headers: elsewhere(), body })).status).toBe(400)
})

it('reveals nothing to an organization that invited the former address', async () => {
  const other = await makeOrganization(server)
  const { id } = (
    await call('POST', '/v1/members', { key: other.key, body: { email: person.email, name: 'Pia', role: 'viewer' } })
  ).body
  expect((await confirm(tokenIn(await linkTo(email)))).status).toBe(200)
  expect((await call('GET', `/v1/members`, { key: other.key })).body.data[0]).toMatchObject({ id, email: person.email })
  const { invitationUrl } = (await call('POST', `/v1/members/${id}/invitation`, { key: other.key })).body
  const { token } = acceptance(invitationUrl)
  const offer = await call('POST', '/auth/invitation/check', { headers: elsewhere(), body: { token } })
  expect(offer.body.email).toBe(person.email)
})

it('only lets the first person of an instance enter their address when they join', async () => {
  const owner = { email: `${randomUUID()}@localhost.localdomain`, name: 'Owner' }
  const body = { name: 'Acme', slug: `o-${randomUUID()}`, owner }
  const { invitationUrl, apiKey } = (await call('POST', '/v1/organizations', { key: serviceKey, body })).body
  const accept = (link: string, more: object) =>
    call('POST', '/auth/invitation', { headers: elsewhere(), body: { ...acceptance(link), ...more } })
  const { token } = acceptance(invitationUrl)
  const offer = await call('POST', '/auth/invitation/check', { headers: elsewhere(), body: { token } })
  expect(offer.body).toMatchObject({ email: owner.email, setsEmail: true })
  expect((await accept(invitationUrl, { email: person.email })).status).toBe(409)
  const joined = await accept(invitationUrl, { email: email.toUpperCase() })
  expect(joined).toMatchObject({ status: 200, body: { email } })
  expect((await call('GET', '/v1/me', { headers: { cookie: cookieOf(joined) } })).body.member.email).toBe(email)
  expect((await call('GET', '/v1/me', { key: apiKey.key })).body.member.email).toBe(email)
  expect(await signIn(email)).toBe(200)

  const invited = await makeMember(server, org.key, 'member')
  expect((await accept(invited.invitationUrl, { email: `y${email}` })).body.details.issues[0].path).toBe('email')
})
