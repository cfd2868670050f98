import { once } from 'node:events'
import { sql } from 'kysely'
import { beforeEach, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeOrganization, makeWebhookEndpoint } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { openReceiver, verify } from '../../test/support/webhooks/receiver.ts'
import { runDue } from '../../test/support/webhooks/run-due.ts'
import type { OrgId } from '../platform/db/database.ts'
import { dayMs } from '../platform/durations.ts'
import { orgIdOf } from '../platform/ids.ts'
import { deliver, sweepWebhooks } from './deliveries/jobs.ts'
import { lanesPerEndpoint } from './deliveries/lanes.ts'
import { publishEvent, sendEvent } from './send.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call, clock, deps } = server

let org: OrgId
let key: string
beforeEach(async () => {
  const made = await makeOrganization(server)
  org = orgIdOf(made.id)
  key = made.key
})

const event = { type: 'monitor_export.completed', data: { id: 'an export' } } as const
const send = (endpointId: string) =>
  deps.db.transaction().execute((trx) => sendEvent(deps, trx, org, endpointId, event))

it('an event goes to the organization’s active subscribed endpoints, except the excluded one', async () => {
  const receiver = await openReceiver(204)
  const [events, url] = [['monitor_export.completed'], receiver.url]
  const subscribed = await makeActiveWebhookEndpoint(server, key, { url, events })
  const excepted = await makeActiveWebhookEndpoint(server, key, { url, events })
  await makeActiveWebhookEndpoint(server, key, { url, events: ['monitor_export.failed'] })
  const proposed = await makeWebhookEndpoint(server, key, { url, events })
  await makeActiveWebhookEndpoint(server, (await makeOrganization(server)).key, { url, events })
  const publish = () =>
    deps.db.transaction().execute((trx) => publishEvent(deps, trx, org, event, { exceptEndpointIds: [excepted.id] }))
  await publish()
  await runDue(deps)
  expect(receiver.received).toHaveLength(1)
  const [request] = receiver.received
  if (!request) throw new Error('nothing came')
  const sent = { ...event, timestamp: clock.now().toISOString() }
  expect(verify(subscribed.secret, request, clock.now())).toEqual(sent)
  const { data } = (await call('GET', `/v1/webhook-endpoints/${proposed.id}/deliveries`, { key })).body
  expect(data).toEqual([])
})

it('a transaction that is rolled back sends nothing', async () => {
  const receiver = await openReceiver(204)
  const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const fails = deps.db.transaction().execute(async (trx) => {
    await sendEvent(deps, trx, org, id, event)
    throw new Error('the change did not come about')
  })
  await expect(fails).rejects.toThrow('did not come about')
  expect(await runDue(deps)).toEqual([])
  expect((await call('GET', `/v1/webhook-endpoints/${id}/deliveries`, { key })).body.data).toEqual([])
})

it('no endpoint of another organization gets the event', async () => {
  const stranger = await makeOrganization(server)
  const { id } = await makeActiveWebhookEndpoint(server, stranger.key)
  expect(await send(id)).toBeUndefined()
})

it('both secrets sign for a day after a rotation, then only the new one', async () => {
  const receiver = await openReceiver(204)
  const { id, secret } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const rotated = await call('POST', `/v1/webhook-endpoints/${id}/rotate-secret`, { key })
  clock.advance(dayMs - 1)
  const latest = async () => {
    await send(id)
    await runDue(deps)
    const request = receiver.received.at(-1)
    if (!request) throw new Error('nothing came')
    return request
  }
  const before = await latest()
  for (const each of [secret, rotated.body.secret]) verify(each, before, clock.now())
  clock.advance(1)
  const after = await latest()
  verify(rotated.body.secret, after, clock.now())
  expect(() => verify(secret, after, clock.now())).toThrow('No matching signature')
  await deps.jobs.enqueue(deps.db, sweepWebhooks, {})
  await deps.jobs.drain([sweepWebhooks], deps)
  const { rows } = await sql<{ previous: string | null }>`
    SELECT previous_secret AS previous FROM webhook_endpoints WHERE id = ${id}`.execute(deps.db)
  expect(rows).toEqual([{ previous: null }])
})

it('a process that dies after sending, before storing it, sends again with the same ID', async () => {
  const receiver = await openReceiver(204)
  const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const deliveryId = await send(id)
  const dying = {
    ...deps,
    outbound: {
      ...deps.outbound,
      stream: async (...request: Parameters<typeof deps.outbound.stream>) => {
        const { body } = await deps.outbound.stream(...request)
        body.destroy()
        throw new Error('the process dies')
      },
    },
  }
  const outcomes = await deps.jobs.drain([deliver], dying, { allowFailures: true })
  expect(outcomes).toMatchObject([{ result: 'retried' }])
  const path = `/v1/webhook-endpoints/${id}/deliveries/${deliveryId}`
  expect((await call('GET', path, { key })).body).toMatchObject({ status: 'pending', attempts: [] })
  await deps.jobs.drain([deliver], deps, { delayed: true })
  expect((await call('GET', path, { key })).body).toMatchObject({ status: 'succeeded', attemptCount: 1 })
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  expect(ids).toEqual([`msg_${deliveryId}`, `msg_${deliveryId}`])
})

it('a delivery that the service cannot attempt ends with a reason, and can be redelivered', async () => {
  const receiver = await openReceiver(204)
  const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
  const deliveryId = await send(id)
  const broken = {
    ...deps,
    secrets: {
      ...deps.secrets,
      open: () => {
        throw new Error('another secret key')
      },
    },
  }
  await deps.jobs.drain([deliver], broken, { delayed: true, allowFailures: true })
  const path = `/v1/webhook-endpoints/${id}/deliveries/${deliveryId}`
  const reason = 'The delivery failed. Ask the operator of the service.'
  expect((await call('GET', path, { key })).body).toMatchObject({ status: 'failed', reason, attemptCount: 0 })
  expect((await call('POST', `${path}/redeliver`, { key })).status).toBe(202)
  // Operators can also retry the dead job.
  expect(await deps.jobs.retryDead('all')).toHaveLength(1)
  await deps.jobs.drain([deliver], deps, { delayed: true })
  expect((await call('GET', path, { key })).body).toMatchObject({ status: 'succeeded', reason: null, attemptCount: 1 })
  expect(receiver.received).toHaveLength(1)
})

it('an unresponsive receiver occupies a few lanes, and the others continue', async () => {
  let finish = () => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  let underWay = 0
  let most = 0
  const slow = await openReceiver(async (_request, response) => {
    underWay += 1
    most = Math.max(most, underWay)
    await Promise.race([finished, once(response, 'close')])
    underWay -= 1
    response.writeHead(204).end()
  })
  const fast = await openReceiver(204)
  const slowEndpoint = await makeActiveWebhookEndpoint(server, key, { url: slow.url })
  const fastEndpoint = await makeActiveWebhookEndpoint(server, key, { url: fast.url })
  for (let count = 0; count < 3 * deliver.concurrency; count++) await send(slowEndpoint.id)
  await send(fastEndpoint.id)
  await deps.jobs.start([deliver], deps, { workerId: 'the test' })
  await expect.poll(() => fast.received.length).toBe(1)
  await expect.poll(() => underWay).toBe(lanesPerEndpoint)
  finish()
  await deps.jobs.stop({ timeoutMs: 10_000 })
  expect(most).toBe(lanesPerEndpoint)
  const { data } = (await call('GET', `/v1/webhook-endpoints/${slowEndpoint.id}/deliveries?limit=200`, { key })).body
  const statusesOf = new Set(data.map(({ status }: { status: string }) => status))
  expect(data).toHaveLength(3 * deliver.concurrency)
  expect(statusesOf).not.toContain('failed')
})
