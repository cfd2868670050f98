import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, it, onTestFinished } from 'vitest'
import { makeActiveWebhookEndpoint, makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'
import { openTestBucket } from '../../test/support/exports/customer-bucket.ts'
import { callsIn, hourMs, minuteMs, schedulesOf } from '../../test/support/exports/schedules.ts'
import { openReceiver } from '../../test/support/webhooks/receiver.ts'
import { generateExport } from '../exports/lifecycle.ts'
import { openBucket } from '../platform/outbound/bucket.ts'
import { deliverRun } from './runs/lifecycle.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { call, clock, deps } = server
const { work, makeSchedule, makeCall, runsOf, runNow } = schedulesOf(server)

/** Runs a function after the store has responded, but before the client receives the response. */
const sendingThen = (happen: () => Promise<unknown>) => ({
  ...deps.outbound,
  request: async (...sent: Parameters<typeof deps.outbound.request>) => {
    const answer = await deps.outbound.request(...sent)
    await happen()
    return answer
  },
})

const erase = (key: string, exportId: string) => call('DELETE', `/v1/monitor-exports/${exportId}`, { key })

/** Generates the file of a run that delivers to a bucket. */
const generateFile = async (fields: object = {}) => {
  const { destination, store } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id, monitorId } = await makeSchedule(key, { destination: { ...destination, ...fields } })
  clock.advance(hourMs)
  await makeCall(key, monitorId, 'call-1', 30 * minuteMs)
  await runNow(key, id)
  await deps.jobs.drain([generateExport], deps)
  const [{ exportId, objectKey }] = await runsOf(key, id)
  return { destination, store, key, id, exportId, objectKey }
}

it('delivery is retried when the store or the worker dies, and writes one object', async () => {
  const { destination, store } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id, monitorId } = await makeSchedule(key, {
    destination: {
      ...destination,
      prefix: 'earshot',
      fileName: 'dt={date}/{schedule}-{run}.{format}',
      encryption: 'AES256',
    },
  })
  clock.advance(hourMs)
  await makeCall(key, monitorId, 'call-1', 30 * minuteMs)
  await runNow(key, id)
  await deps.jobs.drain([generateExport], deps)
  store.state.fault = (line) => (line.startsWith('PUT') ? 'SlowDown' : undefined)
  await deps.jobs.drain([deliverRun], deps, { allowFailures: true })
  expect((await runsOf(key, id))[0]).toMatchObject({
    status: 'delivering',
    error: 'The storage returned status 503 (SlowDown).',
  })
  store.state.fault = () => undefined
  // The first attempt dies after it has written the object, but before the worker receives the response.
  let kills = 1
  const outbound = sendingThen(async () => {
    if (kills-- > 0) throw new Error('killed')
  })
  await deps.jobs.drain([deliverRun], { ...deps, outbound }, { delayed: true, allowFailures: true })
  const [run] = await runsOf(key, id)
  expect(run).toMatchObject({ status: 'succeeded', attempts: 3, error: null })
  expect([...store.objects.keys()]).toEqual([run.objectKey])
  expect(run.objectKey).toMatch(/^earshot\/dt=\d{4}-\d\d-\d\d\/hourly-refunds-[0-9a-f-]{36}\.csv$/)
  expect(callsIn(store)).toEqual(['call-1'])
})

it('large files are sent in parts, and nothing if the file differs from what was written', async () => {
  const { destination, store } = await openTestBucket()
  const bytes = randomBytes(20 * 1024 * 1024 + 5)
  const sha256 = createHash('sha256').update(bytes).digest('base64')
  const bucket = await openBucket(deps.outbound, { ...destination, encryption: null })
  const chunks = async function* (damage = false) {
    for (let at = 0; at < bytes.length; at += 100_000) yield bytes.subarray(at, at + 100_000)
    if (damage) yield Buffer.from('!')
  }
  const put = (damage: boolean) =>
    bucket.put('large.csv', { stream: chunks(damage), contentType: 'text/csv', sha256 }, new AbortController().signal)
  await expect(put(true)).rejects.toThrow('differs from what was written')
  expect([store.objects.size, store.uploads.size]).toEqual([0, 0])
  await put(false)
  expect(store.objects.get('large.csv')?.body.equals(bytes)).toBe(true)
  expect(store.requests.filter((line) => /^PUT .*partNumber/.test(line))).toHaveLength(6)
})

it('an export that was erased in the meantime is not delivered', async () => {
  const { store, key, id, exportId } = await generateFile()
  await erase(key, exportId)
  await work()
  expect(await runsOf(key, id)).toMatchObject([
    { status: 'failed', error: expect.stringContaining('was deleted before it was delivered') },
  ])
  expect(store.objects.size).toBe(0)
})

it('an export erased during delivery is deleted from the bucket, or the run says that it cannot be', async () => {
  for (const mayDelete of [true, false]) {
    const { store, key, id, exportId, objectKey } = await generateFile()
    store.state.fault = (line) => (line.startsWith('DELETE') && !mayDelete ? 'AccessDenied' : undefined)
    const outbound = sendingThen(() => erase(key, exportId))
    await deps.jobs.drain([deliverRun], { ...deps, outbound }, { allowFailures: true })
    const [run] = await runsOf(key, id)
    expect(run).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('was deleted before it was delivered'),
    })
    expect(run.error.includes(`no permission to delete ${objectKey}`)).toBe(!mayDelete)
    expect(store.objects.size).toBe(mayDelete ? 0 : 1)
  }
})

it('a delivery that never started does not delete an earlier file with the same name', async () => {
  const { store, key, id } = await generateFile({ fileName: 'latest.{format}' })
  await work()
  expect(await runsOf(key, id)).toMatchObject([{ status: 'succeeded' }])
  clock.advance(hourMs)
  expect((await runNow(key, id)).status).toBe(202)
  await deps.jobs.drain([generateExport], deps)
  store.state.fault = (line) => (line.startsWith('PUT') ? 'SlowDown' : undefined)
  await deps.jobs.drain([deliverRun], deps, { allowFailures: true })
  store.state.fault = () => undefined
  const [{ exportId, objectKey }] = await runsOf(key, id)
  await erase(key, exportId)
  await deps.jobs.drain([deliverRun], deps, { delayed: true })
  const [run] = await runsOf(key, id)
  expect(run).toMatchObject({
    status: 'failed',
    attempts: 2,
    error: expect.stringContaining(`may have left ${objectKey}`),
  })
  expect([...store.objects.keys()]).toEqual([objectKey])
})

it.each([
  ['is killed', true],
  ['is killed', false],
  ['cannot delete it yet', true],
])(
  'an export erased during delivery is deleted by the next attempt when one %s (can delete: %s)',
  async (how, mayDelete) => {
    const { destination, store, key, id, exportId, objectKey } = await generateFile()
    const outbound = sendingThen(async () => {
      await erase(key, exportId)
      if (how === 'is killed') throw new Error('killed')
    })
    store.state.fault = (line) => (line.startsWith('DELETE') ? 'SlowDown' : undefined)
    await deps.jobs.drain([deliverRun], { ...deps, outbound }, { allowFailures: true })
    expect(await runsOf(key, id)).toMatchObject([{ status: 'delivering', attempts: 1 }])
    expect([...store.objects.keys()]).toEqual([objectKey])
    store.state.fault = () => undefined
    // New files get another prefix in the same bucket.
    const body = { name: 'Refunds by the hour', status: 'paused', destination: { ...destination, prefix: 'later' } }
    expect((await call('PATCH', `/v1/export-schedules/${id}`, { key, body })).status).toBe(200)
    store.state.fault = (line) => (line.startsWith('DELETE') && !mayDelete ? 'AccessDenied' : undefined)
    await deps.jobs.drain([deliverRun], deps, { delayed: true, allowFailures: true })
    const [run] = await runsOf(key, id)
    expect(run).toMatchObject({
      status: 'failed',
      attempts: 2,
      error: expect.stringContaining('was deleted before it was delivered'),
    })
    expect(run.error.includes(`no permission to delete ${objectKey}`)).toBe(!mayDelete)
    expect(store.objects.size).toBe(mayDelete ? 0 : 1)
  },
)

it.each(['another bucket', 'another account', 'another region', 'a webhook'])(
  'a delivery that now goes to %s leaves existing files, and says where its file may be',
  async (to) => {
    const {
      store,
      destination: before,
      key,
      id,
      exportId,
      objectKey,
    } = await generateFile({
      fileName: 'latest.{format}',
    })
    const killed = sendingThen(() => Promise.reject(new Error('killed')))
    await deps.jobs.drain([deliverRun], { ...deps, outbound: killed }, { allowFailures: true })
    expect([...store.objects.keys()]).toEqual([objectKey])

    const seenBy = (changed: object) => {
      Object.assign(store.credentials, changed)
      return { store, destination: { ...before, ...changed } }
    }
    const other =
      to === 'another account'
        ? seenBy({ accessKeyId: 'AKIAOTHER' })
        : to === 'another region'
          ? seenBy({ region: 'eu-central-1' })
          : await openTestBucket()
    const theirs = { body: Buffer.from('theirs'), contentType: 'text/csv', modifiedAt: new Date() }
    other.store.objects.set(objectKey, theirs)
    const destination =
      to === 'a webhook'
        ? { type: 'webhook', webhookEndpointId: (await makeActiveWebhookEndpoint(server, key)).id }
        : { ...other.destination, fileName: 'latest.{format}' }
    expect((await call('PATCH', `/v1/export-schedules/${id}`, { key, body: { destination } })).status).toBe(200)
    await erase(key, exportId)
    await deps.jobs.drain([deliverRun], deps, { delayed: true })
    const error = expect.stringContaining(`may have left ${objectKey} in the bucket`)
    expect(await runsOf(key, id)).toMatchObject([{ status: 'failed', error }])
    expect([...other.store.objects]).toEqual([[objectKey, theirs]])
  },
)

it('a delivery that started while the schedule got another bucket leaves existing files', async () => {
  const { store, key, id, exportId, objectKey } = await generateFile({ fileName: 'latest.{format}' })
  const other = await openTestBucket()
  const theirs = { body: Buffer.from('theirs'), contentType: 'text/csv', modifiedAt: new Date() }
  other.store.objects.set(objectKey, theirs)
  const slow = await deps.db.startTransaction().execute()
  onTestFinished(async () => {
    if (!slow.isCommitted) await slow.rollback().execute()
  })
  const expectWaiting = (count: number) => expect.poll(() => countWaiting(deps.db)).toBe(count)
  // This lock delays the commit of the change, so the attempt reads the old bucket.
  await sql`LOCK TABLE audit_events IN SHARE MODE`.execute(slow)
  const body = { destination: { ...other.destination, fileName: 'latest.{format}' } }
  const change = call('PATCH', `/v1/export-schedules/${id}`, { key, body })
  await expectWaiting(1)
  const killed = sendingThen(() => Promise.reject(new Error('killed')))
  const attempt = deps.jobs.drain([deliverRun], { ...deps, outbound: killed }, { allowFailures: true })
  await expectWaiting(2)
  await slow.commit().execute()
  expect((await change).status).toBe(200)
  await attempt
  expect([...store.objects.keys()]).toEqual([objectKey])

  await erase(key, exportId)
  await deps.jobs.drain([deliverRun], deps, { delayed: true })
  const error = expect.stringContaining(`may have left ${objectKey} in the bucket`)
  expect(await runsOf(key, id)).toMatchObject([{ status: 'failed', error }])
  expect([...other.store.objects]).toEqual([[objectKey, theirs]])
})

it('a delivery contains the export as it was requested, whatever the schedule has now', async () => {
  const { destination, store } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id, monitorId } = await makeSchedule(key, { destination })
  clock.advance(hourMs)
  await makeCall(key, monitorId, 'call-1', 30 * minuteMs)
  await runNow(key, id)
  const earlier = new Date(clock.now().getTime() - 48 * hourMs).toISOString()
  const config = { monitors: [{ id: monitorId }], timezone: 'UTC', format: 'xlsx' }
  const body = { config, window: { kind: 'since_last_run', since: earlier } }
  expect((await call('PATCH', `/v1/export-schedules/${id}`, { key, body })).status).toBe(200)
  await work()
  expect([...store.objects.keys()]).toEqual([expect.stringMatching(/\.csv$/)])
  // The start that was set during the run applies to the next period.
  expect((await call('GET', `/v1/export-schedules/${id}`, { key })).body.coveredUntil).toBe(earlier)
})

it('delivery to a webhook is the notification of the export', async () => {
  const receiver = await openReceiver(200)
  const { key } = await makeOrganization(server)
  const { id: webhookEndpointId } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const { id } = await makeSchedule(key, { destination: { type: 'webhook', webhookEndpointId } })
  clock.advance(hourMs)
  const { body: run } = await runNow(key, id)
  await work()
  expect(receiver.received.map(({ body }) => JSON.parse(body))).toMatchObject([
    { type: 'monitor_export.completed', data: { id: run.exportId, scheduleId: id, scheduleName: 'Hourly refunds' } },
  ])
  expect(await runsOf(key, id)).toMatchObject([{ id: run.id, status: 'succeeded', objectKey: null }])
})
