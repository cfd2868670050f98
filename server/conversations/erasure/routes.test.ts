import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { makeActiveWebhookEndpoint, makeConversation, makeMonitor, makeOrganization, wav } from '../../../test/make.ts'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { testServer } from '../../../test/server.ts'
import { findTraces } from '../../../test/support/find-traces.ts'
import { makeProvider, post } from '../../../test/support/integrations/signed-webhooks.ts'
import { openReceiver } from '../../../test/support/webhooks/receiver.ts'

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
const { call } = server
const { db } = server.deps

let planted: string
let org: Awaited<ReturnType<typeof makeOrganization>>
let key: string
beforeEach(async () => {
  planted = `planted${randomBytes(8).toString('hex')}`
  org = await makeOrganization(server)
  key = org.key
})

/** Serves a recording that contains the planted text. */
const outside = createServer((_request, response) => {
  response.end(Buffer.concat([wav(), Buffer.from(planted)]))
})
await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve))
afterAll(() => new Promise((resolve) => outside.close(resolve)))
const { port } = outside.address() as AddressInfo

const bodyOf = (externalId: string) => ({
  externalId,
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  startedAt: '2026-11-20T09:00:00.000Z',
  endReason: `ended ${planted}`,
  customerId: `customer ${planted}`,
  metadata: { [`key ${planted}`]: 1, plan: { nested: [`gold ${planted}`] } },
  transcript: [
    { role: 'customer', text: `I am ${planted}`, words: [{ text: planted }] },
    { role: 'agent', kind: 'tool_call', text: null, tool: { name: planted, arguments: { of: planted } } },
  ],
  recordingUrl: `http://127.0.0.1:${port}/${planted}.wav?signature=${planted}`,
  metrics: [{ key: `metric ${planted}`, value: planted, comment: planted }],
})

const review = async (conversationId: string, notes: string) => {
  const body = { conversationId, status: 'completed', notes }
  expect((await call('POST', '/v1/reviews', { key, body })).status).toBe(201)
}

const plant = async () => {
  const externalId = `call-${planted}`
  const { id } = await makeConversation(server, key, bodyOf(externalId))
  await review(id, planted)
  const metric = await call('PUT', `/v1/conversations/${id}/metrics/csat`, {
    key,
    body: { value: 1, comment: planted },
  })
  expect(metric.status).toBe(201)
  const { id: monitorId } = await makeMonitor(server, key)
  const found = { monitorId, conversationId: id, result: 'affected', reasoning: planted }
  const results = [{ ...found, evidence: [{ turn: 0, quote: planted }] }]
  const stored = await call('POST', '/v1/monitor-results', { key, body: { results } })
  expect(stored.body.data).toMatchObject([{ status: 'created' }])
  await sql`
    INSERT INTO otel_spans (organization_id, trace_id, span_id, conversation_key, span) VALUES
      (${org.id}, ${`trace-${planted}`}, '1', ${externalId}, ${planted}),
      (${org.id}, ${`trace-${planted}`}, '2', NULL, ${planted}),
      (${org.id}, ${externalId}, '3', NULL, ${planted})`.execute(db)
  return { id: id as string, externalId }
}

const erase = (id: string) => call('DELETE', `/v1/conversations/${id}`, { key })

describe('erasing a conversation', () => {
  it('leaves none of its content in any table, file, or log line', async () => {
    // The response repeats the request's content. It is a failure, so the delivery is stored and retried.
    const receiver = await openReceiver((_request, response) => response.writeHead(500).end(planted))
    const events = ['review.completed']
    const endpoint = await makeActiveWebhookEndpoint(server, key, { url: receiver.url, events })
    const { id, externalId } = await plant()
    const called = await makeProvider(server, key, 'retell')
    const report = sample('retell_call_ended.json')
    report.call.call_id = externalId
    report.call.call_analysis = { call_summary: planted }
    report.call.transcript_with_tool_calls[0].content = planted
    report.call.agent_id = 'leo'
    for (const name of Object.keys(report.call)) if (name.endsWith('_url')) delete report.call[name]
    report.call.start_timestamp = Date.parse('2026-11-20T09:00:00.000Z')
    expect((await post(server, called, report)).body).toMatchObject({ status: 'applied', conversationId: id })
    await server.drain()
    const recordingUrl = (await call('GET', `/v1/conversations/${id}/recording`, { key })).headers.get('location') ?? ''
    expect((await fetch(recordingUrl)).status).toBe(200)
    expect(await findTraces(server, planted)).toEqual([
      'conversations',
      'customer_metrics',
      'monitor_results',
      'otel_spans',
      'recordings',
      'reviews',
      'transcripts',
      'webhook_attempts',
      'webhook_deliveries',
      'a file',
    ])

    const answer = await erase(id)
    expect(answer).toMatchObject({ status: 204, text: '' })
    await server.drain()
    expect(await findTraces(server, planted)).toEqual([])
    for (const told of [`integrations/${called.id}`, `webhook-endpoints/${endpoint.id}`]) {
      expect((await call('GET', `/v1/${told}/deliveries`, { key })).body.data).toEqual([])
    }
    expect((await fetch(recordingUrl)).status).toBe(404)
    for (const path of ['', '/transcript', '/recording', '/metrics', '/results']) {
      expect((await call('GET', `/v1/conversations/${id}${path}`, { key })).status).toBe(404)
    }
    expect((await erase(id)).status).toBe(404)

    // A late part is ignored, regardless of its source.
    expect(await call('POST', '/v1/conversations', { key, body: bodyOf(externalId) })).toMatchObject({ status: 409 })
    expect(await post(server, called, report)).toMatchObject({ status: 200, body: { status: 'erased' } })
    await server.drain()
    expect(await findTraces(server, planted)).toEqual([])
  })

  it('deletes a pending delivery of its review', async () => {
    let id = ''
    const receiver = await openReceiver(async (_request, response) => {
      expect((await erase(id)).status).toBe(204)
      response.writeHead(204).end()
    })
    await makeActiveWebhookEndpoint(server, key, { url: receiver.url, events: ['review.completed'] })
    id = (await plant()).id
    await server.drain()
    expect(receiver.received).toHaveLength(1)
    expect(await findTraces(server, planted)).toEqual([])
    expect(server.logged.filter((line) => line.includes('webhook.deliver'))).toEqual([])
  })

  it('leaves an audit event with only its ID', async () => {
    const { id } = await plant()
    await erase(id)
    const { data } = (await call('GET', '/v1/audit-events', { key })).body
    expect(data[0]).toMatchObject({ action: 'conversation.erase', targets: [{ type: 'conversation', id }] })
  })

  it('deletes the webhooks that were never applied but contain it, and no others', async () => {
    const { id, externalId } = await plant()
    const called = await makeProvider(server, key, 'retell')
    const unreadable = { event: 'call_ended', call: { call_id: externalId, transcript: planted } }
    const ignored = { event: 'call_started', call: { call_id: externalId, transcript: planted } }
    const foreign = { event: 'call_ended', call: { call_id: 'of another call' } }
    for (const payload of [unreadable, ignored, foreign, Buffer.from(`{"call_id": "${externalId}", "broken"`)]) {
      expect((await post(server, called, payload)).status).toBeLessThan(300)
    }
    const listed = async () => (await call('GET', `/v1/integrations/${called.id}/deliveries`, { key })).body.data
    expect(await listed()).toHaveLength(4)
    await erase(id)
    await server.drain()
    const left = await listed()
    // The payload of the ignored webhook was never stored, only the fact that it arrived.
    expect(left.map(({ status }: { status: string }) => status)).toEqual(['unreadable', 'ignored'])
    const kept = await call('GET', `/v1/integrations/${called.id}/deliveries/${left[0].id}`, { key })
    expect(kept.body.payload).toContain('of another call')
    expect(await findTraces(server, planted)).toEqual([])
  })

  it('changes nothing else', async () => {
    const { url } = await openReceiver(204)
    const endpoint = await makeActiveWebhookEndpoint(server, key, { url, events: ['review.completed'] })
    const { id } = await plant()
    const neighbour = await makeConversation(server, key, { metrics: [{ key: 'csat', value: 1 }] })
    await review(neighbour.id, 'Polite')
    const before = (await call('GET', `/v1/conversations/${neighbour.id}`, { key })).body
    const stranger = await makeOrganization(server)
    const same = await makeConversation(server, stranger.key, { externalId: `call-${planted}` })
    await erase(id)
    await server.drain()
    expect((await call('GET', `/v1/conversations/${neighbour.id}`, { key })).body).toEqual(before)
    expect((await call('GET', `/v1/conversations/${neighbour.id}/reviews`, { key })).body.data).toHaveLength(1)
    expect((await call('GET', `/v1/webhook-endpoints/${endpoint.id}/deliveries`, { key })).body.data).toHaveLength(1)
    expect((await call('GET', `/v1/conversations/${neighbour.id}/metrics`, { key })).body.data).toHaveLength(1)
    expect((await call('GET', `/v1/conversations/${same.id}`, { key: stranger.key })).body).toEqual(same)
    expect((await call('GET', '/v1/agents', { key })).body.data).toHaveLength(1)
  })

  it('is permanent even if parts of it arrive at the same time', async () => {
    const { id, externalId } = await plant()
    const tell = () => call('POST', '/v1/conversations', { key, body: bodyOf(externalId) })
    const [erased, ...told] = await Promise.all([erase(id), ...Array.from({ length: 12 }, tell)])
    expect(erased?.status).toBe(204)
    for (const { status } of told) expect([200, 409]).toContain(status)
    expect((await tell()).status).toBe(409)
    await server.drain()
    expect(await findTraces(server, planted)).toEqual([])
  })

  it('by many requests at once succeeds once', async () => {
    const { id } = await plant()
    const answers = await Promise.all(Array.from({ length: 8 }, () => erase(id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(404)])
  })
})
