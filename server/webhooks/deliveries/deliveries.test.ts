import { Readable } from 'node:stream'
import { beforeEach, describe, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { openReceiver, verify } from '../../../test/support/webhooks/receiver.ts'
import { runDue } from '../../../test/support/webhooks/run-due.ts'
import { dayMs, hourMs, minuteMs } from '../../platform/durations.ts'
import { deliver, sweepWebhooks } from './jobs.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32' })
const { call, clock, deps } = server

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const path = (id: string, rest: string) => `/v1/webhook-endpoints/${id}/${rest}`
const act = (id: string, verb: string) => call('POST', path(id, verb), { key })
const endpointOf = async (id: string) => (await call('GET', `/v1/webhook-endpoints/${id}`, { key })).body
const deliveryOf = async (endpointId: string, id: string) =>
  (await call('GET', path(endpointId, `deliveries/${id}`), { key })).body

/** Runs all jobs to completion, as if the time between attempts had passed. */
const runAll = () => deps.jobs.drain([deliver], deps, { delayed: true })

const test = async (endpointId: string): Promise<string> => {
  const { status, body, headers } = await act(endpointId, 'test')
  expect(status).toBe(202)
  expect(headers.get('location')).toBe(path(endpointId, `deliveries/${body.id}`))
  expect(body).toMatchObject({ status: 'pending', attemptCount: 0, nextAttemptAt: clock.now().toISOString() })
  return body.id
}

describe('an accepted delivery', () => {
  it('has a signature that the receiver’s library accepts, and rejects when modified', async () => {
    const receiver = await openReceiver(204)
    const { id, name, secret } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const deliveryId = await test(id)
    await runDue(deps)
    const [request] = receiver.received
    if (!request) throw new Error('nothing came')
    const now = clock.now()
    const event = { type: 'webhook.test', timestamp: now.toISOString(), data: { endpointId: id, name } }
    expect(verify(secret, request, now)).toEqual(event)
    const seconds = String(Math.floor(now.getTime() / 1_000))
    expect(request.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Earshot',
      'webhook-id': `msg_${deliveryId}`,
      'webhook-timestamp': seconds,
    })
    for (const altered of [
      { ...request, body: `${request.body} ` },
      { ...request, headers: { ...request.headers, 'webhook-id': `msg_${deliveryId.replace(/.$/, 'x')}` } },
      { ...request, headers: { ...request.headers, 'webhook-timestamp': String(Number(seconds) + 1) } },
    ]) {
      expect(() => verify(secret, altered, now)).toThrow('No matching signature')
    }
    const other = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    expect(() => verify(other.secret, request, now)).toThrow('No matching signature')
    expect(await deliveryOf(id, deliveryId)).toEqual({
      id: deliveryId,
      eventType: 'webhook.test',
      status: 'succeeded',
      reason: null,
      attemptCount: 1,
      nextAttemptAt: null,
      createdAt: now.toISOString(),
      body: request.body,
      attempts: [
        {
          number: 1,
          attemptedAt: now.toISOString(),
          durationMs: expect.any(Number),
          statusCode: 204,
          error: null,
          answer: '',
        },
      ],
    })
  })

  it('can have any response: only its first KiB is read and stored', async () => {
    let finished = false
    const long = function* () {
      yield Buffer.from(`\0${'x'.repeat(1_022)}é and on`)
      for (let chunk = 0; chunk < 1_000; chunk++) yield Buffer.alloc(65_536)
      finished = true
    }
    const receiver = await openReceiver((_request, response) => {
      Readable.from(long()).pipe(response)
    })
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const deliveryId = await test(id)
    await runDue(deps)
    const [attempt] = (await deliveryOf(id, deliveryId)).attempts
    expect(attempt).toMatchObject({ statusCode: 200, answer: `\ufffd${'x'.repeat(1_022)}` })
    await expect.poll(receiver.open).toBe(0)
    expect(finished).toBe(false)
  })
})

describe('a rejected delivery', () => {
  it('is retried with the same ID, signed again, without following redirects', async () => {
    const receiver = await openReceiver(
      500,
      (_request, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      (_request, response) => response.socket?.destroy(),
      200,
    )
    const { id, secret } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const deliveryId = await test(id)
    await runDue(deps)
    const waiting = await deliveryOf(id, deliveryId)
    expect(waiting).toMatchObject({ status: 'pending', reason: 'The endpoint returned status 500.', attemptCount: 1 })
    const waitMs = Date.parse(waiting.nextAttemptAt) - clock.now().getTime()
    expect(waitMs).toBeGreaterThanOrEqual(4_500)
    expect(waitMs).toBeLessThanOrEqual(5_500)
    expect((await endpointOf(id)).failingSince).toBe(clock.now().toISOString())
    clock.advance(minuteMs)
    await runAll()
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'succeeded', reason: null, attemptCount: 4 })
    const { attempts } = await deliveryOf(id, deliveryId)
    expect(
      attempts.map(({ number, statusCode }: { number: number; statusCode: number }) => [number, statusCode]),
    ).toEqual([
      [4, 200],
      [3, null],
      [2, 302],
      [1, 500],
    ])
    expect(attempts[1].error).toMatch(/^The request failed/)
    expect(receiver.received).toHaveLength(4)
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1)
    for (const request of receiver.received) expect(request.headers['webhook-id']).toBe(`msg_${deliveryId}`)
    for (const request of receiver.received.slice(1)) verify(secret, request, clock.now())
    expect((await endpointOf(id)).failingSince).toBeNull()
  })

  it('waits as long as Retry-After says, at most an hour', async () => {
    const ask = (value: string) =>
      openReceiver((_request, response) => response.writeHead(429, { 'retry-after': value }).end())
    for (const [value, atLeastMs] of [
      ['120', 2 * minuteMs],
      [new Date(clock.now().getTime() + 10 * minuteMs).toUTCString(), 9.9 * minuteMs],
      ['86400', hourMs],
    ] as const) {
      const { id } = await makeActiveWebhookEndpoint(server, key, { url: (await ask(value)).url })
      const deliveryId = await test(id)
      await runDue(deps)
      const waitMs = Date.parse((await deliveryOf(id, deliveryId)).nextAttemptAt) - clock.now().getTime()
      expect(waitMs).toBeGreaterThanOrEqual(atLeastMs)
      expect(waitMs).toBeLessThanOrEqual(1.1 * atLeastMs + minuteMs)
    }
  })

  it('is given up after eleven attempts, and the endpoint is disabled after five days of failures', async () => {
    const receiver = await openReceiver(503)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const deliveryId = await test(id)
    await runAll()
    expect(receiver.received).toHaveLength(11)
    const reason = 'Gave up after 11 attempts. The endpoint returned status 503.'
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'failed', reason, nextAttemptAt: null })
    clock.advance(5 * dayMs - 1)
    await test(id)
    await runAll()
    expect(await endpointOf(id)).toMatchObject({ status: 'active' })
    clock.advance(1)
    await test(id)
    await runAll()
    expect(await endpointOf(id)).toMatchObject({ status: 'disabled', disabledReason: 'failing' })
    expect((await act(id, 'test')).status).toBe(409)
    await act(id, 'approve')
    expect(await endpointOf(id)).toMatchObject({ status: 'active', disabledReason: null, failingSince: null })
  })

  it('disables the endpoint immediately if it returns 410', async () => {
    const receiver = await openReceiver(410)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const [first, second] = [await test(id), await test(id)]
    await runAll()
    expect(receiver.received).toHaveLength(1)
    expect(await endpointOf(id)).toMatchObject({ status: 'disabled', disabledReason: 'gone' })
    const reasons = [await deliveryOf(id, first), await deliveryOf(id, second)].map(({ status, reason }) => [
      status,
      reason,
    ])
    expect(reasons).toEqual([
      ['failed', 'The endpoint returned status 410, so Earshot disabled it.'],
      ['failed', 'The endpoint is disabled.'],
    ])
  })

  it('reaches no private address, whatever URL was stored', async () => {
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: 'https://127.0.0.2:1/' })
    const deliveryId = await test(id)
    await runDue(deps)
    expect((await deliveryOf(id, deliveryId)).reason).toContain('127.0.0.2 does not have a public address')
  })
})

describe('the list of deliveries', () => {
  it('is newest first, in pages, by status, and one can be redelivered with its ID', async () => {
    const receiver = await openReceiver(410, 204)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const gone = await test(id)
    expect((await act(id, `deliveries/${gone}/redeliver`)).status).toBe(409)
    await runDue(deps)
    expect((await act(id, `deliveries/${gone}/redeliver`)).status).toBe(409)
    await act(id, 'approve')
    const [second, third] = [await test(id), await test(id)]
    await runDue(deps)
    const list = async (query: string) => (await call('GET', path(id, `deliveries?${query}`), { key })).body
    const idsOf = ({ data }: { data: { id: string }[] }) => data.map((delivery) => delivery.id)
    const page = await list('limit=2')
    expect(idsOf(page)).toEqual([third, second])
    expect(idsOf(await list(`limit=2&cursor=${page.nextCursor}`))).toEqual([gone])
    expect(idsOf(await list('status=failed'))).toEqual([gone])
    expect(idsOf(await list('status=pending'))).toEqual([])

    const both = await Promise.all([1, 2].map(() => act(id, `deliveries/${gone}/redeliver`)))
    expect(both.map(({ status }) => status).sort()).toEqual([202, 409])
    const anew = both.find(({ status }) => status === 202)
    expect(anew).toMatchObject({ status: 202, body: { id: gone, status: 'pending', reason: null, attemptCount: 1 } })
    await runDue(deps)
    expect(await deliveryOf(id, gone)).toMatchObject({ status: 'succeeded', attemptCount: 2 })
    const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
    expect(ids).toEqual([gone, second, third, gone].map((each) => `msg_${each}`))
  })

  it('a redelivered delivery has all its attempts again', async () => {
    const receiver = await openReceiver(500)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    const deliveryId = await test(id)
    await runAll()
    await act(id, `deliveries/${deliveryId}/redeliver`)
    await runAll()
    expect(receiver.received).toHaveLength(22)
    const reason = 'Gave up after 11 attempts. The endpoint returned status 500.'
    expect(await deliveryOf(id, deliveryId)).toMatchObject({ status: 'failed', reason, attemptCount: 22 })
  })

  it('deletes what is not pending after 30 days', async () => {
    const receiver = await openReceiver(204, 500)
    const { id } = await makeActiveWebhookEndpoint(server, key, { url: receiver.url })
    await test(id)
    await runDue(deps)
    const pending = await test(id)
    await runDue(deps)
    clock.advance(30 * dayMs + 1)
    await deps.jobs.enqueue(deps.db, sweepWebhooks, {})
    await deps.jobs.drain([sweepWebhooks], deps)
    const { data } = (await call('GET', path(id, 'deliveries'), { key })).body
    expect(data).toMatchObject([{ id: pending, status: 'pending' }])
  })
})
