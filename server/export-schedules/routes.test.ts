import { randomUUID } from 'node:crypto'
import { expect, it, onTestFinished, vi } from 'vitest'
import { makeExportSchedule, makeOrganization, makeScheduleBody, makeWebhookEndpoint } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { openTestBucket } from '../../test/support/exports/customer-bucket.ts'
import { parseSchedule } from './parse-schedule.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { call, clock, deps } = server

const create = (key: string, body: object) => call('POST', '/v1/export-schedules', { key, body })
const change = (key: string, id: string, body: object) => call('PATCH', `/v1/export-schedules/${id}`, { key, body })

it('reports every fault at once, and stores nothing', async () => {
  const { key } = await makeOrganization(server)
  const sound = await makeScheduleBody(server, key)
  const pathsOf = async (fields: object) => {
    const { status, body, text } = await create(key, { ...sound, ...fields })
    expect(status, text).toBe(400)
    return body.details.issues.map(({ path }: { path: string }) => path)
  }
  const bucket = { type: 's3', bucket: 'acme-exports', region: 'eu-central-1', accessKeyId: 'A', secretAccessKey: 's' }
  expect(
    await pathsOf({
      recurrence: { every: 'week', at: '02:30', day: 3 },
      window: { kind: 'last', hours: 1, days: 1 },
      destination: { ...bucket, endpoint: 'ftp://storage.example.com', fileName: '{month}/../x' },
    }),
  ).toEqual(['recurrence.weekday', 'recurrence.day', 'window', 'destination.endpoint', 'destination.fileName'])
  expect(await pathsOf({ recurrence: { every: 'day', at: '2:30' } })).toEqual(['recurrence.at'])
  expect(await pathsOf({ config: { ...sound.config, timezone: 'Mars/Base' } })).toEqual(['config.timezone'])
  expect(await pathsOf({ destination: { ...bucket, webhookEndpointId: sound.destination.webhookEndpointId } })).toEqual(
    ['destination.webhookEndpointId'],
  )
  expect(await pathsOf({ destination: { ...bucket, region: 'x.evil.example/' } })).toEqual(['destination.region'])
  for (const [name, value] of [
    ['region', '-'],
    ['prefix', 'earshot/../calls'],
    // Directory buckets and S3 on Outposts need other protocols.
    ['bucket', 'acme--use1-az1--x-s3'],
    ['bucket', 'acme--op-s3'],
  ] as const) {
    expect(await pathsOf({ destination: { ...bucket, [name]: value } })).toEqual([`destination.${name}`])
  }
  expect(await pathsOf({ destination: { ...bucket, secretAccessKey: undefined } })).toEqual([
    'destination.secretAccessKey',
  ])
  const { id } = await makeWebhookEndpoint(server, key)
  expect(await pathsOf({ destination: { type: 'webhook', webhookEndpointId: id } })).toEqual([
    'destination.webhookEndpointId',
  ])
  expect((await call('GET', '/v1/export-schedules', { key })).body.data).toEqual([])
})

it('accepts a bucket over http only in networks that the operator allows', async () => {
  const { store, destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const body = { ...(await makeScheduleBody(server, key)), destination: { ...destination, endpoint: store.endpoint } }
  expect(await create(key, body)).toMatchObject({ status: 201, body: { destination: { endpoint: store.endpoint } } })
  const given = { destination: { ...destination, type: 's3' as const, endpoint: store.endpoint } }
  expect(() => parseSchedule(given, { allowedPrivateAddresses: [] })).toThrow(
    'http is only allowed for private networks in EARSHOT_ALLOWED_PRIVATE_ADDRESSES',
  )
})

it('tests the given bucket, and explains what is wrong', async () => {
  const { store, destination, connections } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const body = { ...(await makeScheduleBody(server, key)), destination }
  const messageOf = async (fields: object) => {
    const { status, body: answer } = await create(key, { ...body, destination: { ...destination, ...fields } })
    expect(status).toBe(400)
    return answer.message
  }
  expect(await messageOf({ bucket: 'another' })).toContain('The bucket does not exist.')
  expect(await messageOf({ secretAccessKey: 'wrong' })).toContain('The secret access key does not match')
  expect(await messageOf({ endpoint: 'https://127.0.0.1:1' })).toContain('The request failed')
  const before = connections()
  expect(await messageOf({ endpoint: 'https://10.0.0.1' })).toContain('does not have a public address')
  expect(await messageOf({ endpoint: 'http://10.0.0.1' })).toContain('http is only allowed for private networks')
  expect(connections()).toBe(before)
  expect((await call('GET', '/v1/export-schedules', { key })).body.data).toEqual([])
  const { status, body: made } = await create(key, body)
  expect(status).toBe(201)
  expect([...store.objects.keys()]).toEqual([])
  const test = () => call('POST', `/v1/export-schedules/${made.id}/test`, { key })
  expect((await test()).body).toEqual({ ok: true, message: 'A test object was written and deleted.' })
  store.state.fault = (line) => (line.startsWith('PUT') ? 'AccessDenied' : undefined)
  expect((await test()).body).toEqual({ ok: false, message: expect.stringContaining('Access was denied') })
  store.state.fault = (line) => (line.startsWith('DELETE') ? 'AccessDenied' : undefined)
  expect((await test()).body).toEqual({ ok: true, message: expect.stringContaining('no permission to delete') })
})

it('never returns the secret, and requires it again for another bucket', async () => {
  const { destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const made = await create(key, { ...(await makeScheduleBody(server, key)), destination })
  const { id } = made.body
  const { secretAccessKey, ...named } = destination
  const prefixed = await change(key, id, { destination: { ...named, prefix: 'calls' } })
  expect(prefixed.body.destination).toMatchObject({ ...named, prefix: 'calls' })
  for (const fields of [{ bucket: 'another' }, { endpoint: 'https://127.0.0.1:1' }, { accessKeyId: 'OTHER' }]) {
    const { status, body } = await change(key, id, { destination: { ...named, ...fields } })
    expect([status, body.details.issues[0].path]).toEqual([400, 'destination.secretAccessKey'])
  }
  const test = await call('POST', `/v1/export-schedules/${id}/test`, { key })
  expect(test.body.ok).toBe(true)
  const list = await call('GET', '/v1/export-schedules', { key })
  for (const text of [made.text, prefixed.text, list.text, server.logged.join('\n')]) {
    expect(text).not.toContain(secretAccessKey)
    expect(text).not.toContain('"secret"')
  }
})

it.each([
  ['keeps the secret that another change brings', 'AKIATEST', 200],
  ['is refused when another change names another key', 'AKIAOTHER', 409],
])('a change without a secret %s while the bucket is tested', async (_what, accessKeyId, status) => {
  const { store, destination } = await openTestBucket()
  const { key } = await makeOrganization(server)
  const { id } = (await create(key, { ...(await makeScheduleBody(server, key)), destination })).body
  const rotated = { ...destination, accessKeyId, secretAccessKey: 'rotated' }
  const { request } = deps.outbound
  const spy = vi.spyOn(deps.outbound, 'request')
  onTestFinished(() => spy.mockRestore())
  // The first request is the change without a secret. Its response arrives after the other change is complete.
  spy.mockImplementationOnce(async (...sent) => {
    const answer = await request(...sent)
    Object.assign(store.credentials, { accessKeyId, secretAccessKey: 'rotated' })
    expect((await change(key, id, { destination: rotated })).status).toBe(200)
    return answer
  })
  const { secretAccessKey: _secret, ...named } = destination
  const changed = await change(key, id, { destination: { ...named, prefix: 'calls' } })
  expect(changed.status, changed.text).toBe(status)
  if (status === 409) expect(changed.body.message).toContain('send your change again with secretAccessKey')
  const prefix = status === 200 ? 'calls' : null
  const { body } = await call('GET', `/v1/export-schedules/${id}`, { key })
  expect(body.destination).toMatchObject({ accessKeyId, prefix })
  expect((await call('POST', `/v1/export-schedules/${id}/test`, { key })).body).toMatchObject({ ok: true })
})

it('can be changed property by property, and starts its periods where requested', async () => {
  const { key } = await makeOrganization(server)
  const { id, coveredUntil, nextRunAt } = await makeExportSchedule(server, key)
  expect(coveredUntil).toBe(clock.now().toISOString())
  expect(nextRunAt > coveredUntil).toBe(true)
  const { body } = await change(key, id, {
    name: 'Hourly',
    recurrence: { every: 'hour', minute: 15 },
    window: { kind: 'since_last_run', since: '2026-11-01T00:00:00+01:00' },
    settleMinutes: 0,
  })
  expect(body).toMatchObject({
    name: 'Hourly',
    settleMinutes: 0,
    coveredUntil: '2026-10-31T23:00:00.000Z',
    recurrence: { every: 'hour', minute: 15, at: null, weekday: null, day: null },
    window: { kind: 'since_last_run', hours: null, days: null },
  })
  expect(body.nextRunAt).toMatch(/:15:00.000Z$/)
  // Sending the same times when a run is due does not delay that run.
  clock.advance(3_600_000)
  const same = await change(key, id, { recurrence: { every: 'hour', minute: 15 } })
  expect(same.body.nextRunAt).toBe(body.nextRunAt)
  expect((await change(key, id, {})).status).toBe(400)
})

it('export either monitor results or conversations with a filter that has no period of its own', async () => {
  const { key } = await makeOrganization(server)
  const { config, ...body } = await makeScheduleBody(server, key)
  const conversationConfig = { filter: {}, columns: [{ key: 'startedAt' }], timezone: 'UTC' }
  const pathsOf = async (fields: object) => {
    const answer = await create(key, { ...body, ...fields })
    expect(answer.status, answer.text).toBe(400)
    return answer.body.details.issues.map(({ path }: { path: string }) => path)
  }
  expect(await pathsOf({})).toEqual(['config'])
  expect(await pathsOf({ config, conversationConfig })).toEqual(['conversationConfig'])
  const filter = { since: '2026-11-01T00:00:00Z', period: { last: '7d' } }
  expect(await pathsOf({ conversationConfig: { ...conversationConfig, filter } })).toEqual([
    'conversationConfig.filter.since',
    'conversationConfig.filter.period',
  ])
  const unknown = { ...conversationConfig, filter: { agentIds: [randomUUID()] } }
  const missing = await create(key, { ...body, conversationConfig: unknown })
  expect([missing.status, missing.body.details.issues[0].path]).toEqual([404, 'conversationConfig.filter.agentIds[0]'])
  const made = await create(key, { ...body, conversationConfig })
  expect(made.body).toMatchObject({ conversationConfig: { ...conversationConfig, format: 'csv' } })
  const changed = await change(key, made.body.id, { config })
  expect(changed.body).toMatchObject({ config })
  expect(changed.body).not.toHaveProperty('conversationConfig')
})

it('are at most 50 in an organization', async () => {
  const { key } = await makeOrganization(server)
  const body = await makeScheduleBody(server, key)
  for (let made = 0; made < 50; made++) expect((await create(key, body)).status).toBe(201)
  expect((await create(key, body)).status).toBe(409)
})
