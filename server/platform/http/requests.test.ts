import { beforeAll, describe, expect, it } from 'vitest'
import { makeCompany, makeOrganization } from '../../../test/make.ts'
import { openConnection } from '../../../test/raw-http.ts'
import { serviceKey, testServer } from '../../../test/server.ts'

/** Tests the rules that apply to all requests. */

const server = await testServer()
const { call } = server
let org: Awaited<ReturnType<typeof makeOrganization>>
beforeAll(async () => {
  org = await makeOrganization(server)
})

const create = (raw: string, headers = {}) =>
  call('POST', '/v1/companies', { key: org.key, raw, headers: { 'content-type': 'application/json', ...headers } })

const issuesOf = ({ body }: { body: { details?: { issues: { path: string; message: string }[] } } }) =>
  body.details?.issues ?? []

describe('the request id', () => {
  it.each(['abc', 'trace-4711', 'a.b:c_d', 'x'.repeat(128)])('%j is returned', async (id) => {
    const { headers } = await call('GET', '/healthz', { headers: { 'x-request-id': id } })
    expect(headers.get('x-request-id')).toBe(id)
  })

  it.each(['', 'a b', '"quoted"', 'x'.repeat(129), '{"level":"error"}', 'é'])('%j is replaced', async (id) => {
    const { headers } = await call('GET', '/healthz', { headers: { 'x-request-id': id } })
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('is generated for each request, and is in its log line', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('GET', '/healthz')))
    const ids = answers.map(({ headers }) => String(headers.get('x-request-id')))
    expect(new Set(ids).size).toBe(20)
    for (const id of ids) expect(server.logged.filter((line) => line.includes(id))).toHaveLength(1)
  })
})

describe('every response', () => {
  it.each([
    ['GET', '/healthz', 200],
    ['GET', '/v1/me', 401],
    ['GET', '/nowhere', 404],
    ['GET', '/%zz', 400],
    ['PUT', '/healthz', 405],
  ])('to %s %s has security headers for browsers', async (method, path, status) => {
    const answer = await call(method, path)
    expect(answer.status).toBe(status)
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-site',
    })
    for (const name of ['access-control-allow-origin', 'x-powered-by', 'server'])
      expect(answer.headers.has(name)).toBe(false)
  })

  it('to HEAD has the headers of GET and no body', async () => {
    const headers = { authorization: `Bearer ${org.key}`, 'accept-encoding': 'identity' }
    for (const path of ['/healthz', '/v1/companies', '/openapi.json', '/docs']) {
      const get = await fetch(server.origin + path, { headers })
      const head = await fetch(server.origin + path, { headers, method: 'HEAD' })
      expect(head.status).toBe(200)
      expect(await head.text()).toBe('')
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
      expect(head.headers.get('content-length')).toBe(String((await get.bytes()).length))
    }
  })
})

describe('a rejected request', () => {
  it.each([
    ['OPTIONS', '/v1/companies', 405, 'method not allowed'],
    ['TRACE', '/v1/companies', 405, 'method not allowed'],
    ['PUT', '/v1/companies', 405, 'method not allowed'],
    ['GET', '/nowhere', 404, 'not found'],
    ['GET', '/V1/COMPANIES', 404, 'not found'],
    ['GET', '/v1/companies?limit=0x10', 400, 'validation failed'],
    ['GET', '/v1/companies?limit=%201', 400, 'validation failed'],
    ['GET', '/v1/companies/%ff', 400, 'validation failed'],
    ['GET', '/v1/companies/%', 400, 'validation failed'],
    ['GET', `/v1/companies/${'x'.repeat(5_000)}`, 400, 'validation failed'],
    ['PROPFIND', '/v1/companies', 405, 'method not allowed'],
    ['PROPFIND', '/nowhere', 404, 'not found'],
  ])('%s %s has the Error body', async (method, path, status, error) => {
    const bytes = `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${org.key}\r\n\r\n`
    const [answer] = await openConnection(server.deps.listening.port).exchange(bytes)
    expect(answer?.status).toBe(status)
    expect(JSON.parse(String(answer?.body))).toMatchObject({ error, message: expect.any(String) })
    expect(answer?.headers.has('x-request-id')).toBe(true)
  })

  it.each(['', 'host: x\r\nHost: y\r\n'])('a request without a host, or with two, is rejected: %j', async (hosts) => {
    const bytes = `GET /v1/me HTTP/1.1\r\n${hosts}authorization: Bearer ${org.key}\r\n\r\n`
    const [answer] = await openConnection(server.deps.listening.port).exchange(bytes)
    expect(answer?.status).toBe(400)
    expect(JSON.parse(String(answer?.body)).message).toContain('Host header')
  })

  it('a request for another protocol is answered in this one, and closes its connection', async () => {
    const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n'
    const bytes = `GET /v1/me HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${org.key}\r\n${upgrade}\r\n`
    const [answer] = await openConnection(server.deps.listening.port).exchange(bytes)
    expect(answer?.status).toBe(200)
    expect(answer?.headers.get('connection')).toBe('close')
  })

  it.each([
    ['no content type', { 'content-type': '' }, '{}'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'name=Acme'],
    ['another charset', { 'content-type': 'application/json; charset=utf-16' }, '{}'],
    ['an encoding other than gzip', { 'content-encoding': 'br' }, '{}'],
  ])('%s returns 415', async (_what, headers, raw) => {
    const answer = await create(raw, headers)
    expect(answer).toMatchObject({ status: 415, body: { error: 'unsupported media type' } })
  })

  it.each([
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
  ])('a body of the type %s is accepted', async (type) => {
    expect((await create('{"name":"Acme"}', { 'content-type': type })).status).toBe(201)
  })

  it('a body of one byte more than the limit returns 413, with or without Content-Length', async () => {
    const limit = server.deps.config.limits.bodyBytes
    const fitting = JSON.stringify({ name: 'x'.repeat(limit - 11) })
    expect(fitting).toHaveLength(limit)
    expect(issuesOf(await create(fitting))[0]?.path).toBe('name')
    expect(await create(`${fitting} `)).toMatchObject({ status: 413, body: { error: 'payload too large' } })
    const chunked = new ReadableStream({
      start: (controller) => {
        for (let sent = 0; sent <= limit; sent += 65_536) controller.enqueue(Buffer.alloc(65_536, ' '))
        controller.close()
      },
    })
    const headers = { authorization: `Bearer ${org.key}`, 'content-type': 'application/json' }
    const answer = await fetch(`${server.origin}/v1/companies`, {
      method: 'POST',
      headers,
      body: chunked,
      duplex: 'half',
    })
    expect(answer.status).toBe(413)
  })

  it('faults of path, query, and body are reported together', async () => {
    const answer = await call('PATCH', '/v1/companies/not-an-id?surprise=1', {
      key: org.key,
      body: { name: 5, logoUrl: true, other: {} },
    })
    expect(answer.status).toBe(400)
    expect(issuesOf(answer)).toEqual(
      expect.arrayContaining([
        { path: 'id', message: 'must be a UUID' },
        { path: 'surprise', message: 'is not a known property' },
        { path: 'name', message: 'must be a string' },
        { path: 'logoUrl', message: 'must be a string or null' },
        { path: 'other', message: 'is not a known property' },
      ]),
    )
    expect(issuesOf(answer)).toHaveLength(5)
  })

  it('a body with too many faults says how many more there are', async () => {
    const names = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`n${index}`, 0]))
    const answer = await call('POST', '/v1/companies', { key: org.key, body: names })
    expect(issuesOf(answer).at(-1)?.message).toMatch(/^and \d+ more$/)
    expect(issuesOf(answer).length).toBeLessThanOrEqual(101)
  })

  it.each([
    ['{"name":"5"', 'cut short'],
    ['{"name":1e}', 'no number'],
    ['{"name":"\u0001"}', 'a raw control character'],
    ['', 'nothing'],
    ['null', 'null'],
    ['[]', 'an array'],
    ['"name"', 'a text'],
    ['{"__proto__":{"name":"Acme"}}', '__proto__'],
    ['{"constructor":{"prototype":{}},"name":"Acme"}', 'constructor'],
  ])('the body %s (%s) returns 400', async (raw) => {
    expect(await create(raw)).toMatchObject({ status: 400, body: { error: 'validation failed' } })
    expect(({} as { name?: string }).name).toBeUndefined()
  })
})

describe('text', () => {
  it.each([
    ['{"name":"a\\u0000b"}', 'name'],
    ['{"name":"\\ud800"}', 'name'],
    ['{"name":"\\udc00\\ud800"}', 'name'],
    ['{"name":"Acme","na\\u0000me":1}', 'na\u0000me'],
    ['{"name":{"deep":["fine","\\u0000"]}}', 'name.deep[1]'],
  ])('that cannot be stored is rejected with its path: %s', async (raw, path) => {
    const answer = await create(raw)
    expect(answer.status).toBe(400)
    expect(issuesOf(answer)[0]?.path).toBe(path)
  })

  it.each(['%00', 'a%00b'])('in the URL has the same rules: %s', async (text) => {
    for (const path of [`/v1/companies/${text}`, `/v1/companies?cursor=${text}`]) {
      expect((await call('GET', path, { key: org.key })).status).toBe(400)
    }
  })

  it.each(['"Zoë & Sons <b>"', '"\\ud83e\\udd8a"', '"🦊"', '"a\\u2028b"', '"\ufeffa"', '"\\\\u0000"'])(
    'of any script is stored unchanged: %s',
    async (json) => {
      const { status, body } = await create(`{"name":${json}}`)
      expect(status).toBe(201)
      expect((await call('GET', `/v1/companies/${body.id}`, { key: org.key })).body.name).toBe(JSON.parse(json))
    },
  )

  it('nested deeper than any document is rejected before it is read, whatever its form', async () => {
    for (const raw of [
      '['.repeat(100_000),
      `{"name":${'['.repeat(65)}${']'.repeat(65)}}`,
      `{"name":${'{"a":'.repeat(100)}0${'}'.repeat(100)}}`,
    ]) {
      const answer = await create(raw)
      expect(answer).toMatchObject({ status: 400, body: { message: expect.stringContaining('64 levels') } })
    }
    expect((await create(JSON.stringify({ name: '['.repeat(200) }))).status).toBe(201)
  })
})

describe('instants', () => {
  const expiring = (expiresAt: string) =>
    call('POST', '/v1/api-keys', { key: org.key, body: { name: 'Dated', role: 'viewer', expiresAt } })

  it.each([
    ['2096-02-29T00:00:00Z', '2096-02-29T00:00:00.000Z'],
    ['2099-12-31T23:59:59.9999Z', '2099-12-31T23:59:59.999Z'],
    ['2099-01-01T00:00:00+14:00', '2098-12-31T10:00:00.000Z'],
    ['2099-01-01T00:00:00-23:59', '2099-01-01T23:59:00.000Z'],
    ['2099-01-01t00:00:00z', '2099-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is accepted as %s', async (given, stored) => {
    expect((await expiring(given)).body.expiresAt).toBe(stored)
  })

  it.each([
    '2100-02-29T00:00:00Z',
    '2099-02-30T00:00:00Z',
    '2099-13-01T00:00:00Z',
    '2099-12-31T23:59:60Z',
    '2099-01-01T00:00:00',
    '2099-01-01',
    '2099-01-01 00:00:00Z',
    '0000-01-01T00:00:00Z',
    '+010000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999-00:01',
    '0001-01-01T00:00:00+00:01',
    '2099-01-01T00:00:00+24:00',
    'tomorrow',
  ])('%s is rejected', async (given) => {
    const answer = await expiring(given)
    expect(answer.status).toBe(400)
    expect(issuesOf(answer)).toEqual([{ path: 'expiresAt', message: expect.stringContaining('ISO 8601') }])
  })
})

it('logs contain no key, no text of a body, and no query string, for successful, rejected, and failing requests', async () => {
  const secret = 'a-secret-of-the-caller'
  const company = await makeCompany(server, org.key, secret)
  await call('PATCH', `/v1/companies/${company.id}`, { key: org.key, body: { name: 5, [secret]: 1 } })
  await call('GET', `/v1/companies?cursor=${secret}`, { key: org.key })
  await call('GET', `/nowhere/${secret}?${secret}`, { key: `${org.key}x` })
  await call('GET', '/v1/me', { headers: { authorization: `Bearer ${secret}`, cookie: secret, 'user-agent': secret } })
  await create(`{"name":"${secret}"`)
  await call('POST', '/v1/members', {
    key: org.key,
    body: { email: `${secret}@example.com`, name: secret, role: 'viewer' },
  })
  const logged = server.logged.join('')
  expect(logged).toContain('"route":"/v1/companies/:id"')
  for (const text of [secret, org.key, serviceKey, 'cursor=', 'Bearer']) expect(logged).not.toContain(text)
  for (const line of server.logged) expect(() => JSON.parse(line)).not.toThrow()
})

describe('an unexpected body', () => {
  it.each([
    ['DELETE', '/v1/companies/01a1fc40-c721-7000-a928-0f1bb7e32185', '{"x":1}'],
    ['POST', `/v1/organizations/01a1fc40-c721-7000-a928-0f1bb7e32185/suspend`, 'null'],
  ])('%s %s rejects %s', async (method, path, raw) => {
    const key = path.includes('organizations') ? serviceKey : org.key
    const answer = await server.call(method, path, { key, raw, headers: { 'content-type': 'application/json' } })
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation failed' } })
  })
})
