import { expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeMonitor, makeOrganization, makePerson } from '../../../test/make.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { openTestBucket } from '../../../test/support/exports/customer-bucket.ts'
import { callsIn, hourMs, minuteMs, schedulesOf } from '../../../test/support/exports/schedules.ts'
import { wideScorecards } from '../../../test/support/exports/wide-scorecards.ts'
import { openReceiver } from '../../../test/support/webhooks/receiver.ts'
import { jobList } from '../../worker.ts'
import { planRuns } from '../jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { call, clock, deps } = server
const { plan, work, toNextHour, makeSchedule, makeCall, read, runsOf, runNow } = schedulesOf(server)

it('runs since the last one contain each call once, across missed and failed runs', async () => {
  const { store, destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  toNextHour()
  const { id, monitorId } = await makeSchedule(key, { destination })
  let count = 0
  const passHour = async () => {
    clock.advance(30 * minuteMs)
    // The boundary is ten minutes before the hour, and calls start on both sides of it.
    for (const ago of [0, 1, 10]) await makeCall(key, monitorId, `call-${++count}`, ago * minuteMs)
    clock.advance(20 * minuteMs)
    await makeCall(key, monitorId, `call-${++count}`, 1)
    await makeCall(key, monitorId, `call-${++count}`, 0)
    clock.advance(10 * minuteMs)
  }
  await passHour()
  await work()
  await passHour()
  store.state.fault = (line) => (line.startsWith('PUT') ? 'AccessDenied' : undefined)
  await work()
  expect((await runsOf(key, id))[0]).toMatchObject({ status: 'failed', error: expect.stringContaining('denied') })
  store.state.fault = () => undefined
  // Three hours pass in which no worker runs.
  for (let hour = 0; hour < 3; hour++) await passHour()
  await work()
  clock.advance(hourMs)
  await work()
  const runs = await runsOf(key, id)
  expect(runs.map(({ status }: { status: string }) => status)).toEqual([
    'succeeded',
    'succeeded',
    'failed',
    'succeeded',
  ])
  const [last, third, , first] = runs
  expect([third.since, last.since]).toEqual([first.until, third.until])
  expect(callsIn(store).sort()).toEqual(Array.from({ length: count }, (_, at) => `call-${at + 1}`).sort())
  expect(await read(key, id)).toMatchObject({ consecutiveFailures: 0, coveredUntil: last.until, lastRun: last })
})

it('runs are created once however often the job runs, and are ordinary exports', async () => {
  const { destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id } = await makeSchedule(key, { destination, window: { kind: 'last', hours: 24 } })
  toNextHour()
  await Promise.all([deps.jobs.enqueue(deps.db, planRuns, {}), deps.jobs.enqueue(deps.db, planRuns, {})])
  await Promise.all([deps.jobs.drain([planRuns], deps), deps.jobs.drain([planRuns], deps)])
  await plan()
  const [run, ...others] = await runsOf(key, id)
  expect(others).toEqual([])
  const { data } = (await call('GET', '/v1/monitor-exports', { key })).body
  expect(data).toMatchObject([
    {
      id: run.exportId,
      scheduleId: id,
      scheduleName: 'Hourly refunds',
      config: { since: run.since, until: run.until },
    },
  ])
  // No other run starts while this one is unfinished. Afterwards, one run replaces all missed runs.
  expect((await runNow(key, id)).status).toBe(409)
  clock.advance(5 * hourMs)
  await plan()
  expect(await runsOf(key, id)).toHaveLength(1)
  await work()
  await work()
  expect(await runsOf(key, id)).toHaveLength(2)
})

it('manual runs start immediately, paused or not, unless there is no settled period', async () => {
  const { destination, store } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id } = await makeSchedule(key, { destination })
  expect((await runNow(key, id)).status).toBe(409)
  await call('PATCH', `/v1/export-schedules/${id}`, { key, body: { status: 'paused' } })
  expect(await read(key, id)).toMatchObject({ status: 'paused', pauseReason: 'by_hand', nextRunAt: null })
  clock.advance(3 * hourMs)
  await work()
  expect(await runsOf(key, id)).toEqual([])
  expect((await runNow(key, id)).body).toMatchObject({ status: 'generating', manual: true })
  await work()
  expect(await runsOf(key, id)).toMatchObject([{ status: 'succeeded', attempts: 1 }])
  expect(store.objects.size).toBe(1)
})

it('manual runs replace the one that is due at the same time', async () => {
  const { destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id } = await makeSchedule(key, { destination, window: { kind: 'last', hours: 1 } })
  toNextHour()
  expect((await runNow(key, id)).status).toBe(202)
  await deps.jobs.drain(jobList, deps)
  expect((await runNow(key, id)).status).toBe(409)
  await work()
  expect(await runsOf(key, id)).toMatchObject([{ status: 'succeeded', manual: true }])
  clock.advance(hourMs)
  await work()
  expect(await runsOf(key, id)).toMatchObject([{ status: 'succeeded', manual: false }, { manual: true }])
})

it('runs wait while exports are disabled or the organization is suspended', async () => {
  const { key, id: org } = await makeOrganization(server)
  const { destination } = await openTestBucket()
  const { id } = await makeSchedule(key, { destination })
  const change = (path: string, body?: object) =>
    call(body ? 'PATCH' : 'POST', `/v1/organizations/${org}${path}`, { key: serviceKey, ...(body && { body }) })
  clock.advance(3 * hourMs)
  await change('', { features: { monitorExports: false } })
  await work()
  expect((await call('GET', '/v1/export-schedules', { key })).status).toBe(503)
  await change('', { features: { monitorExports: true } })
  await change('/suspend')
  await work()
  await change('/reactivate')
  expect(await runsOf(key, id)).toEqual([])
  await work()
  expect(await runsOf(key, id)).toHaveLength(1)
})

it('failed runs pause the schedule after five failures, with a reason', async () => {
  const receiver = await openReceiver(200)
  const { destination, store } = await openTestBucket()
  const { key } = await makeOrganization(server)
  await makeActiveWebhookEndpoint(server, key, { url: receiver.url, events: ['export_schedule.paused'] })
  const { id } = await makeSchedule(key, { destination, window: { kind: 'last', hours: 1 } })
  store.state.fault = () => 'NoSuchBucket'
  for (let run = 0; run < 7; run++) {
    clock.advance(hourMs)
    await work()
  }
  expect(await runsOf(key, id)).toHaveLength(5)
  const paused = await read(key, id)
  expect(paused).toMatchObject({
    status: 'paused',
    pauseReason: 'failing',
    consecutiveFailures: 5,
    lastRun: { status: 'failed', error: 'The bucket does not exist.' },
  })
  expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
    {
      type: 'export_schedule.paused',
      data: { id, status: 'paused', lastRun: { error: 'The bucket does not exist.' } },
    },
  ])
  expect(receiver.received[0]?.body).not.toContain(destination.secretAccessKey)
  store.state.fault = () => undefined
  const resumed = await call('PATCH', `/v1/export-schedules/${id}`, { key, body: { status: 'active' } })
  expect(resumed.body).toMatchObject({ status: 'active', pauseReason: null, consecutiveFailures: 0 })
  clock.advance(hourMs)
  await work()
  expect((await runsOf(key, id))[0].status).toBe('succeeded')
})

it('runs fail if something they refer to was deleted, or their owner left', async () => {
  const { destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id, monitorId } = await makeSchedule(key, { destination, window: { kind: 'last', hours: 1 } })
  await call('DELETE', `/v1/monitors/${monitorId}`, { key })
  clock.advance(hourMs)
  await work()
  expect(await runsOf(key, id)).toMatchObject([
    { status: 'failed', exportId: null, error: expect.stringContaining('was deleted') },
  ])
  const { headers, id: memberId } = await makePerson(server, key, 'admin')
  const body = {
    window: { kind: 'last', hours: 2 },
    config: { monitors: [{ id: (await makeMonitor(server, key)).id }], timezone: 'UTC' },
  }
  expect((await call('PATCH', `/v1/export-schedules/${id}`, { headers, body })).status).toBe(200)
  await call('DELETE', `/v1/members/${memberId}`, { key })
  clock.advance(hourMs)
  await work()
  expect(await read(key, id)).toMatchObject({ status: 'paused', pauseReason: 'owner_left', consecutiveFailures: 2 })
})

it('runs fail with the number of columns if scorecards have grown too large', async () => {
  const { destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { make, change } = await wideScorecards(server, key)
  const [grown, ...others] = [...(await make(1, 1)), ...(await make(14, 99))]
  const config = { monitors: [grown, ...others], timezone: 'UTC' }
  const { id } = await makeSchedule(key, { destination, config, window: { kind: 'last', hours: 1 } })
  expect((await change(grown?.id, 100)).status).toBe(200)
  clock.advance(hourMs)
  await work()
  expect(await runsOf(key, id)).toMatchObject([
    { status: 'failed', exportId: null, error: expect.stringContaining('but these have 1,501') },
  ])
  expect((await call('PATCH', `/v1/export-schedules/${id}`, { key, body: { config } })).status).toBe(400)
})

it('runs of conversations export the list within their window', async () => {
  const { store, destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const monitor = await makeMonitor(server, key)
  toNextHour()
  const conversationConfig = {
    filter: { monitors: [{ id: monitor.id, result: 'affected' }] },
    columns: [{ key: 'externalId' }],
    format: 'jsonl',
    timezone: 'Europe/Berlin',
  }
  const window = { kind: 'last', hours: 1 }
  const { id } = await makeSchedule(key, { destination, window, config: undefined, conversationConfig })
  expect(await read(key, id)).toMatchObject({ conversationConfig: { ...conversationConfig, transcripts: false } })
  expect(await read(key, id)).not.toHaveProperty('config')
  clock.advance(20 * minuteMs)
  for (const [at, ago] of [90, 20, 5].entries()) await makeCall(key, monitor.id, `call-${at + 1}`, ago * minuteMs)
  clock.advance(40 * minuteMs)
  await work()
  const [run] = await runsOf(key, id)
  expect(run).toMatchObject({ status: 'succeeded', objectKey: expect.stringMatching(/\.jsonl$/) })
  expect(callsIn(store)).toEqual(['call-3', 'call-2'])
  const made = (await call('GET', `/v1/conversation-exports/${run.exportId}`, { key })).body
  expect(made).toMatchObject({
    status: 'completed',
    scheduleId: id,
    config: { filter: { ...conversationConfig.filter, since: run.since, until: run.until } },
  })
})
