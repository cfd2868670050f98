import { beforeEach, describe, expect, it } from 'vitest'
import { acceptance, cookieOf, elsewhere, makeMember, makeOrganization, makePerson, password } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { invitationUrl, inviteMember } from '../members/invitations/invite.ts'
import { orgIdOf } from '../platform/ids.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock, deps } = server
const newPassword = 'a wholly different one'

let org: Awaited<ReturnType<typeof makeOrganization>>
beforeEach(async () => {
  org = await makeOrganization(server)
})

const linkByOperator = async (memberId: string, { id } = org) => {
  const invite = inviteMember(deps.db, clock, orgIdOf(id), memberId, { byOperator: true })
  return invitationUrl(deps.baseUrl(), await invite)
}
const post = (path: string, body: unknown) => call('POST', path, { body, headers: elsewhere() })
const accept = (link: string, change = {}) => post('/auth/invitation', { ...acceptance(link), ...change })
const check = (link: string) => post('/auth/invitation/check', { token: acceptance(link).token })
const signIn = async (email: string, given: string) =>
  (await post('/auth/sign-in/email', { email, password: given })).status
const statusOfMe = async (headers: Record<string, string>) => (await call('GET', '/v1/me', { headers })).status
const invite = (key: string, email: string, role = 'viewer') =>
  call('POST', '/v1/members', { key, body: { email, name: 'Invited', role } })

describe('a link of the operator', () => {
  it('gives members a new password, once, and ends all their sessions', async () => {
    const person = await makePerson(server, org.key, 'admin')
    const other = await makeOrganization(server)
    const there = await accept((await invite(other.key, person.email)).body.invitationUrl)
    const sessions = [person.headers, { cookie: cookieOf(there) }]
    for (const headers of sessions) expect(await statusOfMe(headers)).toBe(200)

    const link = await linkByOperator(person.id)
    expect((await check(link)).body).toMatchObject({ email: person.email, setsPassword: true })
    expect((await accept(link, { password: 'elevenchars' })).body.details.issues[0].path).toBe('password')
    const accepted = await accept(link, { password: newPassword })
    expect(accepted).toMatchObject({ status: 200, body: { userId: person.userId, organizationId: org.id } })

    expect(await statusOfMe({ cookie: cookieOf(accepted) })).toBe(200)
    for (const headers of sessions) expect(await statusOfMe(headers)).toBe(401)
    expect([await signIn(person.email, password), await signIn(person.email, newPassword)]).toEqual([401, 200])
    for (const again of [await accept(link), await check(link)]) expect(again.status).toBe(410)
    const { data } = (await call('GET', '/v1/audit-events', { key: org.key })).body
    const reset = data.filter(({ action }: { action: string }) => action === 'user.resetPassword')
    expect(reset).toMatchObject([{ actor: { userId: person.userId }, requestId: accepted.headers.get('x-request-id') }])
    const joins = data.filter(({ action }: { action: string }) => action === 'member.join')
    expect(joins).toHaveLength(1)
  })

  it('restores an address that another organization took first', async () => {
    const owner = (await call('GET', '/v1/me', { key: org.key })).body.member
    const renewed = await call('POST', `/v1/members/${owner.id}/invitation`, { key: org.key })
    const evil = await makeOrganization(server)
    const taken = await accept((await invite(evil.key, owner.email)).body.invitationUrl, { name: 'Taker' })
    expect(taken.status).toBe(200)
    expect((await accept(renewed.body.invitationUrl, { password: newPassword })).status).toBe(401)

    const link = await linkByOperator(owner.id)
    const accepted = await accept(link, { password: newPassword, name: 'Olga' })
    expect(accepted).toMatchObject({ status: 200, body: { email: owner.email, organizationId: org.id } })
    const me = await call('GET', '/v1/me', { headers: { cookie: cookieOf(accepted) } })
    expect(me.body).toMatchObject({ role: 'owner', member: { status: 'active', name: 'Olga' } })
    expect(await statusOfMe({ cookie: cookieOf(taken) })).toBe(401)
    expect(await signIn(owner.email, password)).toBe(401)
    // The person's names in other organizations do not change.
    const members = (await call('GET', '/v1/members', { key: evil.key })).body.data
    expect(members[0]).toMatchObject({ email: owner.email, name: 'Taker' })
    expect(accepted.body.name).toBe('Taker')
  })

  it('creates an account like any invitation', async () => {
    const member = await makeMember(server, org.key, 'member')
    const accepted = await accept(await linkByOperator(member.id))
    expect(accepted).toMatchObject({ status: 200, body: { email: member.email, name: 'Pia Person' } })
  })

  it('ends after seven days', async () => {
    const { id, email } = await makePerson(server, org.key)
    const link = await linkByOperator(id)
    clock.advance(7 * 24 * 60 * 60 * 1_000)
    expect((await accept(link, { password: newPassword })).status).toBe(410)
    clock.advance(-7 * 24 * 60 * 60 * 1_000)
    expect(await signIn(email, password)).toBe(200)
  })

  it('sets one password for two people who open it at the same time', async () => {
    const { id, email } = await makePerson(server, org.key)
    const link = await linkByOperator(id)
    const given = [newPassword, `${newPassword} still`]
    const answers = await Promise.all(given.map((chosen) => accept(link, { password: chosen })))
    const statuses = answers.map(({ status }) => status)
    expect([...statuses].sort()).toEqual([200, 410])
    const expected = statuses.map((status) => (status === 200 ? 200 : 401))
    expect([await signIn(email, given[0] as string), await signIn(email, given[1] as string)]).toEqual(expected)
  })
})

describe('an invitation by an organization', () => {
  it('never replaces an existing password, even if it replaced the operator’s link', async () => {
    const { email } = await makePerson(server, (await makeOrganization(server)).key)
    const { id, invitationUrl: first } = (await invite(org.key, email)).body
    const byOperator = await linkByOperator(id)
    expect((await accept(first)).status).toBe(400)
    const fresh = (await call('POST', `/v1/members/${id}/invitation`, { key: org.key })).body.invitationUrl
    expect((await accept(byOperator, { password: newPassword })).status).toBe(400)
    expect((await check(fresh)).body.setsPassword).toBe(false)
    expect((await accept(fresh, { password: newPassword })).status).toBe(401)
    expect(await signIn(email, newPassword)).toBe(401)
    expect((await accept(fresh)).status).toBe(200)
  })
})
