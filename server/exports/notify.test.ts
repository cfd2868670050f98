import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeWebhookEndpoint } from '../../test/make.ts'
import { serviceKey, testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { openReceiver, verify } from '../../test/support/webhooks/receiver.ts'
import { deliver } from '../webhooks/deliveries/jobs.ts'
import { jobList } from '../worker.ts'
import { expireExports } from './lifecycle.ts'

/** Tests the events that are sent when an export ends, and when it expires after 30 days. */

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { call, clock, deps } = server
const { makeCalls, ask, read } = exportsOf(server)

const typesOf = (received: { body: string }[]) => received.map(({ body }) => JSON.parse(body).type)

it('the end of an export is sent with its manifest, signed', async () => {
  const receiver = await openReceiver(200)
  const { key, config } = await makeCalls(2)
  const { id, secret } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const { body } = await ask(key, { ...config, notificationEndpointId: id.toUpperCase() })
  expect(body.config.notificationEndpointId).toBe(id)
  await server.drain()
  expect(receiver.received).toHaveLength(1)
  const [first] = receiver.received
  if (!first) throw new Error('nothing came')
  expect(verify(secret, first, clock.now())).toEqual({
    type: 'monitor_export.completed',
    timestamp: clock.now().toISOString(),
    data: await read(key, body.id),
  })
  clock.advance(30 * 86_400_000)
  await deps.jobs.enqueue(deps.db, expireExports, {})
  await server.drain()
  expect(typesOf(receiver.received)).toEqual(['monitor_export.completed', 'monitor_export.expired'])
  expect(JSON.parse(receiver.received[1]?.body ?? '').data).toEqual(await read(key, body.id))
})

it('the end of an export of conversations has an event of its own', async () => {
  const receiver = await openReceiver(200)
  const { key } = await makeCalls(2)
  const { id, secret } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const lists = exportsOf(server, 'conversation-exports')
  const config = { filter: {}, columns: [{ key: 'startedAt' }], notificationEndpointId: id }
  const { body } = await lists.ask(key, config)
  await server.drain()
  const [first] = receiver.received
  if (!first) throw new Error('nothing came')
  expect(verify(secret, first, clock.now())).toEqual({
    type: 'conversation_export.completed',
    timestamp: clock.now().toISOString(),
    data: await lists.read(key, body.id),
  })
})

it('a failure is sent too, once to subscribers', async () => {
  const [named, subscribed] = [await openReceiver(200), await openReceiver(200)]
  const { key, config } = await makeCalls(1)
  const events = ['monitor_export.failed']
  const { id } = await makeActiveWebhookEndpoint(server, key, { url: named.url, events })
  await makeActiveWebhookEndpoint(server, key, { url: subscribed.url, events })
  const { body } = await ask(key, { ...config, notificationEndpointId: id })
  await call('DELETE', `/v1/monitor-exports/${body.id}`, { key })
  await server.drain()
  for (const { received } of [named, subscribed]) {
    expect(received.map(({ body: text }) => JSON.parse(text))).toMatchObject([
      { type: 'monitor_export.failed', data: { id: body.id, errorCode: 'cancelled' } },
    ])
  }
})

it('an endpoint that cannot be notified is rejected when the export is created', async () => {
  const { key, config } = await makeCalls(0)
  const { id } = await makeWebhookEndpoint(server, key)
  const named = { ...config, notificationEndpointId: id }
  const refused = await ask(key, named)
  expect(refused).toMatchObject({
    status: 400,
    body: { details: { issues: [{ path: 'config.notificationEndpointId' }] } },
  })
  // An invalid endpoint takes precedence over a missing monitor.
  expect((await ask(key, { ...named, monitors: [{ id: randomUUID() }] })).status).toBe(400)
  await call('POST', `/v1/webhook-endpoints/${id}/approve`, { key })
  expect((await ask(key, named)).status).toBe(202)
  await call('PATCH', `/v1/webhook-endpoints/${id}`, { key, body: { url: 'https://other.example.com/' } })
  expect((await ask(key, named)).status).toBe(400)
  await call('POST', `/v1/webhook-endpoints/${id}/approve`, { key })
  await call('POST', `/v1/webhook-endpoints/${id}/disable`, { key })
  expect((await ask(key, named)).status).toBe(400)
})

it('without the feature, an export with an endpoint is rejected, unless it is a replay', async () => {
  const { org, key, config } = await makeCalls(0)
  const { id } = await makeActiveWebhookEndpoint(server, key)
  const named = { ...config, notificationEndpointId: id }
  const operationId = randomUUID()
  const { body } = await ask(key, named, operationId)
  const features = { exportWebhooks: false }
  await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: { features } })
  expect(await ask(key, named)).toMatchObject({ status: 403, body: { error: 'forbidden' } })
  expect(await ask(key, { ...named, notificationEndpointId: randomUUID() })).toMatchObject({ status: 403 })
  expect(await ask(key, named, operationId)).toMatchObject({ status: 202, body: { id: body.id } })
  expect((await ask(key, config)).status).toBe(202)
})

it('an export does not end if its event cannot be stored', async () => {
  const receiver = await openReceiver(200)
  await server.drain()
  const { key, config } = await makeCalls(1)
  const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const { body } = await ask(key, { ...config, notificationEndpointId: id })
  let crashes = 1
  const enqueue: typeof deps.jobs.enqueue = (...args) => {
    if (args[1].name === deliver.name && crashes-- > 0) throw new Error('the process died')
    return deps.jobs.enqueue(...args)
  }
  const dying = { ...deps, jobs: { ...deps.jobs, enqueue } }
  await deps.jobs.drain(jobList, dying, { allowFailures: true })
  expect(await read(key, body.id)).toMatchObject({ status: 'processing', downloadPath: null })
  await deps.jobs.drain(jobList, deps, { delayed: true })
  expect(await read(key, body.id)).toMatchObject({ status: 'completed', rowCount: 1 })
  expect(typesOf(receiver.received)).toEqual(['monitor_export.completed'])
})
