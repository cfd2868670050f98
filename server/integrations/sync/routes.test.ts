import { sql } from 'kysely'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { makeProvider } from '../../../test/support/integrations/signed-webhooks.ts'
import { dayMs } from '../../platform/durations.ts'
import { syncCalls } from './jobs.ts'

const server = await testServer()
const { call, clock, deps } = server

let key: string
let path: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
  path = `/v1/integrations/${(await makeProvider(server, key, 'retell')).id}/sync`
})

const put = (body: object) => call('PUT', path, { key, body })
const apiKey = 'a-key-of-retell'

describe('the settings of a sync', () => {
  it('are created, shown without the key, changed, and deleted', async () => {
    expect((await call('GET', path, { key })).status).toBe(404)
    const made = await put({ apiKey })
    expect(made.status).toBe(200)
    expect(made.body).toEqual({
      enabled: true,
      state: 'waiting',
      pausedReason: null,
      apiBaseUrl: null,
      intervalMinutes: 15,
      lookbackDays: 7,
      completeUntil: new Date(clock.now().getTime() - 7 * dayMs).toISOString(),
      nextRunAt: clock.now().toISOString(),
      openGaps: 0,
      lastRun: null,
      last30Days: { listed: 0, stored: 0, filled: 0, failed: 0, erased: 0 },
    })
    const { rows } = await sql`SELECT * FROM integration_syncs`.execute(deps.db)
    expect(JSON.stringify([made.body, rows])).not.toContain(apiKey)

    clock.advance(60_000)
    const changed = await put({ enabled: false, intervalMinutes: 5 })
    expect(changed.body).toMatchObject({ state: 'off', nextRunAt: null, completeUntil: made.body.completeUntil })
    const further = await put({ lookbackDays: 90 })
    expect(Date.parse(further.body.completeUntil)).toBe(clock.now().getTime() - 90 * dayMs)

    expect((await call('DELETE', path, { key })).status).toBe(204)
    expect((await call('GET', path, { key })).status).toBe(404)
    expect((await call('DELETE', path, { key })).status).toBe(404)
  })

  it.each([
    [{}, 'apiKey'],
    [{ apiKey: 'two words' }, 'apiKey'],
    [{ apiKey, intervalMinutes: 4 }, 'intervalMinutes'],
    [{ apiKey, intervalMinutes: 1_441 }, 'intervalMinutes'],
    [{ apiKey, lookbackDays: 91 }, 'lookbackDays'],
    [{ apiKey, apiBaseUrl: 'http://api.retellai.com' }, 'apiBaseUrl'],
    [{ apiKey, apiBaseUrl: 'https://169.254.169.254' }, 'apiBaseUrl'],
    [{ apiKey, apiBaseUrl: 'http://127.0.0.1:1' }, 'apiBaseUrl'],
    [{ apiKey, apiBaseUrl: 'https://localhost' }, 'apiBaseUrl'],
    [{ apiKey, apiBaseUrl: 'https://[::1]' }, 'apiBaseUrl'],
    [{ apiKey, apiBaseUrl: 'https://user:word@api.retellai.com' }, 'apiBaseUrl'],
    [{ apiKey, apiBaseUrl: 'https://api.retellai.com/?to=' }, 'apiBaseUrl'],
  ])('%j is rejected', async (body, fault) => {
    const { status, body: told } = await put(body)
    expect(status).toBe(400)
    expect(told.details.issues).toMatchObject([{ path: fault }])
    expect((await call('GET', path, { key })).status).toBe(404)
  })

  it('never send a stored key to another address', async () => {
    await put({ apiKey })
    const refused = await put({ apiBaseUrl: 'https://thief.example.net' })
    expect(refused).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'apiKey' }] } } })
    expect((await put({ apiKey, apiBaseUrl: 'https://eu.retellai.com' })).status).toBe(200)
    expect((await put({})).status).toBe(400)
  })

  it('start over with another key or URL, because the list may be of another account', async () => {
    const daysAgo = (days: number) => new Date(clock.now().getTime() - days * dayMs).toISOString()
    const listedUntil = (days: number) =>
      sql`UPDATE integration_syncs SET listed_until = ${daysAgo(days)}::timestamptz`.execute(deps.db)
    await put({ apiKey })
    await listedUntil(0)
    expect((await put({ apiKey })).body.completeUntil).toBe(daysAgo(0))
    expect((await put({ apiKey: 'another-key' })).body.completeUntil).toBe(daysAgo(7))
    await listedUntil(0)
    const moved = { apiKey: 'another-key', apiBaseUrl: 'https://eu.retellai.com' }
    expect((await put(moved)).body.completeUntil).toBe(daysAgo(7))
    // The sync had fallen behind because its key was rejected. Calls from that period are still listed.
    await listedUntil(20)
    expect((await put({ ...moved, apiKey })).body.completeUntil).toBe(daysAgo(20))
    await sql`UPDATE integration_syncs SET api_key = 'sealed under another key of the service'`.execute(deps.db)
    expect((await put({ ...moved, apiKey })).status).toBe(200)
  })

  it('are rejected for a provider without a list of calls', async () => {
    const { id } = await makeProvider(server, key, 'livekit')
    const answer = await call('PUT', `/v1/integrations/${id}/sync`, { key, body: { apiKey } })
    expect(answer).toMatchObject({ status: 409, body: { message: expect.stringContaining('livekit') } })
    expect((await call('GET', `/v1/integrations/${id}`, { key })).body.sync).toBeNull()
  })
})

describe('a manual run', () => {
  it('starts immediately and once, and changed settings cancel it', async () => {
    await put({ apiKey })
    const first = await call('POST', `${path}/run`, { key })
    expect(first).toMatchObject({
      status: 202,
      body: { state: 'running', lastRun: { status: 'running', endedAt: null } },
    })
    const second = await call('POST', `${path}/run`, { key })
    expect(second.body.lastRun.id).toBe(first.body.lastRun.id)
    await put({ enabled: false })
    const { data } = (await call('GET', `${path}/runs`, { key })).body
    expect(data).toMatchObject([
      { id: first.body.lastRun.id, status: 'cancelled', reason: 'The settings were changed.' },
    ])
    expect((await call('POST', `${path}/run`, { key })).status).toBe(409)
    // The cancelled run's job has nothing to do.
    expect(await deps.jobs.drain([syncCalls], deps)).toMatchObject([{ result: 'completed' }])
  })
})

it('a host name in the private network is rejected and pauses the sync', async () => {
  await put({ apiKey, apiBaseUrl: 'https://localhost.localtest.me' })
  const inside = {
    ...deps,
    outbound: {
      ...deps.outbound,
      request: () => deps.outbound.request('https://127.0.0.1:1/', { method: 'GET', maxBytes: 1, timeoutMs: 1_000 }),
    },
  }
  await call('POST', `${path}/run`, { key })
  await deps.jobs.drain([syncCalls], inside)
  expect((await call('GET', path, { key })).body).toMatchObject({
    state: 'paused',
    pausedReason: expect.stringContaining('does not have a public address'),
  })
})

it('runs and gaps are paged', async () => {
  await put({ apiKey })
  for (let i = 0; i < 3; i++) {
    await call('POST', `${path}/run`, { key })
    await put({})
  }
  const first = (await call('GET', `${path}/runs?limit=2`, { key })).body
  expect(first.data).toHaveLength(2)
  const rest = (await call('GET', `${path}/runs?limit=2&cursor=${first.nextCursor}`, { key })).body
  expect(rest).toMatchObject({ data: [{ status: 'cancelled' }], nextCursor: null })
  expect((await call('GET', `${path}/gaps?limit=2&cursor=${first.nextCursor}`, { key })).status).toBe(400)
})
