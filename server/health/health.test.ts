import { beforeEach, expect, it } from 'vitest'
import {
  makeConversations,
  makeKey,
  makeMonitor,
  makeOrganization,
  makeRecording,
  makeSyncedIntegration,
} from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import type { OrgId } from '../platform/db/database.ts'
import { newId } from '../platform/ids.ts'

const server = await testServer()
const { call, clock, deps } = server

let org: OrgId
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = made.id as OrgId
  key = made.key
})

type Check = { name: string; status: string; message: string; details: Record<string, unknown>[] }

const read = async (): Promise<{ status: string; checks: Check[] }> => (await call('GET', '/v1/health', { key })).body
const checkOf = async (name: string) => (await read()).checks.find((check) => check.name === name)

it('is ok in a new organization', async () => {
  const { status, checks } = await read()
  expect(status).toBe('ok')
  expect(checks.map(({ name }) => name)).toEqual([
    'ingestion',
    'evaluations',
    'judges',
    'judge_budget',
    'transcriptions',
    'alerts',
    'webhooks',
    'destinations',
    'syncs',
    'export_schedules',
    'jobs',
    'analytics',
    'storage',
    'processes',
    'clock',
  ])
  expect(checks[0]?.message).toBe('No conversation has arrived yet.')
})

it('says which monitors fail, and why', async () => {
  const { id: monitorId, name } = await makeMonitor(server, key)
  const startedAt = new Date(clock.now().getTime() - 60_000).toISOString()
  const ids = await makeConversations(
    server,
    key,
    Array.from({ length: 6 }, () => ({ startedAt })),
  )
  const results = ids.map((conversationId) => ({ monitorId, conversationId, result: 'affected' }))
  await call('POST', '/v1/monitor-results', { key, body: { results } })
  expect((await checkOf('evaluations'))?.status).toBe('ok')
  // A judge stores such results if its endpoint can't be reached.
  await deps.db
    .updateTable('monitor_results')
    .set({ status: 2, result: null, reasoning: 'The model endpoint responded with 503.' })
    .where('monitor_id', '=', monitorId)
    .execute()
  expect(await checkOf('evaluations')).toMatchObject({
    status: 'failing',
    message: '6 evaluations failed in the last day. The model endpoint responded with 503.',
    details: [{ id: monitorId, name, results: 6, failed: 6 }],
  })
  expect((await read()).status).toBe('failing')
})

it('tells viewers why results are missing, and nothing else', async () => {
  const { key: viewer } = await makeKey(server, key, 'viewer')
  const { status, body } = await call('GET', '/v1/health', { key: viewer })
  expect(status).toBe(200)
  expect(body.checks.map(({ name }: Check) => name)).toEqual(['ingestion', 'evaluations', 'judges'])
  expect(body.checks[0].details).toEqual([])
})

it('lists failed jobs, which admins retry or discard', async () => {
  const insert = async () => {
    const id = newId()
    const now = new Date()
    const job = { organization_id: org, id, name: 'test.failed', payload: '{}', state: 'dead', priority: 0 }
    await deps.db
      .insertInto('jobs')
      .values({ ...job, due_at: now, ended_at: now, error: 'It failed.' })
      .execute()
    return id
  }
  const [first, second] = [await insert(), await insert()]
  expect(await checkOf('jobs')).toMatchObject({ status: 'degraded', message: expect.stringContaining('2 jobs failed') })
  const { data } = (await call('GET', '/v1/failed-jobs', { key })).body
  expect(data.map(({ id, error }: { id: string; error: string }) => [id, error])).toEqual([
    [second, 'It failed.'],
    [first, 'It failed.'],
  ])
  const { key: memberKey } = await makeKey(server, key, 'member')
  expect((await call('GET', '/v1/failed-jobs', { key: memberKey })).status).toBe(403)
  expect((await call('POST', `/v1/failed-jobs/${first}/retry`, { key })).status).toBe(204)
  expect((await call('POST', `/v1/failed-jobs/${second}/discard`, { key })).status).toBe(204)
  expect((await call('GET', '/v1/failed-jobs', { key })).body.data).toEqual([])
  const left = await deps.db.selectFrom('jobs').select(['id', 'state']).where('name', '=', 'test.failed').execute()
  expect(left).toEqual([{ id: first, state: 'waiting' }])
  const other = await makeOrganization(server)
  expect((await call('POST', `/v1/failed-jobs/${first}/discard`, { key: other.key })).status).toBe(404)
})

it('notices that conversations stop arriving, and that an incident is open', async () => {
  await makeConversations(server, key, [{ startedAt: clock.now().toISOString() }])
  expect(await checkOf('ingestion')).toMatchObject({ status: 'ok', message: 'Conversations are arriving.' })
  clock.advance(25 * 3_600_000)
  expect(await checkOf('ingestion')).toMatchObject({ status: 'degraded' })
  clock.advance(-25 * 3_600_000)
  expect(await checkOf('alerts')).toMatchObject({ status: 'ok', message: 'No incident is open.' })
})

it('shows storage, processes with their versions, and how far the clocks differ', async () => {
  const { id } = await makeRecording(server, key)
  expect(id).toBeDefined()
  expect(await checkOf('storage')).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^Recordings take \d+ MB, /),
    details: [{ name: 'Recordings', bytes: expect.any(Number), addedBytes: expect.any(Number) }],
  })
  expect(await checkOf('processes')).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^\d+ process(es)? runs? version \d+\.\d+\.\d+\.$/),
  })
  expect(await checkOf('clock')).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/differ by [\d.]+ ms\.$/),
  })
})

it('counts calls that a provider sync could not fetch', async () => {
  const integrationId = await makeSyncedIntegration(server, key)
  const at = clock.now()
  const gap = { organization_id: org, integration_id: integrationId, state: 'failed', reason: 'Not found.' }
  await deps.db
    .insertInto('integration_sync_gaps')
    .values({
      ...gap,
      id: newId(),
      external_id: 'call-1',
      began_at: at,
      attempts: 8,
      found_at: at,
      tried_at: at,
      next_try_at: at,
    })
    .execute()
  expect(await checkOf('syncs')).toMatchObject({
    status: 'degraded',
    message: 'Provider syncs work. 1 call could not be fetched.',
    details: [{ id: integrationId, gaps: 1, reason: 'Not found.' }],
  })
})
