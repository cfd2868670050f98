import { createHmac, randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { acceptance, cookieOf, elsewhere, makeOrganization, makePerson, password } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { invitationUrl, inviteMember } from '../../members/invitations/invite.ts'
import { dayMs } from '../../platform/durations.ts'
import { orgIdOf } from '../../platform/ids.ts'
import { sweepSessions } from '../jobs.ts'

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, deps } = server

let org: Awaited<ReturnType<typeof makeOrganization>>
let person: Awaited<ReturnType<typeof makePerson>>
beforeEach(async () => {
  org = await makeOrganization(server)
  person = await makePerson(server, org.key)
})

const wrong = 'not the one that is known'
const signIn = (email: string, given: string, cookie?: string) =>
  call('POST', '/auth/sign-in/email', {
    headers: { ...elsewhere(), ...(cookie && { cookie }) },
    body: { email, password: given },
  })

/** Makes sixty guesses at once, each from a different IP address. */
const guess = async (email: string) => {
  const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => signIn(email, `${wrong} ${i}`)))
  return answers.map(({ status }) => status)
}

/**
 * Expects that only a few attempts were checked. The first ten are free, and the pauses after them are short, so a few
 * more may be allowed on a slow machine.
 */
const expectFewOf = (statuses: number[], refused = 401) => {
  const tried = statuses.filter((status) => status === refused).length
  expect(tried).toBeGreaterThanOrEqual(10)
  expect(tried).toBeLessThan(15)
  expect(statuses.filter((status) => status === 429)).toHaveLength(statuses.length - tried)
}

/** Makes the pauses so long that they don't end during the test. */
const prolong = () =>
  sql`UPDATE sign_in_attempts SET blocked_until = now() + interval '1 hour' WHERE attempts >= 10`.execute(deps.db)

/** Returns the longest pause after an attempt, in seconds. */
const longestPause = async () => {
  const { rows } = await sql<{ seconds: number }>`
    SELECT max(extract(epoch FROM blocked_until - last_at))::float AS seconds FROM sign_in_attempts`.execute(deps.db)
  return Math.round(rows[0]?.seconds ?? 0)
}

/** Moves the times of all attempts back by an interval. */
const goBack = (interval: string) =>
  sql`UPDATE sign_in_attempts SET blocked_until = blocked_until - ${interval}::interval,
    last_at = last_at - ${interval}::interval`.execute(deps.db)

const deviceOf = (headers: Record<string, string>) =>
  (headers.cookie ?? '').split('; ').find((cookie) => cookie.startsWith('earshot.device=')) ?? ''

describe("guessing one account's password", () => {
  it('is slowed down however many IP addresses the guesses come from', async () => {
    expectFewOf(await guess(person.email))
    await prolong()
    const refused = await signIn(person.email, password)
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate limited' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_000)
  })

  it('looks the same for an unknown address', async () => {
    const nobody = `${randomUUID()}@example.com`
    expectFewOf(await guess(nobody))
    await guess(person.email)
    await prolong()
    const answers = await Promise.all([signIn(nobody, password), signIn(person.email, password)])
    const seen = answers.map(({ status, text }) => [status, text.replaceAll(/\d{4}/g, 'SECONDS')])
    expect(seen[0]).toEqual(seen[1])
    expect(seen[0]?.[0]).toBe(429)
  })

  it('doubles the pause, up to a minute, and is reset by a success or after a day', async () => {
    await sql`DELETE FROM sign_in_attempts`.execute(deps.db)
    for (let i = 0; i < 10; i++) expect((await signIn(person.email, wrong)).status).toBe(401)
    const pauses = [await longestPause()]
    for (let i = 0; i < 12; i++) {
      await goBack('15 minutes')
      expect((await signIn(person.email, wrong)).status).toBe(401)
      pauses.push(await longestPause())
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60, 60])
    await goBack('15 minutes')
    expect((await signIn(person.email, password)).status).toBe(200)
    expectFewOf(await guess(person.email))
    await goBack('25 hours')
    expectFewOf(await guess(person.email))
  })

  it('does not lock out a device that has signed in before, which has its own count', async () => {
    await guess(person.email)
    await prolong()
    const device = deviceOf(person.headers)
    expect((await signIn(person.email, password, device)).status).toBe(200)
    const failures = await Promise.all(Array.from({ length: 20 }, () => signIn(person.email, wrong, device)))
    expectFewOf(failures.map(({ status }) => status))
    await prolong()
    expect((await signIn(person.email, password, device)).status).toBe(429)
  })

  it('is not helped by a device that has not signed in for 90 days', async () => {
    const known = deviceOf(person.headers)
    const key = deps.secrets.derive('sign-in attempts')
    const account = createHmac('sha256', key).update(`account/${person.email}`).digest('base64')
    const endless = `earshot.device=${deps.secrets.seal('AAAA', `device/${account}`)}`
    await guess(person.email)
    await prolong()
    expect((await signIn(person.email, password, endless)).status).toBe(429)
    server.clock.advance(90 * dayMs)
    const late = signIn(person.email, password, known).finally(() => server.clock.advance(-90 * dayMs))
    expect((await late).status).toBe(429)
    const renewed = await signIn(person.email, password, known)
    expect(renewed.status).toBe(200)
    expect(deviceOf({ cookie: cookieOf(renewed) })).not.toBe(known)
  })

  it('is not helped by another account’s device, or by a forged one', async () => {
    const other = await makePerson(server, org.key)
    await guess(person.email)
    await prolong()
    for (const cookie of [deviceOf(other.headers), 'earshot.device=v1.AAAA', 'earshot.device=%']) {
      expect((await signIn(person.email, password, cookie)).status).toBe(429)
    }
  })

  it('ends with a password link', async () => {
    await guess(person.email)
    await prolong()
    const invite = inviteMember(deps.db, server.clock, orgIdOf(org.id), person.id, { byOperator: true })
    const link = invitationUrl(deps.baseUrl(), await invite)
    const body = { ...acceptance(link), password: 'another one of them all' }
    const set = await call('POST', '/auth/invitation', { headers: elsewhere(), body })
    expect(set.status).toBe(200)
    expect(deviceOf({ cookie: cookieOf(set) })).not.toBe('')
    expect((await signIn(person.email, body.password)).status).toBe(200)
  })

  it('counts guesses at other endpoints too', async () => {
    const stranger = await makeOrganization(server)
    const invite = { email: person.email, name: 'Pia', role: 'viewer' }
    const { invitationUrl: link } = (await call('POST', '/v1/members', { key: stranger.key, body: invite })).body
    const accept = () =>
      call('POST', '/auth/invitation', { headers: elsewhere(), body: { ...acceptance(link), password: wrong } })
    const change = () =>
      call('POST', '/auth/change-password', {
        headers: { ...person.headers, ...elsewhere() },
        body: { currentPassword: wrong, newPassword: 'another one of them all' },
      })
    for (const [attempt, refused] of [
      [accept, 401],
      [change, 400],
    ] as const) {
      const statuses = (await Promise.all(Array.from({ length: 30 }, attempt))).map(({ status }) => status)
      expectFewOf(statuses, refused)
    }
  })
})

it('records a failed sign-in in the audit log of every organization of the person', async () => {
  const other = await makeOrganization(server)
  const invite = { email: person.email, name: 'Pia', role: 'viewer' }
  const { invitationUrl: link } = (await call('POST', '/v1/members', { key: other.key, body: invite })).body
  await call('POST', '/auth/invitation', { headers: elsewhere(), body: acceptance(link) })
  const refused = await signIn(person.email, wrong)
  for (const { key } of [org, other]) {
    await expect
      .poll(async () => (await call('GET', '/v1/audit-events', { key })).body.data[0])
      .toMatchObject({
        action: 'session.refused',
        actor: { kind: 'user', userId: person.userId },
        targets: [{ type: 'user', id: person.userId }],
        requestId: refused.headers.get('x-request-id'),
      })
  }
  const { rows } = await sql<{ text: string }>`SELECT to_jsonb(t)::text AS text FROM sign_in_attempts t`.execute(
    deps.db,
  )
  expect(JSON.stringify(rows)).not.toContain(person.email)
})

it('counts failed sign-ins by reason, only as numbers', async () => {
  const count = async (reason: string) => {
    const text = await deps.metrics.registry.getSingleMetricAsString('earshot_sign_in_failures_total')
    return Number(new RegExp(`reason="${reason}"} (\\d+)`).exec(text)?.[1] ?? 0)
  }
  const before = await count('unknown_address')
  const email = `${randomUUID()}@example.com`
  await signIn(email, wrong)
  await expect.poll(() => count('unknown_address')).toBe(before + 1)
  expect(await deps.metrics.registry.metrics()).not.toContain(email)
})

it('deletes old attempts', async () => {
  const count = async () => (await deps.db.selectFrom('sign_in_attempts').select('key_hash').execute()).length
  await signIn(person.email, wrong)
  await goBack('25 hours')
  await signIn(`${randomUUID()}@example.com`, wrong)
  await deps.jobs.enqueue(deps.db, sweepSessions, {})
  await server.drain()
  expect(await count()).toBe(1)
})
