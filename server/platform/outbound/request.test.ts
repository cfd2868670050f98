import { describe, expect, onTestFinished, test } from 'vitest'
import { echo, resolver, serve } from '../../../test/outside.ts'
import type { OutboundOptions } from './connect.ts'
import { openOutbound } from './outbound.ts'
import type { OutboundRequest } from './request.ts'

const open = (options: Partial<OutboundOptions> = {}) => {
  const outbound = openOutbound({ allowedPrivateAddresses: ['127.0.0.1/32'], ...options })
  onTestFinished(outbound.close)
  return outbound
}

const get: OutboundRequest = { method: 'GET', maxBytes: 10_000, timeoutMs: 5_000 }
const forbidden = { name: 'OutboundError', reason: 'forbidden_address' }

describe('redirects', () => {
  const credentials = {
    authorization: 'Bearer secret',
    cookie: 'a=secret',
    'x-api-key': 'secret',
    'proxy-authorization': 'secret',
    accept: 'audio/*',
  }
  const follow: OutboundRequest = { ...get, maxRedirects: 3, headers: credentials }
  const redirectTo = (location: string, status = 302) =>
    serve((_, response) => void response.writeHead(status, { location }).end())
  const seenBy = (echoed: Buffer) => JSON.parse(echoed.toString())

  test('are returned unless they should be followed', async () => {
    const server = await redirectTo('http://169.254.169.254/')
    const answer = await open().request(`${server.url}/`, get)
    expect(answer).toMatchObject({ status: 302, headers: { location: 'http://169.254.169.254/' } })
  })

  test.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:169.254.169.254]/',
    'http://2130706434/',
    'http://localhost.:1/',
    'http://forbidden.test/',
    '//forbidden.test/',
    'file:///etc/passwd',
    'http://user:pass@127.0.0.1/',
  ])('to %s are rejected', async (location) => {
    const server = await redirectTo(location)
    const { resolve } = resolver({ 'forbidden.test': [['10.0.0.1']], 'localhost.': [['127.0.0.2']] })
    const refused = open({ resolve }).request(`${server.url}/`, follow)
    await expect(refused).rejects.toMatchObject(forbidden)
  })

  test('to the same name are checked with its new address', async () => {
    const server = await redirectTo('/again')
    const { resolve } = resolver({ 'rebinding.test': [['127.0.0.1'], ['10.0.0.1']] })
    const refused = open({ resolve }).request(`http://rebinding.test:${server.port}/`, follow)
    await expect(refused).rejects.toMatchObject(forbidden)
    expect(server.connections()).toBe(1)
  })

  test('keep credentials within the origin and drop them for others', async () => {
    const other = await serve(echo)
    const origin = await serve((request, response) => {
      if (request.url === '/here') response.writeHead(302, { location: '/echo' }).end()
      else if (request.url === '/there') response.writeHead(302, { location: `${other.url}/x` }).end()
      else echo(request, response)
    })
    const here = await open().request(`${origin.url}/here`, follow)
    expect(seenBy(here.body).headers).toMatchObject(credentials)
    const there = await open().request(`${origin.url}/there`, follow)
    const { url, headers } = seenBy(there.body)
    expect([url, headers.accept, headers.host]).toEqual(['/x', 'audio/*', `127.0.0.1:${other.port}`])
    expect(JSON.stringify(headers)).not.toContain('secret')
  })

  test.each([
    { status: 301, method: 'POST', becomes: 'GET' },
    { status: 302, method: 'POST', becomes: 'GET' },
    { status: 303, method: 'PUT', becomes: 'GET' },
    { status: 307, method: 'POST', becomes: 'POST' },
    { status: 308, method: 'PUT', becomes: 'PUT' },
  ] as const)('with $status turn $method into $becomes', async ({ status, method, becomes }) => {
    const other = await serve(echo)
    const server = await redirectTo(`${other.url}/`, status)
    const headers = { 'content-type': 'text/plain' }
    const answer = await open().request(`${server.url}/`, {
      ...follow,
      method,
      headers,
      body: 'content',
    })
    const seen = seenBy(answer.body)
    expect([seen.method, seen.body]).toEqual([becomes, becomes === 'GET' ? '' : 'content'])
    expect(seen.headers['content-type']).toBe(becomes === 'GET' ? undefined : 'text/plain')
  })

  test('are limited', async () => {
    const server = await serve((request, response) => {
      const left = Number(request.url?.slice(1))
      if (left === 0) response.end('arrived')
      else response.writeHead(302, { location: `/${left - 1}` }).end()
    })
    const url = server.url
    expect((await open().request(`${url}/3`, follow)).body.toString()).toBe('arrived')
    await expect(open().request(`${url}/4`, follow)).rejects.toMatchObject({ reason: 'too_many_redirects' })
    expect(await open().request(`${url}/1`, get)).toMatchObject({ status: 302 })
    await expect.poll(server.open).toBe(0)
  })

  test('from https only go to https', async () => {
    const server = await redirectTo('http://example.com/')
    const refused = open().request(`${server.url}/`, { ...follow, plainHttp: 'nowhere' })
    await expect(refused).rejects.toMatchObject(forbidden)
  })
})
