import { randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { describe, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { sample } from '../../../test/samples/ingest/sample.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { wireOf } from '../../../test/support/integrations/otlp-wire.ts'
import { moveDue } from '../../../test/support/jobs/move-due.ts'
import { assembleConversations, sweepSpans } from './jobs.ts'

const server = await testServer({ EARSHOT_LIMITS: 'documentBytes=1000000' })
const { call } = server

const id = (bytes: number) => randomBytes(bytes).toString('hex').replace(/^0/, '1')

type Attributes = Record<string, unknown>
type Span = { traceId: string; spanId: string; [name: string]: unknown }

const attributesOf = (attributes: Attributes) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: String(value) } }))

const startMs = Date.UTC(2026, 1, 28, 12)

/** Creates a span that starts `ms` after the start of the conversation. */
const span = (traceId: string, ms: number, attributes: Attributes, more: object = {}): Span => ({
  traceId,
  spanId: id(8),
  name: 'chat',
  kind: 1,
  startTimeUnixNano: `${startMs + ms}000000`,
  endTimeUnixNano: `${startMs + ms + 500}000000`,
  attributes: attributesOf(attributes),
  ...more,
})

const tracesOf = (spans: Span[], scope = 'app', service = 'shop-assistant') => ({
  resourceSpans: [
    {
      resource: { attributes: attributesOf({ 'service.name': service }) },
      scopeSpans: [{ scope: { name: scope }, spans }],
    },
  ],
})

const said = (role: string, content: string) => JSON.stringify([{ role, parts: [{ type: 'text', content }] }])

const exchange = (asks: string, answers: string) => ({
  'gen_ai.operation.name': 'chat',
  'gen_ai.input.messages': said('user', asks),
  'gen_ai.output.messages': said('assistant', answers),
})

const post = (key: string, traces: object, headers: Record<string, string> = {}) =>
  call('POST', '/v1/otlp/v1/traces', { key, body: traces, headers })

/**
 * Advances the clock and runs all due jobs. The queue uses the database's clock, which does not advance, so the jobs'
 * due times are moved instead.
 */
const assemble = async (afterMs = 60_000) => {
  server.clock.advance(afterMs)
  await moveDue(server.deps.db, assembleConversations.name, -afterMs)
  return server.deps.jobs.drain([assembleConversations], server.deps)
}

const findConversations = async (key: string) =>
  (await call('POST', '/v1/conversations/search', { key, body: { filter: {} } })).body.data

const textsOf = async (key: string, conversationId: string) =>
  (await call('GET', `/v1/conversations/${conversationId}/transcript`, { key })).body.turns.map(
    ({ text }: { text: string }) => text,
  )

const countSpans = async (org: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM otel_spans WHERE organization_id = ${org}`.execute(server.deps.db)
  return rows[0]?.count ?? Number.NaN
}

const encodings: [string, (traces: Record<string, unknown>) => Buffer, Record<string, string>][] = [
  ['JSON', (traces) => Buffer.from(JSON.stringify(traces)), { 'content-type': 'application/json' }],
  ['protobuf', wireOf, { 'content-type': 'application/x-protobuf' }],
  [
    'JSON with gzip',
    (traces) => gzipSync(JSON.stringify(traces)),
    { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'gzip' },
  ],
  [
    'protobuf with gzip',
    (traces) => gzipSync(wireOf(traces)),
    { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
  ],
]

it.each(encodings)('traces in %s become a conversation, property by property', async (_name, encode, headers) => {
  const { key } = await makeOrganization(server)
  const raw = new Uint8Array(encode(sample('otel_genai_traces.json')))
  const answer = await call('POST', '/v1/otlp/v1/traces', { key, raw, headers })
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toContain(headers['content-type']?.split(';')[0])
  expect(answer.text).toBe(headers['content-type']?.includes('json') ? '{}' : '')

  await assemble(59_000)
  expect(await findConversations(key)).toEqual([])
  await assemble(1_000)
  const [conversation, ...more] = await findConversations(key)
  expect(more).toEqual([])
  expect(conversation).toMatchObject({
    externalId: 'air-77',
    channel: 'call',
    direction: null,
    status: 'completed',
    startedAt: '2026-02-28T12:00:00.000Z',
    endedAt: '2026-02-28T12:00:33.000Z',
    durationSeconds: 33,
    metadata: {
      'service.name': 'airline-voice-agent',
      'service.version': '2.4.0',
      'deployment.environment.name': 'production',
    },
  })
  const agent = (await call('GET', `/v1/agents/${conversation.agentId}`, { key })).body
  expect(agent).toMatchObject({ externalId: 'seat-agent', name: 'Seat agent', channel: 'voice' })
  const version = `/v1/agents/${agent.id}/versions/${conversation.agentVersionId}`
  expect((await call('GET', version, { key })).body).toMatchObject({
    label: 'v17',
    systemPrompt: 'You change airline seats.',
  })
  const { turns } = (await call('GET', `/v1/conversations/${conversation.id}/transcript`, { key })).body
  expect(turns).toMatchObject([
    { role: 'system', text: 'You change airline seats.' },
    { role: 'customer', text: 'Can I change my seat?' },
    { role: 'agent', kind: 'tool_call', startMs: 5_200, tool: { name: 'seat_map', arguments: { pnr: 'QX12' } } },
    { role: 'tool', kind: 'tool_result', startMs: 5_900, tool: { name: 'seat_map', result: { free: ['14A'] } } },
  ])
  const metrics = (await call('GET', `/v1/conversations/${conversation.id}/metrics`, { key })).body.data
  expect(metrics).toMatchObject([{ key: 'otel.tool_success', value: 1, comment: 'Tool returned one free seat.' }])
})

describe('a conversation', () => {
  it('from several traces is one, whichever span has its ID, and grows with late spans', async () => {
    const { key } = await makeOrganization(server)
    const name = `chat-${randomUUID()}`
    const [first, second] = [id(16), id(16)]
    const root = span(first, 0, { 'session.id': name })
    // Only the root of the trace has the conversation ID, and it arrives last.
    await post(key, tracesOf([span(first, 10, exchange('Hello', 'Hi'), { parentSpanId: root.spanId })]))
    await assemble()
    expect(await findConversations(key)).toEqual([])
    await post(key, tracesOf([root]))
    await assemble()
    const [conversation] = await findConversations(key)
    expect(conversation).toMatchObject({
      externalId: name,
      channel: 'chat',
      startedAt: new Date(startMs).toISOString(),
    })
    expect(await textsOf(key, conversation.id)).toEqual(['Hello', 'Hi'])
    const agent = (await call('GET', `/v1/agents/${conversation.agentId}`, { key })).body
    expect(agent).toMatchObject({ externalId: 'shop-assistant', name: 'shop-assistant', channel: 'text' })

    const named = { 'gen_ai.conversation.id': name, 'gen_ai.agent.name': 'Another' }
    await post(key, tracesOf([span(second, 5_000, { ...exchange('More?', 'Yes'), ...named })]))
    await assemble()
    expect(await findConversations(key)).toMatchObject([{ id: conversation.id, agentId: conversation.agentId }])
    expect(await textsOf(key, conversation.id)).toEqual(['Hello', 'Hi', 'More?', 'Yes'])
  })

  it('keeps its start, even if an earlier span arrives late', async () => {
    const { key } = await makeOrganization(server)
    const [trace, name] = [id(16), `chat-${randomUUID()}`]
    await post(key, tracesOf([span(trace, 5_000, { ...exchange('Two', '2'), 'gen_ai.conversation.id': name })]))
    await assemble()
    await post(key, tracesOf([span(trace, 0, exchange('One', '1'))]))
    await assemble()
    const [conversation] = await findConversations(key)
    expect(conversation.startedAt).toBe(new Date(startMs + 5_000).toISOString())
    expect(await textsOf(key, conversation.id)).toEqual(['One', '1', 'Two', '2'])
  })

  it('is created once from repeated spans, and not while they still arrive', async () => {
    const { id: org, key } = await makeOrganization(server)
    const trace = id(16)
    const spans = [span(trace, 0, exchange('Hello', 'Hi')), span(trace, 1_000, exchange('Bye', 'Bye'))]
    await post(key, tracesOf([spans[0] as Span]))
    await assemble(40_000)
    await post(key, tracesOf(spans))
    await post(key, tracesOf(spans))
    await assemble(40_000)
    expect(await findConversations(key)).toEqual([])
    await assemble(20_000)
    expect(await findConversations(key)).toMatchObject([{ externalId: trace }])
    expect(await countSpans(org)).toBe(2)
    await post(key, tracesOf(spans))
    expect(await assemble()).toEqual([])
    const { rows } = await sql`
      SELECT FROM jobs WHERE name = 'conversation.evaluate' AND organization_id = ${org}`.execute(server.deps.db)
    expect(rows).toHaveLength(1)
  })

  it('waits longer for a trace without its start', async () => {
    const { key } = await makeOrganization(server)
    await post(key, tracesOf([span(id(16), 0, exchange('Hello', 'Hi'), { parentSpanId: id(8) })]))
    await assemble()
    expect(await findConversations(key)).toEqual([])
    await assemble(9 * 60_000)
    expect(await findConversations(key)).toHaveLength(1)
  })

  it('shares a trace with another one, by the ancestors of their spans', async () => {
    const { key } = await makeOrganization(server)
    const trace = id(16)
    const root = span(trace, 0, { 'gen_ai.agent.name': 'Both' })
    const spans = ['a', 'b'].flatMap((name, index) => {
      const under = { parentSpanId: root.spanId }
      const own = span(trace, index * 1_000 + 1, { 'conversation.id': `${trace}-${name}` }, under)
      return [own, span(trace, index * 1_000 + 2, exchange(name, name), { parentSpanId: own.spanId })]
    })
    await post(key, tracesOf([root, ...spans]))
    await assemble()
    const found = await findConversations(key)
    expect(found.map(({ externalId }: { externalId: string }) => externalId).sort()).toEqual([
      `${trace}-a`,
      `${trace}-b`,
    ])
    for (const { id: conversationId, externalId } of found) {
      expect(await textsOf(key, conversationId)).toEqual([externalId.at(-1), externalId.at(-1)])
    }
  })

  it('is not created from traces without one', async () => {
    const { key } = await makeOrganization(server)
    await post(key, tracesOf([span(id(16), 0, { 'http.request.method': 'GET', 'session.id': 'browser-1' })]))
    await assemble()
    expect(await findConversations(key)).toEqual([])
  })

  it('with text takes its times from its spans, unlike a call', async () => {
    const { key } = await makeOrganization(server)
    const startsOf = async (externalId: string) => {
      const found = (await findConversations(key)).find((one: { externalId: string }) => one.externalId === externalId)
      const { turns } = (await call('GET', `/v1/conversations/${found.id}/transcript`, { key })).body
      return turns.map(({ startMs: ms }: { startMs: number | null }) => ms)
    }
    const [text, voice] = [id(16), id(16)]
    const spans = (trace: string) => [
      span(trace, 0, exchange('Hello', 'Hi')),
      span(trace, 4_000, exchange('Bye', 'See you')),
    ]
    await post(key, tracesOf(spans(text)))
    await post(key, tracesOf(spans(voice), 'pipecat'))
    await assemble()
    expect(await startsOf(text)).toEqual([0, 500, 4_000, 4_500])
    expect(await startsOf(voice)).toEqual([null, null, null, null])
  })

  it('in an unsupported format is not created empty: its spans are stored with the reason', async () => {
    const { key } = await makeOrganization(server)
    const { key: stranger } = await makeOrganization(server)
    const [trace, name] = [id(16), `chat-${randomUUID()}`]
    const list = async (asker = key) => (await call('GET', '/v1/otlp/unread-traces', { key: asker })).body.data
    const sent = span(trace, 0, { 'session.id': name, 'my.prompt': 'Hello', 'gen_ai.request.model': 'x' })
    await post(key, tracesOf([sent]))
    await assemble()
    expect(await findConversations(key)).toEqual([])
    expect(await list()).toMatchObject([
      { key: name, spans: 1, traceIds: [trace], reason: expect.stringMatching(/contains no turns.*my\.prompt/) },
    ])
    expect(await list(stranger)).toEqual([])
    const path = `/v1/otlp/unread-traces/spans?key=${name}`
    const { resourceSpans } = (await call('GET', path, { key })).body
    expect(resourceSpans[0].scopeSpans[0].spans).toMatchObject([{ traceId: trace, attributes: sent.attributes }])
    expect((await call('GET', path, { key: stranger })).body).toEqual({ resourceSpans: [] })
    const second = `chat-${randomUUID()}`
    await post(key, tracesOf([span(id(16), 0, { 'session.id': second, 'llm.foo': 'Hello' })]))
    await assemble()
    const first = (await call('GET', '/v1/otlp/unread-traces?limit=1', { key })).body
    expect(first.data).toMatchObject([{ key: second }])
    const next = (await call('GET', `/v1/otlp/unread-traces?limit=1&cursor=${first.nextCursor}`, { key })).body
    expect(next).toMatchObject({ data: [{ key: name }], nextCursor: null })

    // Spans without a conversation are kept longer than others, and are deleted when a conversation can be read.
    server.clock.advance(3 * 24 * 60 * 60_000)
    await server.deps.jobs.enqueue(server.deps.db, sweepSpans, {})
    await server.deps.jobs.drain([sweepSpans], server.deps)
    expect(await list()).toHaveLength(2)
    await post(key, tracesOf([span(trace, 1_000, { ...exchange('Hello', 'Hi'), 'session.id': name })]))
    await assemble()
    expect(await findConversations(key)).toMatchObject([{ externalId: name }])
    expect(await list()).toMatchObject([{ key: second }])
  })

  it('does not return after it was erased', async () => {
    const { id: org, key } = await makeOrganization(server)
    const trace = id(16)
    await post(key, tracesOf([span(trace, 0, exchange('Hello', 'Hi'))]))
    await assemble()
    const [{ id: conversationId }] = await findConversations(key)
    expect((await call('DELETE', `/v1/conversations/${conversationId}`, { key })).status).toBe(204)
    expect(await countSpans(org)).toBe(0)
    await post(key, tracesOf([span(trace, 2_000, exchange('Still', 'here'))]))
    await assemble()
    expect(await findConversations(key)).toEqual([])
    expect(await countSpans(org)).toBe(0)
  })

  it('is redacted before its spans are stored', async () => {
    const { id: org, key } = await makeOrganization(server)
    await call('PATCH', `/v1/organizations/${org}`, { key: serviceKey, body: { features: { phiMode: true } } })
    await call('PATCH', '/v1/organization', { key, body: { redaction: true } })
    await post(key, tracesOf([span(id(16), 0, exchange('I am ana@example.com', 'Hi'))]))
    const { rows } = await sql<{ span: string }>`
      SELECT span FROM otel_spans WHERE organization_id = ${org}`.execute(server.deps.db)
    expect(rows[0]?.span).toContain('[email]')
    expect(rows[0]?.span).not.toContain('ana@example.com')
    await assemble()
    const [conversation] = await findConversations(key)
    expect(await textsOf(key, conversation.id)).toEqual(['I am [email]', 'Hi'])
  })
})

describe('spans', () => {
  it('that are invalid are counted and reported, and the others are stored', async () => {
    const { id: org, key } = await makeOrganization(server)
    const bad = [
      { ...span('zz', 0, {}) },
      { ...span(id(16), 0, {}), spanId: '0'.repeat(16) },
      { ...span(id(16), 0, {}), startTimeUnixNano: '0' },
      span(id(16), 0, { text: 'a\u0000b' }),
      span(id(16), 0, { text: '\ud800' }),
      span(id(16), 0, { 'session.id': 'x'.repeat(300) }),
      { ...span(id(16), 0, {}), attributes: [5] },
    ]
    const answer = await post(key, tracesOf([...bad, span(id(16), 0, exchange('Hello', 'Hi'))]))
    expect(answer).toMatchObject({
      status: 200,
      body: { partialSuccess: { rejectedSpans: '7', errorMessage: 'traceId or spanId is not a hexadecimal ID' } },
    })
    expect(await countSpans(org)).toBe(1)
    const raw = new Uint8Array(wireOf(tracesOf([span('ab', 0, {})])))
    const headers = { 'content-type': 'application/x-protobuf' }
    const binary = await fetch(`${server.origin}/v1/otlp/v1/traces`, {
      method: 'POST',
      body: raw,
      headers: { ...headers, authorization: `Bearer ${key}` },
    })
    expect(Buffer.from(await binary.arrayBuffer()).toString('hex')).toMatch(/^0a[0-9a-f]{2}080112/)
  })

  it('can be an empty list', async () => {
    const { key } = await makeOrganization(server)
    expect(await post(key, {})).toMatchObject({ status: 200, body: {} })
    const headers = { 'content-type': 'application/x-protobuf' }
    expect((await call('POST', '/v1/otlp/v1/traces', { key, headers })).status).toBe(200)
  })

  it('are deleted a day after the last one, or a week after each', async () => {
    const { id: org, key } = await makeOrganization(server)
    const sweep = async (hours: number) => {
      server.clock.advance(hours * 60 * 60_000)
      await server.deps.jobs.enqueue(server.deps.db, sweepSpans, {})
      await server.deps.jobs.drain([sweepSpans], server.deps)
    }
    const grow = (name: string) => post(key, tracesOf([span(id(16), 0, { 'session.id': name })]))
    await grow('short')
    await grow('long')
    await sweep(20)
    await grow('long')
    await sweep(5)
    expect(await countSpans(org)).toBe(2)
    await grow('long')
    for (let day = 0; day < 9; day++) {
      await sweep(20)
      await grow('long')
    }
    // The conversation continues, but three of its twelve spans are older than a week.
    expect(await countSpans(org)).toBe(9)
    await sweep(25)
    expect(await countSpans(org)).toBe(0)
  })
})

describe('a request', () => {
  const send = async (raw: string | Buffer, headers: Record<string, string>) => {
    const { key } = await makeOrganization(server)
    const body = typeof raw === 'string' ? raw : new Uint8Array(raw)
    return (await call('POST', '/v1/otlp/v1/traces', { key, raw: body, headers })).status
  }
  const json = { 'content-type': 'application/json' }
  const binary = { 'content-type': 'application/x-protobuf' }

  it('that is malformed is rejected', async () => {
    expect(await send('{', json)).toBe(400)
    expect(await send('[]', json)).toBe(400)
    expect(await send('{"resourceSpans":5}', json)).toBe(400)
    expect(await send('{"resourceSpans":[{"scopeSpans":[{"spans":[1]}]}]}', json)).toBe(400)
    expect(await send(`{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, json)).toBe(400)
    expect(await send(Buffer.from('{"x":"\xff"}', 'latin1'), json)).toBe(400)
    expect(await send(Buffer.from('0aff', 'hex'), binary)).toBe(400)
    expect(await send('{}', { ...json, 'content-encoding': 'gzip' })).toBe(400)
    expect(await send('{}', { ...json, 'content-encoding': 'br' })).toBe(415)
    expect(await send('{}', { 'content-type': 'text/plain' })).toBe(415)
  })

  it('has a size limit compressed and uncompressed, and limits of spans and traces', async () => {
    const large = JSON.stringify({ padding: 'x'.repeat(1_000_000) })
    expect(await send(large, json)).toBe(413)
    expect(gzipSync(large).length).toBeLessThan(2_000)
    expect(await send(gzipSync(large), { ...json, 'content-encoding': 'gzip' })).toBe(413)
    const instant = `${startMs}000000`
    const bare = (traceId: string) => {
      return { traceId, spanId: id(8), startTimeUnixNano: instant, endTimeUnixNano: instant }
    }
    const of = (spans: object[]) => wireOf({ resourceSpans: [{ scopeSpans: [{ spans }] }] })
    const trace = id(16)
    expect(await send(of(Array.from({ length: 10_000 }, () => bare(trace))), binary)).toBe(200)
    expect(await send(of(Array.from({ length: 10_001 }, () => bare(trace))), binary)).toBe(413)
    expect(await send(of(Array.from({ length: 1_001 }, () => bare(id(16)))), binary)).toBe(413)
  })
})
