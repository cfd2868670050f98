import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { acceptance, elsewhere, makeMember, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openMailServer } from '../../../test/support/mail-server.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { queueMail } from '../../platform/mail/mail.ts'
import { readSmtpUrl } from '../../platform/mail/smtp-url.ts'

const server = await testServer({ EARSHOT_BASE_URL: 'https://ears.example.com' })
const { call, deps } = server

const withMail = async () => {
  const mailServer = await openMailServer()
  deps.config.smtp = readSmtpUrl(`smtp://127.0.0.1:${mailServer.port}`)
  onTestFinished(() => {
    deps.config.smtp = undefined
  })
  return mailServer
}
const countMails = async () => (await sql`SELECT 1 FROM mails`.execute(deps.db)).rows.length

it('an invitation and a renewed one are sent by email, with the same links as in the responses', async () => {
  const { received } = await withMail()
  const { key, organization } = await makeOrganization(server)
  const member = await makeMember(server, key, 'member')
  const renewed = await call('POST', `/v1/members/${member.id}/invitation`, { key })
  const { rows } = await sql<{ text: string }>`SELECT text FROM mails`.execute(deps.db)
  for (const { text } of rows) expect(text).not.toContain('welcome')
  await server.drain()
  expect(received).toHaveLength(2)
  for (const [index, url] of [member.invitationUrl, renewed.body.invitationUrl].entries()) {
    const { recipients, headers, text } = received[index] ?? {}
    expect(recipients).toEqual([member.email])
    expect(headers?.subject).toBe('Your invitation to Earshot')
    expect(text?.split('\n')).toContain(url)
    expect(text).toContain(`join ${organization.name} on`)
  }
  expect(server.logged.join()).not.toContain('welcome#')
  const link = /^https:\S+$/m.exec(received[1]?.text ?? '')?.[0] ?? ''
  const joined = await call('POST', '/auth/invitation', { body: acceptance(link), headers: elsewhere() })
  expect(joined.status).toBe(200)
})

it('a rejected invitation is not sent', async () => {
  const { received } = await withMail()
  const { key } = await makeOrganization(server)
  const { email } = await makeMember(server, key, 'member')
  const again = await call('POST', '/v1/members', { key, body: { email, name: 'Again', role: 'member' } })
  expect(again.status).toBe(409)
  await server.drain()
  expect(received).toHaveLength(1)
})

it('nothing is written without a mail server', async () => {
  const before = await countMails()
  const { key } = await makeOrganization(server)
  expect((await makeMember(server, key, 'member')).invitationUrl).toContain('/welcome#')
  expect(await countMails()).toBe(before)
})

it('an organization sends at most a hundred invitations per hour in the operator’s name', async () => {
  await withMail()
  const [org, other] = [await makeOrganization(server), await makeOrganization(server)]
  const invite = (key: string, number: number) => {
    const body = { email: `invited-${number}@example.com`, name: 'Ivy Invited', role: 'viewer' }
    return call('POST', '/v1/members', { key, body })
  }
  // Only invitations count toward the limit.
  const to = Array.from({ length: 100 }, (_, number) => `told-${number}@example.com`)
  await queueMail(deps, deps.db, orgIdOf(org.id), { to, subject: 'It moved', text: 'Up.' })
  for (let number = 0; number < 95; number++) expect((await invite(org.key, number)).status).toBe(201)
  const atOnce = await Promise.all(Array.from({ length: 10 }, (_, number) => invite(org.key, 95 + number)))
  expect(atOnce.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(5).fill(429)])
  const refused = await invite(org.key, 200)
  expect(refused).toMatchObject({ status: 429, body: { error: 'rate limited' } })
  expect(refused.headers.get('retry-after')).toBe('600')
  expect((await call('GET', '/v1/members?limit=200', { key: org.key })).body.data).toHaveLength(101)
  expect((await invite(other.key, 0)).status).toBe(201)
  server.clock.advance(3_600_001)
  expect((await invite(org.key, 200)).status).toBe(201)
})
