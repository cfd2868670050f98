import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeAgent, makeOrganization } from '../../../test/make.ts'
import { sample, sampleBytes } from '../../../test/samples/ingest/sample.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import {
  bytesOf,
  makeCalled,
  makeProvider,
  post,
  sampleOf,
  samples,
  secret,
} from '../../../test/support/integrations/signed-webhooks.ts'

const server = await testServer()
const { call } = server

type Payload = Record<string, Record<string, unknown>>

/** Returns a Retell call that is like the sample but has its own ID. */
const retellCall = (change: object = {}, event = 'call_ended'): Payload => {
  const { call } = sample('retell_call_ended.json')
  return { event, call: { ...call, call_id: `call_${randomUUID()}`, ...change } } as unknown as Payload
}

const listDeliveries = async (key: string, id: string, query = '') =>
  (await call('GET', `/v1/integrations/${id}/deliveries${query}`, { key })).body.data

const findConversations = async (key: string) =>
  (await call('POST', '/v1/conversations/search', { key, body: { filter: {} } })).body.data

const countRows = async (table: string, org: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM ${sql.table(table)} WHERE organization_id = ${org}`.execute(server.deps.db)
  return rows[0]?.count ?? Number.NaN
}

describe.each(Object.keys(samples))('a call of %s', (provider) => {
  const body = sampleOf(provider)

  it('is rejected without storing anything if any of it is changed', async () => {
    const { id, key, integration } = await makeCalled(server, provider)
    const changed = Buffer.from(body)
    changed[100] = (changed[100] ?? 0) ^ 1
    for (const options of [
      { sent: changed },
      { sent: Buffer.concat([body, Buffer.from(' ')]) },
      { key: `${secret}x` },
    ]) {
      const answer = await post(server, integration, body, options)
      expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
      expect(answer.text).not.toContain(secret)
    }
    const unsigned = await call('POST', integration.webhookPath, { raw: new Uint8Array(body) })
    expect(unsigned.status).toBe(401)
    expect(await countRows('integration_deliveries', id)).toBe(0)
    expect(await findConversations(key)).toEqual([])
    expect((await post(server, integration, body)).status).toBe(200)
  })

  it('is rejected as stale, with a reason', async () => {
    const { id, integration } = await makeCalled(server, provider)
    const stale = new Date(server.clock.now().getTime() - 31 * 60_000)
    const answer = await post(server, integration, body, { now: stale })
    expect(answer).toMatchObject({ status: 401, body: { message: expect.stringMatching(/timestamp/) } })
    expect(await countRows('integration_deliveries', id)).toBe(0)
  })

  it('sent twice changes nothing the second time', async () => {
    const { key, integration } = await makeCalled(server, provider)
    const first = await post(server, integration, body)
    const second = await post(server, integration, body)
    const { conversationId } = first.body
    expect(second).toMatchObject({ status: 200, body: { status: 'unchanged', conversationId } })
    expect(await findConversations(key)).toHaveLength(1)
    const listed = await listDeliveries(key, integration.id)
    expect(listed).toMatchObject([
      { id: second.body.deliveryId, status: 'unchanged', conversationId, bytes: body.length, replayable: true },
      { id: first.body.deliveryId, status: 'applied', conversationId, contentType: 'application/json' },
    ])
  })
})

it('fifty concurrent requests create one conversation and one evaluation', async () => {
  const { id, key, integration } = await makeCalled(server, 'retell')
  const payload = retellCall()
  const answers = await Promise.all(Array.from({ length: 50 }, () => post(server, integration, payload)))
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
  expect(answers.filter(({ body }) => body.status === 'applied')).toHaveLength(1)
  expect(new Set(answers.map(({ body }) => body.conversationId)).size).toBe(1)
  expect(await findConversations(key)).toHaveLength(1)
  expect(await countRows('integration_deliveries', id)).toBe(50)
  const { rows } = await sql`
    SELECT FROM jobs WHERE name = 'conversation.evaluate' AND organization_id = ${id}`.execute(server.deps.db)
  expect(rows).toHaveLength(1)
})

const permutations = <T>(list: T[]): T[][] =>
  list.length <= 1
    ? [list]
    : list.flatMap((item, index) => permutations(list.toSpliced(index, 1)).map((rest) => [item, ...rest]))

it('the parts of a call result in the same conversation in any order', async () => {
  const { key, integration } = await makeCalled(server, 'retell')
  const whole = retellCall()
  const { transcript_with_tool_calls, transcript_object, transcript, recording_url, ...facts } = whole.call ?? {}
  const { recording_multi_channel_url: _multi, ...bare } = facts
  const parts: [string, object][] = [
    ['call_started', { ...bare, end_timestamp: undefined, call_status: 'ongoing' }],
    ['call_ended', { ...bare, transcript_object, transcript, metadata: { tier: 'gold' } }],
    ['call_ended', { ...bare, transcript_with_tool_calls, recording_url }],
    ['call_analyzed', { ...bare, call_analysis: { call_summary: 'Doubled bill.', in_voicemail: false } }],
  ]
  const seen = new Set<string>()
  for (const order of permutations(parts)) {
    const call_id = `call_${randomUUID()}`
    let conversationId = ''
    for (const [event, told] of order) {
      const answer = await post(server, integration, { event, call: { ...told, call_id } })
      expect(answer.status).toBe(200)
      conversationId = answer.body.conversationId ?? conversationId
    }
    const get = async (path: string) => (await call('GET', `/v1/conversations/${conversationId}${path}`, { key })).body
    const { id: _id, externalId, createdAt: _c, updatedAt: _u, ...row } = await get('')
    expect(externalId).toBe(call_id)
    const { turns, content } = await get('/transcript')
    const metrics = (await get('/metrics')).data.map(({ updatedAt: _at, ...metric }: { updatedAt: string }) => metric)
    seen.add(JSON.stringify([{ ...row, metadata: Object.entries(row.metadata).sort() }, turns, content, metrics]))
  }
  expect([...seen]).toHaveLength(1)
  expect(JSON.parse([...seen][0] ?? '')[1]).toHaveLength(7)
})

describe('the secret', () => {
  const rotate = (key: string, id: string, body: object) => call('PATCH', `/v1/integrations/${id}`, { key, body })

  it('works for a day after it was replaced', async () => {
    const { key, integration } = await makeCalled(server, 'retell')
    const rotated = await rotate(key, integration.id, { secret: 'the-next-secret' })
    const until = new Date(server.clock.now().getTime() + 24 * 60 * 60_000).toISOString()
    expect(rotated.body.previousSecretUntil).toBe(until)
    expect((await post(server, integration, retellCall())).status).toBe(200)
    expect((await post(server, integration, retellCall(), { key: 'the-next-secret' })).status).toBe(200)
    server.clock.advance(24 * 60 * 60_000)
    expect((await post(server, integration, retellCall())).status).toBe(401)
    expect((await post(server, integration, retellCall(), { key: 'the-next-secret' })).status).toBe(200)
    expect((await call('GET', `/v1/integrations/${integration.id}`, { key })).body.previousSecretUntil).toBeNull()
  })

  it('stops working immediately on request, even afterwards', async () => {
    const { key, integration } = await makeCalled(server, 'retell')
    await rotate(key, integration.id, { secret: 'the-next-secret', previousSecretValidSeconds: 0 })
    expect((await post(server, integration, retellCall())).status).toBe(401)
    await rotate(key, integration.id, { secret: 'a-third-secret' })
    expect((await post(server, integration, retellCall(), { key: 'the-next-secret' })).status).toBe(200)
    await rotate(key, integration.id, { previousSecretValidSeconds: 0 })
    expect((await post(server, integration, retellCall(), { key: 'the-next-secret' })).status).toBe(401)
    expect((await post(server, integration, retellCall(), { key: 'a-third-secret' })).status).toBe(200)
  })

  it('stops working after its time, whatever is sent afterwards', async () => {
    const { key, integration } = await makeCalled(server, 'retell')
    await rotate(key, integration.id, { secret: 'the-next-secret', previousSecretValidSeconds: 60 })
    server.clock.advance(61_000)
    const late = await rotate(key, integration.id, { previousSecretValidSeconds: 3_600 })
    expect(late).toMatchObject({ status: 200, body: { previousSecretUntil: null } })
    expect((await post(server, integration, retellCall())).status).toBe(401)
  })

  it('sent again is no rotation', async () => {
    const { key, integration } = await makeCalled(server, 'retell')
    expect((await rotate(key, integration.id, { secret })).body.previousSecretUntil).toBeNull()
  })

  it('is in no response, table, or log line', async () => {
    const { key, integration } = await makeCalled(server, 'retell')
    await rotate(key, integration.id, { secret: 'the-next-secret' })
    await post(server, integration, retellCall(), { key: 'wrong' })
    const { rows } = await sql`SELECT to_jsonb(i) AS row FROM integrations i`.execute(server.deps.db)
    const listed = await call('GET', '/v1/integrations', { key })
    for (const text of [JSON.stringify(rows), listed.text, server.logged.join('')]) {
      expect(text).not.toContain(secret)
      expect(text).not.toContain('the-next-secret')
    }
  })
})

describe('a payload that cannot be processed', () => {
  const cases: [string, unknown, string, RegExp][] = [
    ['no JSON', Buffer.from('{"event":'), 'unreadable', /not JSON/],
    ['no UTF-8', Buffer.from([0x7b, 0xff]), 'unreadable', /not UTF-8/],
    ['nothing', Buffer.alloc(0), 'unreadable', /not JSON/],
    ['another shape', { hello: 'world' }, 'unreadable', /event is missing/],
    ['NUL', Buffer.from('{"event":"call_ended\\u0000"}'), 'unreadable', /NUL/],
    ['half a surrogate pair', Buffer.from('{"event":"x","\\ud800":1}'), 'unreadable', /surrogate/],
    ['depth', Buffer.from(`${'['.repeat(5_000)}${']'.repeat(5_000)}`), 'unreadable', /nested more than/],
    ['an id that is too long', retellCall({ call_id: 'x'.repeat(300) }), 'rejected', /ID of the call is longer/],
    [
      'too much metadata',
      retellCall({ metadata: { x: 'x'.repeat(70_000) } }),
      'rejected',
      /metadata must have at most/,
    ],
    ['another age', retellCall({ start_timestamp: Date.UTC(2090, 0) }), 'rejected', /in the future/],
  ]

  it.each(cases)('is stored and answered with 202: %s', async (_name, payload, status, reason) => {
    const { key, integration } = await makeCalled(server, 'retell')
    const answer = await post(server, integration, payload)
    expect(answer).toMatchObject({ status: 202, body: { status, conversationId: null } })
    const listed = await listDeliveries(key, integration.id)
    expect(listed).toMatchObject([{ status, reason: expect.stringMatching(reason), replayable: true }])
    const path = `/v1/integrations/${integration.id}/deliveries/${answer.body.deliveryId}`
    expect((await call('GET', path, { key })).body).toMatchObject({
      ...listed[0],
      payload: bytesOf(payload).toString('utf8'),
    })
    expect(await findConversations(key)).toEqual([])
  })

  it('is sealed at rest', async () => {
    const { id, integration } = await makeCalled(server, 'retell')
    const planted = `planted-${randomUUID()}`
    await post(server, integration, { nothing: planted })
    const { rows } = await sql<{ payload: string }>`
      SELECT payload FROM integration_deliveries WHERE organization_id = ${id}`.execute(server.deps.db)
    expect(rows[0]?.payload).toMatch(/^v1\./)
    expect(server.logged.join('')).not.toContain(planted)
  })

  it('is processed by a replay once nothing prevents it', async () => {
    const { id, key, integration } = await makeCalled(server, 'livekit')
    const report = { ...sample('livekit_session_report.json'), room_id: `RM_${randomUUID()}` }
    // The conversation already belongs to another agent.
    const taken = await makeAgent(server, key)
    const startedAt = '2026-02-27T09:00:00.000Z'
    const body = { externalId: report.room_id, agentId: taken.id, channel: 'call', startedAt }
    const conversation = (await call('POST', '/v1/conversations', { key, body })).body
    const answer = await post(server, integration, report)
    expect(answer).toMatchObject({ status: 202, body: { status: 'rejected', conversationId: conversation.id } })

    const settings = { agentId: taken.id }
    const patched = await call('PATCH', `/v1/integrations/${integration.id}`, { key, body: { settings } })
    expect(patched).toMatchObject({ status: 200, body: { settings } })
    const path = `/v1/integrations/${integration.id}/deliveries/${answer.body.deliveryId}`
    const replayed = await call('POST', `${path}/replay`, { key })
    expect(replayed).toMatchObject({
      status: 200,
      body: { id: answer.body.deliveryId, status: 'applied', reason: null, conversationId: conversation.id },
    })
    const { turns } = (await call('GET', `/v1/conversations/${conversation.id}/transcript`, { key })).body
    expect(turns.length).toBeGreaterThan(4)
    const audit = (await call('GET', '/v1/audit-events', { key })).body.data
    expect(audit[0]).toMatchObject({ action: 'integration.replay', targets: [{ id: answer.body.deliveryId }] })
    expect(await countRows('integration_deliveries', id)).toBe(1)
    expect(await listDeliveries(key, integration.id, '?status=rejected')).toEqual([])
    expect(await listDeliveries(key, integration.id, '?status=applied')).toHaveLength(1)
  })
})

it('an event without a finished call is ignored, with the reason', async () => {
  const { key, integration } = await makeCalled(server, 'vapi')
  const answer = await post(server, integration, { message: { type: 'status-update', status: 'ringing' } })
  expect(answer).toMatchObject({ status: 200, body: { status: 'ignored', conversationId: null } })
  const reason = expect.stringContaining('status-update')
  expect(await listDeliveries(key, integration.id)).toMatchObject([
    { status: 'ignored', event: 'status-update', reason },
  ])
})

it('a late part of an erased conversation is dropped without a trace', async () => {
  const { id, key, integration } = await makeCalled(server, 'retell')
  const payload = retellCall()
  const { conversationId } = (await post(server, integration, payload)).body
  expect((await call('DELETE', `/v1/conversations/${conversationId}`, { key })).status).toBe(204)
  const late = await post(server, integration, payload)
  expect(late).toMatchObject({ status: 200, body: { status: 'erased', conversationId: null } })
  expect(await findConversations(key)).toEqual([])
  const { rows } = await sql`
    SELECT event, reason, payload, conversation_id FROM integration_deliveries WHERE organization_id = ${id}`.execute(
    server.deps.db,
  )
  expect(rows).toEqual([{ event: null, reason: null, payload: null, conversation_id: null }])
})

describe('with redaction', () => {
  const redacting = async (provider: string) => {
    const called = await makeCalled(server, provider)
    const features = { phiMode: true }
    await call('PATCH', `/v1/organizations/${called.id}`, { key: serviceKey, body: { features } })
    await call('PATCH', '/v1/organization', { key: called.key, body: { redaction: true } })
    return called
  }

  it('stored payloads contain nothing that was redacted, and a replay changes nothing', async () => {
    const { key, integration } = await redacting('retell')
    const metadata = { mail: 'ana@example.com' }
    const answer = await post(server, integration, retellCall({ metadata }))
    expect(answer.body.status).toBe('applied')
    const path = `/v1/integrations/${integration.id}/deliveries/${answer.body.deliveryId}`
    const { payload } = (await call('GET', path, { key })).body
    expect(payload).toContain('[email]')
    expect(payload).not.toContain('ana@example.com')
    expect(payload).not.toContain('+15550100777')
    const before = (await call('GET', `/v1/conversations/${answer.body.conversationId}`, { key })).body
    expect(before.metadata.mail).toBe('[email]')
    expect((await call('POST', `${path}/replay`, { key })).body.status).toBe('unchanged')
    expect((await call('GET', `/v1/conversations/${answer.body.conversationId}`, { key })).body).toEqual(before)
  })

  it('invalid JSON is not stored', async () => {
    const { key, integration } = await redacting('retell')
    const answer = await post(server, integration, Buffer.from('ana@example.com'))
    expect(answer.status).toBe(202)
    expect(await listDeliveries(key, integration.id)).toMatchObject([{ status: 'unreadable', replayable: false }])
    const path = `/v1/integrations/${integration.id}/deliveries/${answer.body.deliveryId}`
    expect((await call('GET', path, { key })).body.payload).toBeNull()
    expect(await call('POST', `${path}/replay`, { key })).toMatchObject({ status: 409, body: { error: 'conflict' } })
  })
})

describe('the webhook URL', () => {
  it('of an unknown integration returns 404, of a suspended organization 403', async () => {
    const { id, integration } = await makeCalled(server, 'retell')
    const unknown = { ...integration, webhookPath: `/v1/integrations/${randomUUID()}/webhook` }
    expect((await post(server, unknown, retellCall())).status).toBe(404)
    await call('POST', `/v1/organizations/${id}/suspend`, { key: serviceKey })
    expect((await post(server, integration, retellCall())).status).toBe(403)
    expect(await countRows('integration_deliveries', id)).toBe(0)
  })

  it('accepts bodies up to the limit for documents', async () => {
    const { integration } = await makeCalled(server, 'retell')
    const large = retellCall({ transcript: 'User: x\n'.repeat(200_000), padding: 'x'.repeat(2_000_000) })
    expect((await post(server, integration, large)).status).toBe(200)
    const tooLarge = retellCall({ padding: 'x'.repeat(5 * 1024 * 1024) })
    expect((await post(server, integration, tooLarge)).status).toBe(413)
  })

  it('accepts forms, and any query that a sender adds', async () => {
    const { key, integration } = await makeCalled(server, 'vapi', { settings: { scheme: 'secret' } })
    const answer = await call('POST', `${integration.webhookPath}?added=1`, {
      raw: 'RecordingSid=RE1&CallSid=CA1',
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-vapi-secret': secret },
    })
    expect(answer).toMatchObject({ status: 202, body: { status: 'unreadable' } })
    expect(await listDeliveries(key, integration.id)).toMatchObject([
      { reason: 'message.type is missing', contentType: 'application/x-www-form-urlencoded' },
    ])
  })
})

it('the list is paged, and each organization only sees its own', async () => {
  const { key, integration } = await makeCalled(server, 'retell')
  const ids: string[] = []
  for (let i = 0; i < 3; i++) ids.unshift((await post(server, integration, { i })).body.deliveryId)
  const path = `/v1/integrations/${integration.id}/deliveries`
  const first = (await call('GET', `${path}?limit=2&status=unreadable`, { key })).body
  expect(first.data.map(({ id }: { id: string }) => id)).toEqual(ids.slice(0, 2))
  const rest = await call('GET', `${path}?limit=2&status=unreadable&cursor=${first.nextCursor}`, { key })
  expect(rest.body).toMatchObject({ data: [{ id: ids[2] }], nextCursor: null })
  expect((await call('GET', `${path}?limit=2&status=ignored&cursor=${first.nextCursor}`, { key })).status).toBe(400)

  const stranger = await makeOrganization(server)
  const own = await makeProvider(server, stranger.key, 'retell')
  const elsewhere = `/v1/integrations/${own.id}/deliveries/${ids[0]}`
  expect((await call('GET', elsewhere, { key: stranger.key })).status).toBe(404)
  expect((await call('GET', `${path}/${ids[0]}`, { key: stranger.key })).status).toBe(404)
})

it('Twilio’s own test vectors have another URL, and are rejected here', async () => {
  const { integration } = await makeCalled(server, 'twilio')
  const body = sampleBytes('twilio_ci_webhook.json')
  const headers = { 'x-twilio-signature': 'SjFAHKSOEaff6fwwaaMId8EnRgA=' }
  expect((await post(server, integration, body, { headers })).status).toBe(401)
})
