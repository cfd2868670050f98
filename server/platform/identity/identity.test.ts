import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { makeKey, makeMember, makeOrganization } from '../../../test/make.ts'
import { fakeClock, serviceKey, testServer } from '../../../test/server.ts'
import { countWaiting } from '../../../test/support/count-waiting.ts'
import { createApiKey } from '../../api-keys/create.ts'
import { openDeps, type ServiceDeps } from '../../deps.ts'
import { orgIdOf } from '../ids.ts'
import { openIdentity } from './identity.ts'

/**
 * Tests that changes in one process take effect in another one. A second set of dependencies on the same database acts
 * as the other process.
 */

const server = await testServer()
const { call, deps } = server
const { connection } = deps.database

const openSecond = () =>
  openDeps({ config: deps.config, log: deps.log, connection, applicationName: 'second', clock: fakeClock() })
const second = await openSecond()
afterAll(() => second.close())

let org: Awaited<ReturnType<typeof makeOrganization>>
beforeEach(async () => {
  org = await makeOrganization(server)
})

/** Returns how the other process identifies a key. */
const seenBy = async ({ identity }: Pick<ServiceDeps, 'identity'>, key: string) => {
  const known = await identity.resolve(key)
  if (known.kind !== 'key') return known.kind
  const { role, suspended, entitlements, features } = known.actor
  return { role, suspended, monitors: entitlements.monitors, phiMode: features.phiMode }
}
const asOwner = { role: 'owner', suspended: false, monitors: true, phiMode: false }
// A notification informs other processes. Otherwise, they would only reload after five seconds.
const within = { timeout: 4_000, interval: 10 }

describe('in another process, within a second', () => {
  it('a revoked key is unknown', async () => {
    const { id, key } = await makeKey(server, org.key, 'admin')
    expect(await seenBy(second, key)).toMatchObject({ role: 'admin' })
    await call('DELETE', `/v1/api-keys/${id}`, { key: org.key })
    await expect.poll(() => seenBy(second, key), within).toBe('unknown')
  })

  it('a suspension applies, and so does its end', async () => {
    expect(await seenBy(second, org.key)).toEqual(asOwner)
    await call('POST', `/v1/organizations/${org.id}/suspend`, { key: serviceKey })
    await expect.poll(() => seenBy(second, org.key), within).toEqual({ ...asOwner, suspended: true })
    await call('POST', `/v1/organizations/${org.id}/reactivate`, { key: serviceKey })
    await expect.poll(() => seenBy(second, org.key), within).toEqual(asOwner)
  })

  it('entitlements and features apply', async () => {
    expect(await seenBy(second, org.key)).toEqual(asOwner)
    const body = { entitlements: { monitors: false }, features: { phiMode: true } }
    await call('PATCH', `/v1/organizations/${org.id}`, { key: serviceKey, body })
    await expect.poll(() => seenBy(second, org.key), within).toEqual({ ...asOwner, monitors: false, phiMode: true })
  })

  it('a changed role applies, and a removed member’s key is unknown', async () => {
    const member = await makeMember(server, org.key, 'admin')
    const name = 'Own key'
    const { key } = await createApiKey(deps.db, deps.clock, orgIdOf(org.id), member.userId, { name, role: 'admin' })
    expect(await seenBy(second, key)).toMatchObject({ role: 'admin' })
    await call('PATCH', `/v1/members/${member.id}`, { key: org.key, body: { role: 'viewer' } })
    await expect.poll(() => seenBy(second, key), within).toMatchObject({ role: 'viewer' })
    await call('DELETE', `/v1/members/${member.id}`, { key: org.key })
    await expect.poll(() => seenBy(second, key), within).toBe('unknown')
  })
})

describe('if notifications are lost', () => {
  it('everything is read again as soon as they work again', async () => {
    const { id, key } = await makeKey(server, org.key, 'viewer')
    expect(await seenBy(second, key)).toMatchObject({ role: 'viewer' })
    await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name LIKE 'second % notices'`.execute(deps.db)
    await call('DELETE', `/v1/api-keys/${id}`, { key: org.key })
    await expect.poll(() => seenBy(second, key), { interval: 10 }).toBe('unknown')
    await expect.poll(() => second.listener.isConnected()).toBe(true)
  })

  it('a revoked key is unknown within five seconds', async () => {
    const deaf = { on: async () => {}, isConnected: () => false, close: async () => {} }
    const { db, clock, log } = deps
    const identity = await openIdentity({ db, listener: deaf, clock, log, serviceKey: undefined })
    const { id, key } = await makeKey(server, org.key, 'viewer')
    expect(await seenBy({ identity }, key)).toMatchObject({ role: 'viewer' })
    await call('DELETE', `/v1/api-keys/${id}`, { key: org.key })
    expect(await seenBy({ identity }, key)).toMatchObject({ role: 'viewer' })
    await expect.poll(() => seenBy({ identity }, key), { timeout: 9_000, interval: 50 }).toBe('unknown')
    await identity.close()
  })
})

it('a lookup is not cached if the key was revoked in the meantime', async () => {
  const { id, key } = await makeKey(server, org.key, 'viewer')
  let noticed = false
  await second.listener.on('earshot_identity', () => {
    noticed = true
  })
  const slow = await deps.db.startTransaction().execute()
  // Despite this lock, the key can be read, but not the person.
  await sql`LOCK TABLE members IN ACCESS EXCLUSIVE MODE`.execute(slow)
  const before = seenBy(second, key)
  await expect.poll(() => countWaiting(deps.db, 'select "members"')).toBe(1)
  await deps.identity.change(orgIdOf(org.id), (trx) =>
    trx.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', id).execute(),
  )
  await expect.poll(() => noticed).toBe(true)
  await slow.commit().execute()
  expect(await before).toMatchObject({ role: 'viewer' })
  expect(await seenBy(second, key)).toBe('unknown')
})

it('a failed change is no change', async () => {
  const before = await seenBy(deps, org.key)
  const failing = deps.identity.change(orgIdOf(org.id), async (trx) => {
    await trx.updateTable('organizations').set({ suspended_at: new Date() }).where('id', '=', org.id).execute()
    throw new Error('on purpose')
  })
  await expect(failing).rejects.toThrow('on purpose')
  expect(await seenBy(deps, org.key)).toEqual(before)
})

it('the configured service key is compared as text, whatever its format', async () => {
  expect(await deps.identity.resolve(serviceKey)).toEqual({ kind: 'service', keyId: null })
  expect(await deps.identity.resolve(`${serviceKey}x`)).toEqual({ kind: 'unknown' })
})
