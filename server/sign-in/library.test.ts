import { expect, it } from 'vitest'
import { makeOrganization, makePerson, password } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { openLibrary } from './library.ts'

const server = await testServer()
const { call } = server

/** The paths that both this service and the library have. */
const taken = new Set(['/sign-in/email', '/sign-out', '/change-password'])

it('serves none of the library’s own endpoints', async () => {
  const { paths } = await openLibrary(server.deps)
  const { headers } = await makePerson(server, (await makeOrganization(server)).key)
  const others = paths.filter((path) => path !== undefined && !taken.has(path))
  // The list includes paths that this service must not offer, so that the test detects if one is renamed.
  for (const path of ['/sign-up/email', '/change-email', '/delete-user', '/list-sessions', '/update-user']) {
    expect(others).toContain(path)
  }
  for (const path of others) {
    for (const method of ['GET', 'POST']) {
      const answer = await call(method, `/auth${path}`, { headers, ...(method === 'POST' && { body: {} }) })
      expect(answer, path).toMatchObject({ status: 404, body: { error: 'not found' } })
    }
  }
})

it('allows no sign-up', async () => {
  const body = { email: 'eve@example.com', password, name: 'Eve' }
  expect((await call('POST', '/auth/sign-up/email', { body })).status).toBe(404)
  expect((await call('POST', '/auth/sign-in/email', { body: { email: body.email, password } })).status).toBe(401)
})
