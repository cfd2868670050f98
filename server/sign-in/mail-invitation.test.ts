import { expect, it } from 'vitest'
import { makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

// A mail server that is set and never asked: what is to be sent waits for the jobs.
const server = await testServer({ EARSHOT_SMTP_URL: 'smtp://127.0.0.1:1' })

const invite = (key: string, number: number) =>
  server.call('POST', '/v1/members', {
    key,
    body: { email: `invited-${number}@example.com`, name: 'Ivy Invited', role: 'viewer' },
  })

it('an organization sends no more than a hundred invitations in an hour in the operator’s name', async () => {
  const [org, other] = [await makeOrganization(server), await makeOrganization(server)]
  for (let number = 0; number < 100; number++) expect((await invite(org.key, number)).status).toBe(201)
  const refused = await invite(org.key, 100)
  expect(refused).toMatchObject({ status: 429, body: { error: 'rate limited' } })
  expect(refused.headers.get('retry-after')).toBe('600')
  const listed = await server.call('GET', '/v1/members?limit=200', { key: org.key })
  expect(listed.body.data).toHaveLength(101)
  expect((await invite(other.key, 0)).status).toBe(201)
  server.clock.advance(3_600_001)
  expect((await invite(org.key, 100)).status).toBe(201)
})
