// Creates all kinds of callers, with their credentials and their expected responses.
import { entitlementNames, featureNames, type Role, roles } from '../../server/platform/identity/actor.ts'
import { generateKey } from '../../server/platform/identity/keys.ts'
import { makeKey, makeOrganization, makePerson } from '../make.ts'
import type { Org } from '../operations.ts'
import { serviceKey, type TestServer } from '../server.ts'
import type { Rule } from './access-rules.ts'

/** `pass` means allowed. `own` means allowed for the caller's own resources, while those of others get 404. */
export type AccessOutcome = 'pass' | 'own' | 401 | 403 | 404 | 503

export type AccessCase = { rule: Rule; reads: boolean; hasId: boolean; namesEndpoint: boolean }

export type Caller = {
  column: string
  headers: Record<string, string>
  expected: (asked: AccessCase) => AccessOutcome
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** Expects that a caller has no permissions. `byRight` has the responses of operations that require one. */
const withoutRight =
  (byRight: { service: AccessOutcome; role: AccessOutcome }): Caller['expected'] =>
  ({ rule }) => {
    if (rule === 'anyone' || rule === 'visitor') return 'pass'
    if (rule === 'session' || rule === 'signature') return 401
    return rule === 'service' ? byRight.service : byRight.role
  }

const nobody = withoutRight({ service: 401, role: 401 })

const withRole =
  (role: Role, found: (asked: AccessCase) => AccessOutcome = () => 'pass'): Caller['expected'] =>
  (asked) => {
    const { rule } = asked
    if (typeof rule === 'string') return nobody(asked)
    return roles.indexOf(role) < roles.indexOf(rule.role) ? 403 : found(asked)
  }

/** Expects the permissions of a key with the role, and that the caller can also sign in and out. */
const signedIn = (role: Role): Caller['expected'] => {
  const byRole = withRole(role)
  return (asked) => (asked.rule === 'session' ? 'pass' : byRole(asked))
}

const elsewhere = (role: Role, origin: string | undefined): Caller['expected'] => {
  const atHome = signedIn(role)
  return (asked) => {
    if (asked.rule === 'visitor') return origin === undefined ? 'pass' : 403
    const bySession = asked.rule !== 'anyone' && asked.rule !== 'signature'
    return bySession && !asked.reads ? 403 : atHome(asked)
  }
}

/** Creates all callers, inside and outside of the organization that owns the requested resources. */
export const makeCallers = async (server: TestServer, home: Org): Promise<Caller[]> => {
  const { call } = server
  const callers: Caller[] = []
  const add = (column: string, headers: Record<string, string>, expected: Caller['expected']) =>
    callers.push({ column, headers, expected })
  const require = async (answer: ReturnType<typeof call>) => {
    const { status, text } = await answer
    if (status >= 400) throw new Error(`${status} ${text}`)
  }

  add('no key', {}, nobody)
  for (const authorization of ['Bearer', 'Bearer nonsense', `Bearer ${generateKey()}`, `Basic ${serviceKey}`]) {
    add('wrong key', { authorization }, nobody)
  }

  const expiring = await makeKey(
    server,
    home.key,
    'owner',
    new Date(server.clock.now().getTime() + 60_000).toISOString(),
  )
  server.clock.advance(60_000)
  const revoked = await makeKey(server, home.key, 'owner')
  await require(call('DELETE', `/v1/api-keys/${revoked.id}`, { key: home.key }))
  const leaver = await makePerson(server, home.key, 'admin')
  const made = await call('POST', '/v1/api-keys', { headers: leaver.headers, body: { name: 'Left', role: 'admin' } })
  await require(call('DELETE', `/v1/members/${leaver.id}`, { key: home.key }))
  const gone = await makePerson(server, home.key, 'owner')
  await require(call('POST', '/auth/sign-out', { headers: gone.headers, body: {} }))
  for (const key of [expiring.key, revoked.key, made.body.key]) add('ended', bearer(key), nobody)
  // The person still has an account and is signed in, but sees nothing of this organization.
  add('ended', leaver.headers, (asked) => (asked.rule === 'session' ? 'pass' : nobody(asked)))
  add('ended', gone.headers, nobody)

  add('service key', bearer(serviceKey), withoutRight({ service: 'pass', role: 403 }))
  const stranger = await makeOrganization(server)
  const foreign = withRole('owner', ({ hasId }) => (hasId ? 404 : 'own'))
  add('other organization', bearer(stranger.key), foreign)

  for (const role of roles) add(role, bearer((await makeKey(server, home.key, role)).key), withRole(role))
  for (const role of roles) {
    const { headers } = await makePerson(server, home.key, role)
    const { origin: _origin, ...withoutOrigin } = headers
    add('session', headers, signedIn(role))
    const evil = 'https://evil.example'
    add('session elsewhere', { ...withoutOrigin, origin: evil }, elsewhere(role, evil))
    if (role === 'owner') add('session elsewhere', withoutOrigin, elsewhere(role, undefined))
  }

  const asleep = await makeOrganization(server)
  const sleeper = await makePerson(server, asleep.key, 'owner')
  await require(call('POST', `/v1/organizations/${asleep.id}/suspend`, { key: serviceKey }))
  const suspended = withRole('owner', () => 403)
  add('suspended', bearer(asleep.key), suspended)
  add('suspended', sleeper.headers, (asked) => (asked.rule === 'session' ? 'pass' : suspended(asked)))

  for (const entitlement of entitlementNames) {
    const { key } = await makeOrganization(server, { entitlements: { [entitlement]: false } })
    const found = ({ rule }: AccessCase) =>
      typeof rule === 'object' && rule.entitlement === entitlement ? 403 : 'pass'
    add(`no ${entitlement}`, bearer(key), withRole('owner', found))
  }
  for (const feature of featureNames) {
    // This feature grants no permissions. It only changes how conversations are stored.
    if (feature === 'phiMode') continue
    const { key } = await makeOrganization(server, { features: { [feature]: false } })
    const refusal = feature === 'experimentsV2' ? 403 : 503
    const found = ({ rule, namesEndpoint }: AccessCase) => {
      if (feature === 'exportWebhooks') return namesEndpoint ? 403 : 'pass'
      return typeof rule === 'object' && rule.feature === feature ? refusal : 'pass'
    }
    add(`no ${feature}`, bearer(key), withRole('owner', found))
  }
  return callers
}
