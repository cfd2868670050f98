import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { makeConversation, makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'
import { ownSpans } from './conversation.ts'
import { assembleConversations } from './jobs.ts'

const server = await testServer()
const { call, clock } = server

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0')
const [trace, startMs] = [hex(1, 32), clock.now().getTime() - 60 * 60_000]

const attributesOf = (attributes: Record<string, string>) =>
  Object.entries(attributes).map(([key, stringValue]) => ({ key, value: { stringValue } }))

const said = JSON.stringify([{ role: 'assistant', parts: [{ type: 'text', content: 'Hi' }] }])

const span = (number: number, conversation: string, more: object = {}) => ({
  traceId: trace,
  spanId: hex(number, 16),
  name: 'chat',
  startTimeUnixNano: `${startMs + number}000000`,
  endTimeUnixNano: `${startMs + number + 500}000000`,
  attributes: attributesOf({ 'gen_ai.conversation.id': conversation, 'gen_ai.output.messages': said }),
  ...more,
})

const post = (key: string, spans: object[], resource: Record<string, string> = {}) => {
  const body = { resourceSpans: [{ resource: { attributes: attributesOf(resource) }, scopeSpans: [{ spans }] }] }
  return call('POST', '/v1/otlp/v1/traces', { key, body })
}

/** Runs the first jobs of the organization two minutes later. */
const assemble = async (org: string, jobs = 1_000) => {
  clock.advance(120_000)
  await sql`
    UPDATE jobs SET due_at = now() - interval '1 second' WHERE id IN (
      SELECT id FROM jobs WHERE name = 'otel.assemble' AND state = 'delayed' AND organization_id = ${org}
      ORDER BY id LIMIT ${jobs})`.execute(server.deps.db)
  return server.deps.jobs.drain([assembleConversations], server.deps)
}

const find = async (key: string) => (await call('GET', '/v1/conversations', { key })).body.data

const unsound: [string, object, RegExp][] = [
  ['that ends at no instant', { endTimeUnixNano: 1e300 }, /ends more than 5 minutes in the future/],
  ['that ends after the year 9999', { endTimeUnixNano: 3e20 }, /ends more than 5 minutes in the future/],
  [
    'of a clock that goes ahead',
    { startTimeUnixNano: `${startMs + 9e6}000000` },
    /ends more than 5 minutes in the future/,
  ],
  ['with an event of odd attributes', { events: [{ attributes: [1] }] }, /attribute 0 is not an object/],
]

it.each(unsound)('a span %s is rejected, and the others become the conversation', async (_name, more, reason) => {
  const { key, id } = await makeOrganization(server)
  const answer = await post(key, [span(1, 'a'), span(2, 'a', more)])
  expect(answer).toMatchObject({ status: 200, body: { partialSuccess: { rejectedSpans: '1' } } })
  expect(answer.body.partialSuccess.errorMessage).toMatch(reason)
  await assemble(id)
  expect(await find(key)).toMatchObject([{ externalId: 'a', startedAt: new Date(startMs + 1).toISOString() }])
})

it('spans with a large resource are limited', async () => {
  const { key } = await makeOrganization(server)
  const spans = Array.from({ length: 100 }, (_, number) => span(number + 1, 'a'))
  expect(await post(key, spans, { large: 'r'.repeat(1_000_000) })).toMatchObject({ status: 413 })
  expect(await post(key, spans.slice(0, 10), { large: 'r'.repeat(1_000_000) })).toMatchObject({ status: 200, body: {} })
})

it('a small body with very many protobuf messages is rejected before they are created', async () => {
  const { key } = await makeOrganization(server)
  const emptyResourceSpans = Buffer.from([0x0a, 0x00])
  const raw = new Uint8Array(gzipSync(Buffer.alloc(4_000_000, emptyResourceSpans)))
  const headers = { 'content-type': 'application/x-protobuf', 'content-encoding': 'GZIP' }
  const answer = await call('POST', '/v1/otlp/v1/traces', { key, raw, headers })
  expect(answer).toMatchObject({ status: 413, body: { message: expect.stringContaining('500000 messages') } })
})

it('each of the conversations of a trace has its own job', async () => {
  const { key, id } = await makeOrganization(server)
  await post(key, [span(1, 'a'), span(2, 'b'), span(3, 'c')])
  await assemble(id, 1)
  expect(await find(key)).toHaveLength(1)
  await assemble(id)
  expect((await find(key)).map(({ externalId }: { externalId: string }) => externalId)).toEqual(['c', 'b', 'a'])
})

it('a conversation that existed before does not end before it starts', async () => {
  const { key, id } = await makeOrganization(server)
  await makeConversation(server, key, { externalId: 'a', startedAt: new Date(startMs + 60_000).toISOString() })
  await post(key, [span(1, 'a')])
  await assemble(id)
  expect(await find(key)).toMatchObject([{ startedAt: new Date(startMs + 60_000).toISOString(), endedAt: null }])
})

it('the conversations of a long chain of spans are found in one walk, even in a cycle', () => {
  // The chain is so long that following it for each span would take minutes.
  const length = 30_000
  const stored = Array.from({ length }, (_, number) => {
    const parentSpanId = hex(number === 0 ? 7 : number - 1, 16)
    const conversationKey = number === length / 2 ? 'a' : number === length - 1 ? 'b' : null
    const text = JSON.stringify({ resource: {}, scope: {}, span: { parentSpanId } })
    return { traceId: trace, spanId: hex(number, 16), conversationKey, text }
  })
  const numbers = (key: string) => ownSpans(stored, key).map(({ spanId }) => Number.parseInt(spanId, 16))
  expect(numbers('a')).toEqual([...Array(length - 1).keys()])
  expect(numbers('b')).toEqual([...Array(length / 2).keys(), length - 1])
})
