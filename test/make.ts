import { randomInt, randomUUID } from 'node:crypto'
import type { Role } from '../server/platform/identity/actor.ts'
import { serviceKey, type TestServer } from './server.ts'

/** What tests need to exist, made through the interface like anyone would make it. */

const made = async <T>(answer: Promise<{ status: number; text: string; body: T }>): Promise<T> => {
  const { status, text, body } = await answer
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${text}`)
  return body
}

type Switches = { entitlements?: Record<string, boolean>; features?: Record<string, boolean> }

/** An organization of one's own, with a key of its owner. */
export const makeOrganization = async (server: TestServer, switches: Switches = {}) => {
  const name = `Organization ${randomUUID()}`
  const owner = { email: `${randomUUID()}@example.com`, name: 'Olga Owner' }
  const body = { name, slug: `o-${randomUUID()}`, owner, ...switches }
  const { organization, apiKey } = await made(server.call('POST', '/v1/organizations', { key: serviceKey, body }))
  return { id: organization.id as string, key: apiKey.key as string, keyId: apiKey.id as string, organization }
}

/** A key of a role, which acts for the maker of `key`. */
export const makeKey = async (server: TestServer, key: string, role: Role, expiresAt?: string) => {
  const body = { name: `A ${role}'s key`, role, ...(expiresAt && { expiresAt }) }
  const created = await made(server.call('POST', '/v1/api-keys', { key, body }))
  return { id: created.id as string, key: created.key as string }
}

export const makeMember = (server: TestServer, key: string, role: Role) =>
  made(
    server.call('POST', '/v1/members', {
      key,
      body: { email: `${randomUUID()}@example.com`, name: 'Max Member', role },
    }),
  )

export const makeAgent = (server: TestServer, key: string, fields: object = {}) =>
  made(server.call('POST', '/v1/agents', { key, body: { name: 'Leo', channel: 'voice', ...fields } }))

export const makeAgentVersion = (server: TestServer, key: string, agentId: string, systemPrompt = 'You are Leo.') =>
  made(server.call('POST', `/v1/agents/${agentId}/versions`, { key, body: { systemPrompt } }))

export const makeAgentGroup = (server: TestServer, key: string, name = `Group ${randomUUID()}`) =>
  made(server.call('POST', '/v1/agent-groups', { key, body: { name } }))

export const makeCompany = (server: TestServer, key: string, name = 'Acme Dental') =>
  made(server.call('POST', '/v1/companies', { key, body: { name } }))

/** The password of everyone whom tests make. */
export const password = 'correct horse battery staple'

/**
 * An address of one's own, which a server with EARSHOT_TRUST_PROXY=1 believes: attempts to sign in are counted by
 * address.
 */
export const elsewhere = () => ({ 'x-forwarded-for': Array.from({ length: 4 }, () => randomInt(1, 255)).join('.') })

/** The body that accepts an invitation. */
export const acceptance = (invitationUrl: string) => ({
  token: new URL(invitationUrl).hash.slice(1),
  name: 'Pia Person',
  password,
})

/** The Cookie header that a browser would send after an answer. */
export const cookieOf = ({ headers }: { headers: Headers }): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')

/** A member who has joined and is signed in. The headers are those of a page of this origin. */
export const makePerson = async (server: TestServer, key: string, role: Role = 'member', from = elsewhere()) => {
  const member = await makeMember(server, key, role)
  const body = acceptance(member.invitationUrl)
  const joined = await server.call('POST', '/auth/invitation', { body, headers: from })
  if (joined.status !== 200) throw new Error(`expected 200, got ${joined.status}: ${joined.text}`)
  const headers: Record<string, string> = { ...from, origin: server.origin, cookie: cookieOf(joined) }
  return { id: member.id as string, userId: member.userId as string, email: member.email as string, headers }
}
