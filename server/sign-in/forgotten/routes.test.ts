import { expect, it, onTestFinished } from 'vitest'
import {
  acceptance,
  cookieOf,
  elsewhere,
  makeMember,
  makeOrganization,
  makePerson,
  password,
} from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'
import { readSmtpUrl } from '../../platform/mail/smtp-url.ts'

const server = await testServer({ EARSHOT_BASE_URL: 'https://ears.example.com', EARSHOT_TRUST_PROXY: '1' })
const { call, deps, clock } = server

const withMail = async () => {
  const mailServer = await openMailServer()
  deps.config.smtp = readSmtpUrl(`smtp://127.0.0.1:${mailServer.port}`)
  onTestFinished(() => {
    deps.config.smtp = undefined
  })
  return mailServer
}

const forget = (email: string) => call('POST', '/auth/forgotten-password', { headers: elsewhere(), body: { email } })
const statusOf = async (cookie: string) => (await call('GET', '/v1/me', { headers: { cookie } })).status

it('sets a new password with an emailed link, and ends all sessions', async () => {
  const { received } = await withMail()
  const org = await makeOrganization(server)
  const person = await makePerson(server, org.key)
  expect((await forget(person.email.toUpperCase())).status).toBe(202)
  await server.drain()
  const [mail] = received.slice(-1)
  expect(mail?.recipients).toEqual([person.email])
  expect(mail?.headers.subject).toBe('Reset your Earshot password')
  const link = /^https:\S+$/m.exec(mail?.text ?? '')?.[0] ?? ''
  const body = { ...acceptance(link), password: 'another one of them all' }
  const set = await call('POST', '/auth/invitation', { body, headers: elsewhere() })
  expect(set.status).toBe(200)
  expect(await statusOf(person.headers.cookie ?? '')).toBe(401)
  expect(await statusOf(cookieOf(set))).toBe(200)
  const signIn = (given: string) =>
    call('POST', '/auth/sign-in/email', { headers: elsewhere(), body: { email: person.email, password: given } })
  expect([(await signIn(password)).status, (await signIn('another one of them all')).status]).toEqual([401, 200])
  const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
  expect(data.map(({ action }: { action: string }) => action)).toEqual(
    expect.arrayContaining(['user.forgetPassword', 'user.resetPassword']),
  )
})

it('returns the same and sends nothing for an unknown address, or one that has not joined', async () => {
  const { received } = await withMail()
  const org = await makeOrganization(server)
  const invited = await makeMember(server, org.key, 'member')
  const before = received.length
  const answers = [await forget('nobody@example.com'), await forget(invited.email)]
  expect(answers.map(({ status, text }) => [status, text])).toEqual([
    [202, ''],
    [202, ''],
  ])
  await server.drain()
  // The invitation itself still works.
  expect(received.slice(before).map(({ headers }) => headers.subject)).toEqual(['Your invitation to Earshot'])
})

it('sends one link per five minutes, and each lasts an hour', async () => {
  const { received } = await withMail()
  const org = await makeOrganization(server)
  const person = await makePerson(server, org.key)
  await server.drain()
  const before = received.length
  await forget(person.email)
  await forget(person.email)
  await server.drain()
  expect(received.length - before).toBe(1)
  const link = /^https:\S+$/m.exec(received.at(-1)?.text ?? '')?.[0] ?? ''
  clock.advance(61 * 60_000)
  expect((await call('POST', '/auth/invitation', { body: acceptance(link), headers: elsewhere() })).status).toBe(410)
  await forget(person.email)
  await server.drain()
  expect(received.length - before).toBe(2)
})

it('refers to the operator if email is not configured', async () => {
  expect(await forget('nobody@example.com')).toMatchObject({ status: 409, body: { error: 'conflict' } })
})

it('is limited by IP address', async () => {
  await withMail()
  const headers = elsewhere()
  const ask = () => call('POST', '/auth/forgotten-password', { headers, body: { email: 'nobody@example.com' } })
  const statuses = (await Promise.all(Array.from({ length: 14 }, ask))).map(({ status }) => status)
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(3)
})
