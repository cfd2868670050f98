import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeConversation, makeOrganization } from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { type PlatformCall, serveCalls, syncKey } from '../../../test/support/integrations/call-apis.ts'
import { makeProvider, post } from '../../../test/support/integrations/signed-webhooks.ts'
import { startSyncs, sweepSyncs, syncCalls } from './jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call, clock, deps } = server

const minutes = (count: number) => count * 60_000
const ago = (count: number) => new Date(Math.floor((clock.now().getTime() - minutes(count)) / 1_000) * 1_000)
const madeCall = (minutesAgo: number, fields: Partial<PlatformCall> = {}): PlatformCall => ({
  id: `call-${randomUUID()}`,
  beganAt: ago(minutesAgo),
  ...fields,
})

const begin = async (provider: string, calls: PlatformCall[], fields: object = {}) => {
  const there = await serveCalls(provider, calls)
  const org = await makeOrganization(server)
  const integration = await makeProvider(server, org.key, provider)
  // The integration is deleted, so that its sync doesn't run in later tests.
  onTestFinished(async () => {
    await call('DELETE', `/v1/integrations/${integration.id}`, { key: org.key })
  })
  const path = `/v1/integrations/${integration.id}/sync`
  const body = { apiKey: syncKey, apiBaseUrl: there.url, lookbackDays: 1, ...fields }
  const put = (changes: object = {}) => call('PUT', path, { key: org.key, body: { ...body, ...changes } })
  expect(await put()).toMatchObject({ status: 200, body: { enabled: true, state: 'waiting', lastRun: null } })
  const get = async (rest = '') => (await call('GET', `${path}${rest}`, { key: org.key })).body
  const ids = async () =>
    (await call('GET', '/v1/conversations', { key: org.key })).body.data.map(
      (found: { externalId: string }) => found.externalId,
    )
  return { ...org, there, integration, path, put, get, ids }
}

const drain = (options: object = {}) =>
  deps.jobs.drain([syncCalls], deps, { delayed: true, allowFailures: true, ...options })

/** Runs the job that the schedule runs every minute. */
const tick = async () => {
  await deps.jobs.enqueue(deps.db, startSyncs, {})
  await deps.jobs.drain([startSyncs], deps)
  return drain()
}

describe.each(['elevenlabs', 'retell', 'vapi'])('%s', (provider) => {
  it('lists its calls page by page, and missing calls are fetched and stored like webhooks', async () => {
    const calls = Array.from({ length: provider === 'vapi' ? 53 : 5 }, (_, index) =>
      madeCall(60 + Math.floor(index / 2) * 3),
    )
    const { there, get, ids, integration, key } = await begin(provider, calls)
    const [known, ...lacking] = calls
    if (!known) throw new Error('there are calls')
    expect((await post(server, integration, there.webhook(known))).body.status).toBe('applied')

    const before = clock.now()
    await tick()
    expect((await ids()).length).toBe(Math.min(50, calls.length))
    expect(there.details()).toHaveLength(lacking.length)
    const counts = { listed: calls.length, stored: 1, filled: lacking.length, failed: 0, erased: 0 }
    const sync = await get()
    expect(sync).toMatchObject({
      state: 'waiting',
      completeUntil: before.toISOString(),
      openGaps: 0,
      lastRun: { status: 'completed', ...counts, unfinished: 0 },
      last30Days: counts,
    })
    expect(JSON.stringify(sync)).not.toContain(syncKey)
    expect((await call('GET', `/v1/integrations/${integration.id}`, { key })).body.sync).toMatchObject({ openGaps: 0 })

    // The call's webhook leads to the same conversation, and the next run fetches nothing.
    const late = await post(server, integration, there.webhook(lacking[0] ?? known))
    expect(['unchanged', 'applied']).toContain(late.body.status)
    clock.advance(minutes(16))
    await tick()
    expect(there.details()).toHaveLength(lacking.length)
    const { rows } = await sql<{ count: number }>`
      SELECT count(*) AS count FROM conversations
      WHERE external_id = ANY(${calls.map(({ id }) => id)}::text[])`.execute(deps.db)
    expect(rows).toEqual([{ count: calls.length }])
    expect((await get()).lastRun).toMatchObject({ status: 'completed', listed: 0, filled: 0 })
    expect((await get()).last30Days).toEqual(counts)

    const { data } = (await call('GET', `/v1/conversations?externalId=${lacking[0]?.id}`, { key })).body
    const transcript = await call('GET', `/v1/conversations/${data[0].id}/transcript`, { key })
    expect(transcript.body.turns.length).toBeGreaterThan(1)
  })

  it('leaves a call in progress, or just ended, for the next run; nothing before it counts as complete', async () => {
    const going = madeCall(30, { goesOn: true })
    const fresh = madeCall(3, { seconds: 120 })
    const { there, get, ids } = await begin(provider, [going, fresh])
    await tick()
    expect(await ids()).toEqual([])
    expect(await get()).toMatchObject({
      completeUntil: going.beganAt.toISOString(),
      openGaps: 0,
      lastRun: { listed: 2, unfinished: 2, filled: 0 },
    })
    expect((await get('/gaps?state=unfinished')).data).toHaveLength(2)
    clock.advance(minutes(16))
    await tick()
    expect(await ids()).toEqual([fresh.id])
    there.calls[0] = { ...going, goesOn: false, seconds: 600 }
    clock.advance(minutes(16))
    const at = clock.now()
    await tick()
    expect((await ids()).sort()).toEqual([going.id, fresh.id].sort())
    expect(await get()).toMatchObject({ completeUntil: at.toISOString(), lastRun: { filled: 1, listed: 0 } })
    expect((await get('/gaps')).data).toEqual([])
  })

  it('does not restore erased calls', async () => {
    const erased = madeCall(40)
    const { there, get, ids, integration, key } = await begin(provider, [erased])
    const { body } = await post(server, integration, there.webhook(erased))
    expect((await call('DELETE', `/v1/conversations/${body.conversationId}`, { key })).status).toBe(204)
    await tick()
    expect(there.details()).toEqual([])
    expect(await ids()).toEqual([])
    expect((await get()).lastRun).toMatchObject({ status: 'completed', listed: 1, erased: 1, filled: 0 })
  })
})

it('continues where it was when its worker dies between two calls, and counts each once', async () => {
  const calls = Array.from({ length: 5 }, (_, index) => madeCall(60 + index))
  const { there, get, ids } = await begin('retell', calls)
  const dying = {
    ...deps,
    outbound: {
      ...deps.outbound,
      request: (...asked: Parameters<typeof deps.outbound.request>) => {
        if (there.details().length === 3) throw new Error('the worker died')
        return deps.outbound.request(...asked)
      },
    },
  }
  await deps.jobs.enqueue(deps.db, startSyncs, {})
  await deps.jobs.drain([startSyncs], deps)
  const [died] = await deps.jobs.drain([syncCalls], dying, { allowFailures: true })
  expect(died).toMatchObject({ result: 'retried' })
  expect(await ids()).toHaveLength(3)
  expect((await get()).state).toBe('running')
  expect((await drain()).at(-1)).toMatchObject({ result: 'completed' })
  expect(await ids()).toHaveLength(5)
  expect(there.details()).toHaveLength(5)
  expect((await get()).lastRun).toMatchObject({ status: 'completed', listed: 5, filled: 5, stored: 0, failed: 0 })
})

it('a run with changed settings stores nothing more', async () => {
  const { there, get, ids, put } = await begin('retell', [madeCall(50), madeCall(40)])
  const meddled = {
    ...deps,
    outbound: {
      ...deps.outbound,
      request: async (...asked: Parameters<typeof deps.outbound.request>) => {
        const answer = await deps.outbound.request(...asked)
        if (there.details().length === 2) await put({ lookbackDays: 2 })
        return answer
      },
    },
  }
  await deps.jobs.enqueue(deps.db, startSyncs, {})
  await deps.jobs.drain([startSyncs], deps)
  expect(await deps.jobs.drain([syncCalls], meddled)).toMatchObject([{ result: 'completed' }])
  expect(await ids()).toHaveLength(1)
  expect(await get()).toMatchObject({
    state: 'waiting',
    completeUntil: new Date(clock.now().getTime() - minutes(2 * 24 * 60)).toISOString(),
    lastRun: { status: 'cancelled', filled: 1 },
  })
  await tick()
  expect(await ids()).toHaveLength(2)
  expect((await get()).lastRun).toMatchObject({ status: 'completed', stored: 1, filled: 1 })
})

it('a sync that cannot start does not block others', async () => {
  const first = await begin('retell', [madeCall(50)])
  clock.advance(1_000)
  const second = await begin('retell', [madeCall(50)])
  const enqueue: typeof deps.jobs.enqueue = async (...args) => {
    if ('organizationId' in args[2] && args[2].organizationId === first.id) throw new Error('of the first')
    return deps.jobs.enqueue(...args)
  }
  await deps.jobs.enqueue(deps.db, startSyncs, {})
  const failing = { ...deps, jobs: { ...deps.jobs, enqueue } }
  const outcomes = await deps.jobs.drain([startSyncs], failing, { allowFailures: true })
  expect(outcomes.map(({ error }) => error)).toContainEqual(new Error('of the first'))
  expect([(await first.get()).state, (await second.get()).state]).toEqual(['waiting', 'running'])
  await deps.jobs.drain([startSyncs], deps, { delayed: true })
  await drain()
  expect([(await first.ids()).length, (await second.ids()).length]).toEqual([1, 1])
})

it('an unavailable call stays visible with the reason, and is retried', async () => {
  const [broken, whole] = [madeCall(50), madeCall(40)]
  const { there, get, ids } = await begin('elevenlabs', [broken, whole])
  there.state.instead = (path) => (path.endsWith(broken.id) ? { status: 500 } : undefined)
  await tick()
  expect(await ids()).toEqual([whole.id])
  expect(await get()).toMatchObject({ openGaps: 1, lastRun: { status: 'completed', filled: 1, failed: 1 } })
  expect((await get('/gaps?state=failed')).data).toMatchObject([
    { externalId: broken.id, reason: 'The provider returned status 500.', attempts: 1 },
  ])
  there.state.instead = (path) => (path.endsWith(broken.id) ? { status: 200, body: '{"half":' } : undefined)
  clock.advance(minutes(31))
  await tick()
  expect((await get('/gaps')).data).toMatchObject([{ reason: 'The payload is not JSON.', attempts: 2 }])
  expect((await get()).last30Days).toMatchObject({ listed: 2, filled: 1, failed: 1 })
  delete there.state.instead
  clock.advance(minutes(120))
  await tick()
  expect(await get()).toMatchObject({ openGaps: 0, last30Days: { listed: 2, filled: 2, failed: 1 } })
})

it('a call that arrived another way is no longer a gap', async () => {
  const lacking = madeCall(50)
  const { there, get, integration, put } = await begin('retell', [lacking])
  there.state.instead = (path) => (path.includes('get-call') ? { status: 404 } : undefined)
  await tick()
  expect((await get('/gaps')).data).toMatchObject([{ reason: 'The provider returned status 404.' }])
  await put({ enabled: false })
  await post(server, integration, there.webhook(lacking))
  await deps.jobs.enqueue(deps.db, sweepSyncs, {})
  await deps.jobs.drain([sweepSyncs], deps)
  expect((await get('/gaps')).data).toEqual([])
})

it('the gap of a partly stored call stays, and is erased with the call', async () => {
  const lacking = madeCall(50)
  const { there, get, key } = await begin('retell', [lacking])
  there.state.instead = (path) => (path.includes('get-call') ? { status: 404 } : undefined)
  await tick()
  const { id } = await makeConversation(server, key, {
    externalId: lacking.id,
    startedAt: lacking.beganAt.toISOString(),
  })
  await deps.jobs.enqueue(deps.db, sweepSyncs, {})
  await deps.jobs.drain([sweepSyncs], deps)
  expect((await get('/gaps')).data).toMatchObject([{ externalId: lacking.id }])
  expect((await call('DELETE', `/v1/conversations/${id}`, { key })).status).toBe(204)
  expect((await get('/gaps')).data).toEqual([])
})

it('waits as long as a busy provider says', async () => {
  const { there, get, ids } = await begin('retell', [madeCall(30)])
  let refusals = 2
  there.state.instead = () => (refusals-- > 0 ? { status: 429, headers: { 'retry-after': '40' } } : undefined)
  await deps.jobs.enqueue(deps.db, startSyncs, {})
  await deps.jobs.drain([startSyncs], deps)
  expect(await deps.jobs.drain([syncCalls], deps)).toHaveLength(1)
  expect(there.asked).toHaveLength(1)
  const { rows } = await sql<{ seconds: number }>`
    SELECT extract(epoch FROM due_at - created_at)::float8 AS seconds FROM jobs
    WHERE name = ${syncCalls.name} AND state = 'delayed'`.execute(deps.db)
  expect(rows).toEqual([{ seconds: 40 }])
  await drain()
  expect(await ids()).toHaveLength(1)
  expect((await get()).lastRun.status).toBe('completed')
})

it('a failing provider is retried, then at longer intervals', async () => {
  const { there, get } = await begin('vapi', [madeCall(30)])
  there.state.instead = () => ({ status: 502 })
  const outcomes = await tick()
  expect(outcomes.at(-1)).toMatchObject({ result: 'dead' })
  const sync = await get()
  expect(sync).toMatchObject({
    state: 'waiting',
    lastRun: { status: 'failed', reason: 'The provider returned status 502.' },
  })
  expect(Date.parse(sync.nextRunAt) - clock.now().getTime()).toBe(minutes(30))
  expect(Date.parse(sync.completeUntil)).toBeLessThan(clock.now().getTime() - minutes(23 * 60))
})

it('a rejected key pauses the sync until it is replaced', async () => {
  const { there, get, put, path, key } = await begin('elevenlabs', [madeCall(30)])
  await put({ apiKey: 'a-wrong-key' })
  await tick()
  const paused = await get()
  expect(paused).toMatchObject({ state: 'paused', nextRunAt: null, pausedReason: expect.stringContaining('401') })
  expect(JSON.stringify([paused, server.logged])).not.toContain('a-wrong-key')
  const asked = there.asked.length
  clock.advance(minutes(24 * 60))
  await tick()
  expect(there.asked).toHaveLength(asked)
  expect((await call('POST', `${path}/run`, { key })).status).toBe(409)
  expect((await put()).body).toMatchObject({ state: 'waiting', pausedReason: null })
  await tick()
  expect((await get()).lastRun).toMatchObject({ status: 'completed' })
})

it('nothing runs for a suspended organization or a deleted integration', async () => {
  const { there, id, integration, key } = await begin('retell', [madeCall(30)])
  await call('POST', `/v1/organizations/${id}/suspend`, { key: serviceKey })
  await tick()
  expect(there.asked).toEqual([])
  await call('POST', `/v1/organizations/${id}/reactivate`, { key: serviceKey })
  await deps.jobs.enqueue(deps.db, startSyncs, {})
  await deps.jobs.drain([startSyncs], deps)
  expect((await call('DELETE', `/v1/integrations/${integration.id}`, { key })).status).toBe(204)
  expect(await drain()).toMatchObject([{ result: 'completed' }])
  expect(there.asked).toEqual([])
})

it('an invalid list, and a different call, change nothing', async () => {
  const { there, get, ids } = await begin('retell', [madeCall(30)])
  there.state.instead = (path) =>
    path.includes('list') ? undefined : { status: 200, body: JSON.stringify(there.webhook(madeCall(9)).call) }
  await tick()
  expect(await ids()).toEqual([])
  expect((await get('/gaps')).data).toMatchObject([{ reason: 'The provider returned a different call.' }])
  there.state.instead = () => ({ status: 200, body: '[]' })
  clock.advance(minutes(120))
  await tick()
  expect((await get('/runs')).data).toMatchObject([
    { status: 'failed', reason: 'The provider returned something other than a list of calls.' },
    { status: 'completed', failed: 1 },
  ])
})

it.each([
  ['again', 'The provider returned the same page twice.'],
  ['\0', 'The provider returned a cursor that cannot be stored.'],
  ['x'.repeat(20_000), 'The provider returned a cursor that cannot be stored.'],
])('a list that repeats pages ends the run, and changes nothing', async (pagination_key, reason) => {
  const { there, get } = await begin('retell', [])
  const { completeUntil } = await get()
  there.state.instead = () => ({ status: 200, body: JSON.stringify({ items: [], has_more: true, pagination_key }) })
  expect((await tick()).at(-1)).toMatchObject({ result: 'completed' })
  expect(there.asked.length).toBeLessThan(3)
  expect(await get()).toMatchObject({ completeUntil, state: 'waiting', lastRun: { status: 'failed', reason } })
})

it('a call that the key cannot access is a gap; if it can access none, the sync pauses', async () => {
  const calls = Array.from({ length: 8 }, (_, index) => madeCall(60 + index))
  const [hidden, ...others] = calls
  const { there, get, ids } = await begin('elevenlabs', calls)
  there.state.instead = (path) => (path.endsWith(`${hidden?.id}`) ? { status: 403 } : undefined)
  await tick()
  expect((await ids()).sort()).toEqual(others.map(({ id }) => id).sort())
  expect(await get()).toMatchObject({ state: 'waiting', lastRun: { status: 'completed', filled: 7, failed: 1 } })
  expect((await get('/gaps')).data).toMatchObject([
    { externalId: hidden?.id, reason: expect.stringContaining('(status 403)'), state: 'failed' },
  ])
  for (let index = 0; index < 8; index++) there.calls.push(madeCall(30 + index))
  there.state.instead = (path) => (/conversations\/./.test(path) ? { status: 403 } : undefined)
  clock.advance(minutes(16))
  await tick()
  expect(await get()).toMatchObject({ state: 'paused', pausedReason: expect.stringContaining('(status 403)') })
})
