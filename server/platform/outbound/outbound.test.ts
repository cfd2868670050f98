import { once } from 'node:events'
import { createServer as createTcpServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { echo, listen, resolver, serve } from '../../../test/outside.ts'
import type { OutboundOptions } from './connect.ts'
import { openOutbound } from './outbound.ts'
import type { OutboundRequest } from './request.ts'

afterEach(() => vi.unstubAllEnvs())

const open = (options: Partial<OutboundOptions> = {}) => {
  const outbound = openOutbound({ allowedPrivateAddresses: ['127.0.0.1/32'], ...options })
  onTestFinished(outbound.close)
  return outbound
}

const get: OutboundRequest = { method: 'GET', maxBytes: 10_000, timeoutMs: 5_000 }
const forbidden = { name: 'OutboundError', reason: 'forbidden_address' }

describe('addresses', () => {
  test.each([
    'localhost',
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '017700000001',
    '0x7f.0.0.1',
    '0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[2002:7f00:1::]',
    '１２７.0.0.1',
    '127。0。0。1',
  ])('%s is rejected before connecting', async (host) => {
    const server = await serve(echo)
    const outbound = open({ allowedPrivateAddresses: [] })
    await expect(outbound.request(`http://${host}:${server.port}/`, get)).rejects.toMatchObject(forbidden)
    expect(server.connections()).toBe(0)
  })

  test.each(['169.254.169.254', '100.100.100.200', '10.0.0.1', '[fd00:ec2::254]', '[fe80::1]'])(
    '%s is rejected, too',
    async (host) => {
      await expect(open().request(`http://${host}/`, get)).rejects.toMatchObject(forbidden)
      await expect(open().request(`https://${host}/`, get)).rejects.toMatchObject(forbidden)
    },
  )

  test('addresses that the operator allows are reachable', async () => {
    const server = await serve(echo)
    const { status, body } = await open().request(`${server.url}/path?x=1#y`, get)
    expect(status).toBe(200)
    expect(JSON.parse(body.toString())).toMatchObject({ method: 'GET', url: '/path?x=1' })
  })

  test('a name is resolved once per request, and the checked address is the one connected to', async () => {
    const server = await serve(echo)
    const { resolve, asked } = resolver({
      'rebinding.test': [['127.0.0.1'], ['127.0.0.2'], ['169.254.169.254'], ['::1']],
    })
    const outbound = open({ resolve })
    const url = `http://rebinding.test:${server.port}/`
    expect(await outbound.request(url, get)).toMatchObject({ status: 200 })
    expect(asked).toHaveLength(1)
    for (let time = 2; time <= 4; time++) {
      await expect(outbound.request(url, get)).rejects.toMatchObject(forbidden)
      expect(asked).toHaveLength(time)
    }
    expect(server.connections()).toBe(1)
  })

  test('an allowed address among others is used, the others are not', async () => {
    const server = await serve(echo)
    const { resolve } = resolver({ 'mixed.test': [['::1', '10.0.0.1', '127.0.0.2', '127.0.0.1']] })
    expect(await open({ resolve }).request(`http://mixed.test:${server.port}/`, get)).toMatchObject({ status: 200 })
  })

  test.each(['http://127.0.0.1:PORT/', 'http://name.test:PORT/'])(
    'proxies of the environment are ignored: %s',
    async (url) => {
      const server = await serve(echo)
      const proxy = await serve(echo)
      for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'HTTPS_PROXY']) {
        vi.stubEnv(name, proxy.url)
      }
      vi.stubEnv('NODE_USE_ENV_PROXY', '1')
      const outbound = open(resolver({ 'name.test': [['127.0.0.1']] }))
      await outbound.request(url.replace('PORT', String(server.port)), get)
      expect([server.connections(), proxy.connections()]).toEqual([1, 0])
    },
  )

  test('only http and https, only https on request, and no passwords in URLs', async () => {
    const server = await serve(echo)
    for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'data:,x', 'javascript:1', 'ws://127.0.0.1/']) {
      await expect(open().request(url, get), url).rejects.toMatchObject(forbidden)
    }
    const url = `${server.url}/`
    await expect(open().request(url, { ...get, plainHttp: 'nowhere' })).rejects.toMatchObject(forbidden)
    await expect(open().request(url.replace('//', '//user:secret@'), get)).rejects.toMatchObject(forbidden)
    await expect(open().request('not a url', get)).rejects.toMatchObject({ reason: 'failed' })
    expect(server.connections()).toBe(0)
  })

  test('http only to networks that the operator allows, on request', async () => {
    const server = await serve(echo)
    const { resolve } = resolver({ 'allowed.test': [['127.0.0.1']], 'public.test': [['1.1.1.1']] })
    const inAllowed: OutboundRequest = { ...get, plainHttp: 'allowed networks' }
    for (const host of ['127.0.0.1', 'allowed.test']) {
      expect(await open({ resolve }).request(`http://${host}:${server.port}/`, inAllowed)).toMatchObject({
        status: 200,
      })
    }
    const byHttpsOnly = { ...forbidden, message: expect.stringContaining('requires https') }
    for (const host of ['1.1.1.1', 'public.test']) {
      await expect(open({ resolve }).request(`http://${host}/`, inAllowed), host).rejects.toMatchObject(byHttpsOnly)
    }
    const without = open({ resolve, allowedPrivateAddresses: [] })
    await expect(without.request(`${server.url}/`, inAllowed)).rejects.toMatchObject(byHttpsOnly)
  })
})

describe('requests', () => {
  test('send method, headers, and body, and identify themselves', async () => {
    const server = await serve(echo)
    const { body } = await open().request(`${server.url}/hook`, {
      ...get,
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'webhook-id': 'msg_1', Host: 'other.test', Connection: 'upgrade' },
      body: '{"ä":1}',
    })
    const seen = JSON.parse(body.toString())
    expect(seen).toMatchObject({ method: 'POST', url: '/hook', body: '{"ä":1}' })
    expect(seen.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '8',
      'user-agent': 'Earshot',
      'webhook-id': 'msg_1',
      host: `127.0.0.1:${server.port}`,
    })
  })

  test('return any status with its headers', async () => {
    const server = await serve((_, response) => {
      response.writeHead(500, { 'x-more': ['1', '2'], 'retry-after': '5' }).end('broken')
    })
    const answer = await open().request(`${server.url}/`, get)
    expect(answer).toMatchObject({ status: 500, headers: { 'x-more': ['1', '2'], 'retry-after': '5' } })
    expect(answer.body.toString()).toBe('broken')
  })

  test('leave no connections behind', async () => {
    const server = await serve(echo)
    const outbound = open()
    for (let time = 0; time < 3; time++) await outbound.request(`${server.url}/`, get)
    await expect.poll(server.open).toBe(0)
    expect(server.connections()).toBe(3)
  })

  test('fail with a code and without the address', async () => {
    const server = await serve((_, response) => response.socket?.destroy())
    const url = `${server.url}/hook/path-secret?token=query-secret`
    const refused = await open()
      .request(url, get)
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ name: 'OutboundError', reason: 'failed' })
    const closed = await listen(createTcpServer())
    await closed.close()
    const unreachable = await open()
      .request(`${closed.url}/path-secret`, get)
      .catch((error: unknown) => error)
    expect(unreachable).toMatchObject({ reason: 'failed', message: 'The request failed (ECONNREFUSED).' })
    for (const error of [refused, unreachable]) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/path-secret|query-secret/)
      expect(error).not.toHaveProperty('cause')
    }
  })

  test('fail on a response that is not HTTP, and on https without TLS', async () => {
    const server = await listen(
      createTcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n').on('error', () => {})),
    )
    await expect(open().request(`${server.url}/`, get)).rejects.toMatchObject({ reason: 'failed' })
    await expect(open().request(`https://127.0.0.1:${server.port}/`, get)).rejects.toMatchObject({ reason: 'failed' })
  })

  test('end when their caller aborts them, with its reason', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/slow') response.write('beginning')
    })
    for (const path of ['/silent', '/slow']) {
      const caller = new AbortController()
      const { signal } = caller
      const pending = open().request(`${server.url}${path}`, { ...get, timeoutMs: 60_000, signal })
      const ended = expect(pending).rejects.toThrow('enough')
      await expect.poll(server.open).toBe(1)
      caller.abort(new Error('enough'))
      await ended
      await expect.poll(server.open).toBe(0)
      await expect(open().request(server.url, { ...get, signal })).rejects.toThrow('enough')
    }
    expect(server.connections()).toBe(2)
  })

  test('closing aborts pending requests', async () => {
    const server = await serve(() => {})
    const outbound = open()
    const pending = outbound.request(`${server.url}/`, { ...get, timeoutMs: 60_000 })
    const ended = expect(pending).rejects.toMatchObject({ reason: 'failed' })
    await expect.poll(server.open).toBe(1)
    await outbound.close()
    await ended
    await expect.poll(server.open).toBe(0)
  })
})

describe('size', () => {
  const tooLarge = { reason: 'too_large' }

  test('exactly the limit is accepted, one byte more is not, announced or not', async () => {
    const server = await serve((request, response) => {
      const [, announced, size] = (request.url ?? '').split('/')
      if (announced === 'announced') response.setHeader('content-length', Number(size))
      else response.flushHeaders()
      response.end(Buffer.alloc(Number(size)))
    })
    for (const form of ['announced', 'chunked']) {
      const url = (size: number) => `${server.url}/${form}/${size}`
      expect((await open().request(url(10_000), get)).body).toHaveLength(10_000)
      await expect(open().request(url(10_001), get), form).rejects.toMatchObject(tooLarge)
    }
  })

  test('an endless response is cut off', async () => {
    const server = await serve((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      }
      response.on('drain', more).on('error', () => {})
      more()
    })
    await expect(open().request(`${server.url}/`, get)).rejects.toMatchObject(tooLarge)
    await expect.poll(server.open).toBe(0)
  })

  test('compressed data stays compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000))
    const server = await serve((request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity')
      response.setHeader('content-encoding', 'gzip').end(bomb)
    })
    const { body } = await open().request(`${server.url}/`, get)
    expect(body.equals(bomb)).toBe(true)
  })

  test('headers are limited', async () => {
    const server = await serve((_, response) => {
      response.setHeader('x-large', 'x'.repeat(40_000)).end()
    })
    await expect(open().request(`${server.url}/`, get)).rejects.toMatchObject(tooLarge)
  })

  test('HEAD only returns a size', async () => {
    const server = await serve((_, response) => {
      response.setHeader('content-length', 1_000_000).end()
    })
    const answer = await open().request(`${server.url}/`, { ...get, method: 'HEAD' })
    expect(answer).toMatchObject({ headers: { 'content-length': '1000000' }, body: Buffer.alloc(0) })
  })
})

describe('time', () => {
  const soon: OutboundRequest = { ...get, timeoutMs: 150 }
  const timedOut = { reason: 'timed_out', message: 'There was no complete response within 150 ms.' }

  test('includes resolving the name', async () => {
    const outbound = open({ resolve: () => new Promise(() => {}) })
    await expect(outbound.request('http://slow.test/', soon)).rejects.toMatchObject(timedOut)
  })

  test('includes a server that accepts and does not respond', async () => {
    const server = await listen(createTcpServer((socket) => socket.on('error', () => {}).resume()))
    await expect(open().request(`${server.url}/`, soon)).rejects.toMatchObject(timedOut)
    await expect(open().request(`https://127.0.0.1:${server.port}/`, soon)).rejects.toMatchObject(timedOut)
    await expect.poll(server.open).toBe(0)
  })

  test('is short for a slow body, and for a response that does not start', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/silent') return
      const dripping = setInterval(() => response.write('x'), 10)
      response.once('close', () => clearInterval(dripping))
    })
    const request = { ...get, timeoutMs: 60_000, minimumRate: { bytesPerSecond: 1_000_000, longestWaitMs: 50 } }
    const tooSlow = { reason: 'timed_out', message: 'The server was too slow.' }
    await expect(open().request(`${server.url}/dripping`, request)).rejects.toMatchObject(tooSlow)
    await expect(open().request(`${server.url}/silent`, request)).rejects.toMatchObject(tooSlow)
    await expect.poll(server.open).toBe(0)
  })

  test('grows while a body is read slowly, and not while it is not read', async () => {
    const bytes = Buffer.alloc(32 * 1024 * 1024)
    const minimumRate = { bytesPerSecond: 500_000, longestWaitMs: 1_000 }
    const startedAt = performance.now()
    const elapsedMs = () => performance.now() - startedAt
    let received = 0
    const server = await serve(async (request, response) => {
      // Unread data stays with the sender, which has to give up.
      if (request.url === '/stuck') return
      for await (const chunk of request as AsyncIterable<Buffer>) {
        received += chunk.length
        // After a while, it stops reading. Data that is sent but not read does not count.
        if (elapsedMs() < 2 * minimumRate.longestWaitMs) await new Promise((resolve) => setTimeout(resolve, 6))
      }
      response.end('done')
    })
    const put: OutboundRequest = { method: 'PUT', body: bytes, maxBytes: 100, timeoutMs: 60_000 }
    expect((await open().request(`${server.url}/slow`, { ...put, minimumRate })).body.toString()).toBe('done')
    expect(elapsedMs()).toBeGreaterThan(minimumRate.longestWaitMs)
    expect(received).toBe(bytes.length)
    const stuck = open().request(`${server.url}/stuck`, { ...put, minimumRate })
    await expect(stuck).rejects.toMatchObject({ reason: 'timed_out', message: 'The server was too slow.' })
  })

  test('spent by the reader does not count', async () => {
    const server = await serve((_, response) => response.end(Buffer.alloc(500_000)))
    const minimumRate = { bytesPerSecond: 1, longestWaitMs: 2_000 }
    const { body } = await open().stream(`${server.url}/`, { ...get, maxBytes: 1_000_000, minimumRate })
    let bytes = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(bytes).toBe(500_000)
  })

  test('includes a trickling body', async () => {
    const server = await serve((_, response) => {
      const dripping = setInterval(() => response.write('x'), 10)
      response.once('close', () => clearInterval(dripping))
    })
    await expect(open().request(`${server.url}/`, soon)).rejects.toMatchObject(timedOut)
    await expect.poll(server.open).toBe(0)
  })

  test('includes all redirects', async () => {
    const server = await serve((_, response) => {
      setTimeout(() => response.writeHead(302, { location: '/' }).end(), 40)
    })
    const request = { ...soon, maxRedirects: 1_000 }
    await expect(open().request(`${server.url}/`, request)).rejects.toMatchObject(timedOut)
  })
})

describe('streams', () => {
  test('return the headers first and the bytes as they arrive', async () => {
    let finish = () => {}
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'audio/wav' }).write('first ')
      finish = () => response.end('last')
    })
    const { status, headers, body } = await open().stream(`${server.url}/`, get)
    expect([status, headers['content-type']]).toEqual([200, 'audio/wav'])
    const [first] = await once(body, 'data')
    expect(String(first)).toBe('first ')
    finish()
    expect(await text(body)).toBe('last')
    await expect.poll(server.open).toBe(0)
  })

  test('end with an error at the limit of bytes or time, or if the sender is cut off', async () => {
    const server = await serve((request, response) => {
      response.write('x'.repeat(100))
      if (request.url === '/cut') setTimeout(() => response.destroy(), 20)
    })
    const read = async (path: string, limits: Partial<OutboundRequest>) =>
      text((await open().stream(`${server.url}${path}`, { ...get, ...limits })).body)
    await expect(read('/', { maxBytes: 99 })).rejects.toMatchObject({ reason: 'too_large' })
    await expect(read('/', { timeoutMs: 100 })).rejects.toMatchObject({ reason: 'timed_out' })
    await expect(read('/cut', {})).rejects.toMatchObject({ reason: 'failed' })
    await expect.poll(server.open).toBe(0)
  })

  test('that nobody reads are closed after the timeout; a destroyed one immediately', async () => {
    const server = await serve((_, response) => void response.write('x'))
    const outbound = open()
    const url = `${server.url}/`
    const unread = await outbound.stream(url, { ...get, timeoutMs: 2_000 })
    const destroyed = await outbound.stream(url, get)
    expect(server.open()).toBe(2)
    destroyed.body.destroy()
    await expect.poll(server.open).toBe(0)
    expect(unread.body.errored).toMatchObject({ reason: 'timed_out' })
  })
})
