import { gzipSync } from 'node:zlib'
import { fastify } from 'fastify'
import { afterAll, expect, it } from 'vitest'
import { makeOrganization } from '../../../test/make.ts'
import { openConnection } from '../../../test/raw-http.ts'
import { testServer } from '../../../test/server.ts'
import { buildApp } from '../../app.ts'
import { ApiError } from '../errors.ts'
import { addFailures } from './failures.ts'
import { watchMethods } from './methods.ts'
import { openMetrics } from './metrics.ts'
import { addBodyParser } from './read-body.ts'
import { watchBodies } from './watch-bodies.ts'

const server = await testServer({
  EARSHOT_TRUST_PROXY: '1',
  EARSHOT_LIMITS: 'heldBytes=1000000,bodiesPerAddress=3,bodyBytes=400000',
})
const { key } = await makeOrganization(server)

const headOf = (length: number, address: string, path = '/v1/companies') =>
  [
    `POST ${path} HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    `content-length: ${length}`,
    `x-forwarded-for: ${address}`,
    '',
    '',
  ].join('\r\n')

const open = () => openConnection(server.deps.listening.port)

/** Resolves when the service has read as much of the sent data as it will read. */
const settled = async () => {
  await server.call('GET', '/healthz')
  await server.call('GET', '/healthz')
}

it('rejects a body that exceeds its share of memory, and frees the memory', async () => {
  const body = `${headOf(700_000, '192.0.2.1', '/v1/conversations/batch')}${' '.repeat(600_000)}`
  for (let attempt = 0; attempt < 3; attempt++) {
    const connection = open()
    const [answer] = await connection.exchange(body)
    expect(answer?.status).toBe(503)
    expect(answer?.headers.get('retry-after')).toBe('2')
    expect(JSON.parse(String(answer?.body)).error).toBe('temporarily unavailable')
    connection.close()
  }
  const small = { name: 'Acme', padding: 'x'.repeat(350_000) }
  expect((await server.call('POST', '/v1/companies', { key, body: small })).status).toBe(400)
})

it('limits the unfinished bodies of an IP address', async () => {
  const unfinished = [open(), open(), open()]
  for (const connection of unfinished) connection.exchange(`${headOf(100, '192.0.2.2')}{`).catch(() => {})
  await settled()
  const [refused] = await open().exchange(headOf(100, '192.0.2.2'))
  expect(refused?.status).toBe(429)
  expect(refused?.headers.get('retry-after')).toBe('2')
  const [other] = await open().exchange(`${headOf(2, '192.0.2.3')}{}`)
  expect(other?.status).toBe(400)
  for (const connection of unfinished) connection.close()
  await settled()
  const [again] = await open().exchange(`${headOf(2, '192.0.2.2')}{}`)
  expect(again?.status).toBe(400)
})

it('answers a body that arrives too slowly with 408, and closes the connection', async () => {
  const app = fastify()
  afterAll(() => app.close())
  const methods = watchMethods(app)
  watchBodies(app, { heldBytes: 1_000, bodiesPerAddress: 10 }, { graceMs: 100, leastBytesPerSecond: 1_000, tickMs: 20 })
  addBodyParser(app, { documentBytes: 1_000 })
  addFailures(app, methods)
  app.post('/', { config: { access: 'public' } }, async () => ({}))
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const connection = openConnection(Number(new URL(origin).port))
  const [answer] = await connection.exchange(
    'POST / HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n{',
  )
  expect(answer?.status).toBe(408)
  expect(answer?.headers.get('connection')).toBe('close')
  expect(JSON.parse(String(answer?.body)).error).toBe('request timeout')
})

it('counts a body until its handler has ended, even if its sender disconnected', async () => {
  const app = fastify()
  afterAll(() => app.close())
  const methods = watchMethods(app)
  watchBodies(app, { heldBytes: 1_000, bodiesPerAddress: 10 })
  addBodyParser(app, { documentBytes: 1_000 })
  addFailures(app, methods)
  const [hungUp, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const ended = Promise.withResolvers<void>()
  app.post('/slow', { config: { access: 'public' } }, async (_request, reply) => {
    reply.raw.once('close', () => hungUp.resolve())
    await ending.promise
    setImmediate(ended.resolve)
    return {}
  })
  app.post('/', { config: { access: 'public' } }, async () => ({}))
  const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  const body = JSON.stringify({ padding: 'x'.repeat(350) })
  const head = (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
  const send = async () => (await openConnection(port).exchange(head('/') + body))[0]?.status
  const slow = openConnection(port)
  slow.exchange(head('/slow') + body).catch(() => {})
  await expect.poll(send).toBe(503)
  slow.close()
  await hungUp.promise
  expect(await send()).toBe(503)
  ending.resolve()
  await ended.promise
  expect(await send()).toBe(200)
  // Bodies that never reach a handler must not count forever.
  for (let attempt = 0; attempt < 3; attempt++) {
    const [refused] = await openConnection(port).exchange(head('/') + body.replace('{', ' '))
    expect(refused?.status).toBe(400)
    const cut = openConnection(port)
    cut.exchange(head('/') + body.slice(0, 200)).catch(() => {})
    await expect.poll(send).toBe(503)
    cut.close()
    await expect.poll(send).toBe(200)
  }
})

it('rejects public routes while the service is overloaded, but not its health', async () => {
  const overload = {
    check: () => {
      throw new ApiError('unavailable', 'Too much.', { retryAfterSeconds: 1 })
    },
    close: () => {},
  }
  const app = await buildApp({ ...server.deps, metrics: openMetrics(server.deps) }, { overload })
  afterAll(() => app.close())
  for (const url of ['/openapi.json', '/docs', '/files/x']) expect((await app.inject(url)).statusCode).toBe(503)
  expect((await app.inject({ method: 'POST', url: '/auth/sign-in/email', payload: {} })).statusCode).toBe(503)
  expect((await app.inject('/healthz')).statusCode).toBe(200)
})

it.each([
  ['gzip', gzipSync('{"name":"Packed"}'), 201],
  ['identity', Buffer.from('{"name":"Plain"}'), 201],
  ['gzip', Buffer.from('{"name":"Not packed"}'), 400],
  ['gzip', gzipSync('{"name":"Cut"}').subarray(0, 20), 400],
  // The decompressed body is a thousand times as long as the sent data.
  ['gzip', gzipSync(Buffer.alloc(50_000_000, ' ')), 413],
  ['br', Buffer.from('{}'), 415],
])('inflates a body with Content-Encoding %s within its limit (%#)', async (encoding, raw, status) => {
  const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
  const answer = await server.call('POST', '/v1/companies', { key, raw: new Uint8Array(raw), headers })
  expect(answer.status).toBe(status)
})

it('accepts compressed NDJSON', async () => {
  const line = {
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    channel: 'call',
    startedAt: '2026-11-20T09:00:00Z',
  }
  const send = (raw: Buffer) =>
    server.call('POST', '/v1/conversations/batch', {
      key,
      raw: new Uint8Array(raw),
      headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
    })
  const answer = await send(gzipSync(`${JSON.stringify(line)}\n`.repeat(3)))
  expect(answer.body.data.map(({ status }: { status: string }) => status)).toEqual(['created', 'created', 'created'])
  expect((await send(Buffer.from('no gzip'))).status).toBe(400)
})
