import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { jobList } from '../../server/worker.ts'
import {
  elsewhere,
  makeCompany,
  makeConversation,
  makeExport,
  makeIntegration,
  makeMember,
  makeOrganization,
  makePerson,
  makeScheduleBody,
} from '../make.ts'
import { serve } from '../outside.ts'
import { openConnection } from '../raw-http.ts'
import { type TestAnswer, testServer } from '../server.ts'
import { changedRows, storedRows } from '../stored.ts'

/** Tries to reach private addresses, other files, and resources that a token does not grant. */

const server = await testServer({ EARSHOT_TRUST_PROXY: '1' })
const { call, clock, deps } = server
const org = await makeOrganization(server)
const { key } = org

// No request may ever reach this server.
const inside = await serve((_request, response) => response.end('secrets of the cloud'), afterAll)

/** Spellings of this machine's address, or of one near it, that have deceived parsers. */
const innerHosts = [
  '127.0.0.1',
  '2130706433',
  '017700000001',
  '0177.0.0.1',
  '0x7f.1',
  '0x7f000001',
  '127.1',
  '127.0.1',
  '0',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:4136:e378:8000:63bf:80ff:fffe]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  'localhost',
  'LOCALHOST',
  '127.0.0.1.',
  '127。0。0。1',
  '１２７.0.0.1',
  '①②⑦.0.0.1',
  'ⓛocalhost',
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '100.100.100.200',
  '10.0.0.1',
  '192.168.0.1',
]

/** Names that are rejected by their syntax, without a lookup. */
const innerNames = ['localhost.', 'metadata.internal', 'printer.local', 'intranet']

describe('a private address', () => {
  it('is rejected for endpoints, logos, and buckets, however it is written', async () => {
    const before = await storedRows(server)
    const urls = [...innerHosts, ...innerNames].flatMap((host) => [
      `https://${host}:${inside.port}/`,
      `https://example.com@${host}/`,
    ])
    for (const url of urls) {
      const destination = { type: 's3', bucket: 'inside', region: 'us-east-1', endpoint: url, ...credentials }
      const answers = await Promise.all([
        call('POST', '/v1/webhook-endpoints', { key, body: { name: 'Inside', url } }),
        call('PATCH', `/v1/companies/${company.id}`, { key, body: { logoUrl: url } }),
        call('POST', '/v1/export-schedules', { key, body: { ...scheduleBody, destination } }),
      ])
      expect(`${url} ${answers.map(({ status }) => status)}`).toBe(`${url} 400,400,400`)
    }
    expect(changedRows(before, await storedRows(server))).toEqual({ came: [], went: [] })
    expect(inside.connections()).toBe(0)
  })

  it('is not reached through recordings and providers, however it is written', async () => {
    const conversations: string[] = []
    for (const host of innerHosts) {
      const recordingUrl = `http://${host}:${inside.port}/recording.wav`
      const body = { externalId: host, agent, channel: 'call', startedAt: '2026-11-20T09:00:00Z', recordingUrl }
      const answer = await call('POST', '/v1/conversations', { key, body })
      if (answer.status === 201) conversations.push(answer.body.id)
      else expect(answer.status).toBe(400)
    }
    expect(conversations.length).toBeGreaterThan(innerHosts.length / 2)
    await deps.jobs.drain(jobList, deps, { allowFailures: true, delayed: true })
    for (const id of conversations) {
      const { body } = await call('GET', `/v1/conversations/${id}`, { key })
      const failure = expect.stringContaining('is not a public http')
      expect(body.recording).toMatchObject({ status: 'failed', failure })
    }

    const { id } = await makeIntegration(server, key, { provider: 'retell', secret: 'a-secret' })
    for (const host of innerHosts) {
      const body = { apiKey: 'a-key', apiBaseUrl: `http://${host}:${inside.port}` }
      const answer = await call('PUT', `/v1/integrations/${id}/sync`, { key, body })
      if (answer.status === 400) continue
      await deps.jobs.drain(jobList, deps, { allowFailures: true, delayed: true })
      const sync = (await call('GET', `/v1/integrations/${id}/sync`, { key })).body
      expect(`${host}: ${sync.state}`).toBe(`${host}: paused`)
    }
    expect(inside.connections()).toBe(0)
  })
})

const agent = { externalId: 'leo', name: 'Leo', channel: 'voice' }
const credentials = { accessKeyId: 'AKIA0000', secretAccessKey: 'not-much-of-a-secret' }
const company = await makeCompany(server, key)
const scheduleBody = await makeScheduleBody(server, key)

/** Returns variants of a string with one change each, and similar strings. */
const forgeries = (genuine: string, other: string): string[] => {
  const altered = Array.from({ length: Math.ceil(genuine.length / 5) }, (_, index) => {
    const at = index * 5
    return genuine.slice(0, at) + (genuine[at] === 'A' ? 'B' : 'A') + genuine.slice(at + 1)
  })
  const [payload = '', signature = ''] = genuine.split('.')
  const [otherPayload = '', otherSignature = ''] = other.split('.')
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url')
  return [
    ...altered,
    genuine.slice(0, -1),
    `${genuine}A`,
    `${genuine}=`,
    `A${genuine}`,
    genuine.toUpperCase(),
    `${genuine}${genuine}`,
    ...(signature === '' ? [] : [payload, `${payload}.`, `.${signature}`, `${otherPayload}.${signature}`]),
    ...(signature === '' ? [] : [`${payload}.${otherSignature}`, `${unsigned}.${payload}.`, `${genuine}.${signature}`]),
    'null',
    '{}',
    '%00',
    '__proto__',
  ].filter((text) => text !== genuine && text !== other)
}

/**
 * Functions that create each kind of token with the resource it opens. `refused` lists the responses that a forged one
 * may get.
 */
const openers: Record<string, () => Promise<Opener>> = {
  'a link to a file': async () => {
    const png = Buffer.from('89504e470d0a1a0a0000', 'hex')
    const upload = async (raw: Buffer<ArrayBuffer>) => {
      const { body } = await call('PUT', `/v1/companies/${company.id}/logo`, {
        key,
        raw,
        headers: { 'content-type': 'image/png' },
      })
      return new URL(body.logoUrl).pathname.replace('/files/', '')
    }
    return {
      genuine: await upload(png),
      other: await upload(Buffer.concat([png, png])),
      open: (token) => call('GET', `/files/${encodeURIComponent(token)}`),
      refused: [400, 403, 404],
    }
  },
  'a cursor': async () => {
    for (let count = 0; count < 3; count++) await makeConversation(server, key)
    const next = async (path: string) => (await call('GET', `${path}?limit=1`, { key })).body.nextCursor
    return {
      genuine: await next('/v1/conversations'),
      other: await next('/v1/audit-events'),
      open: (cursor) => call('GET', `/v1/conversations?limit=1&cursor=${encodeURIComponent(cursor)}`, { key }),
      refused: [400],
    }
  },
  'an invitation': async () => {
    const tokenOf = async () => new URL((await makeMember(server, key, 'member')).invitationUrl).hash.slice(1)
    return {
      genuine: await tokenOf(),
      other: await tokenOf(),
      open: (token) => call('POST', '/auth/invitation/check', { headers: elsewhere(), body: { token } }),
      refused: [400],
    }
  },
  'the cookie of a session': async () => {
    const cookieValue = async () => {
      const { headers } = await makePerson(server, key)
      const [name = '', value = ''] = (headers.cookie ?? '').split(';')[0]?.split('=') ?? []
      return { name, value: decodeURIComponent(value) }
    }
    const [mine, other] = [await cookieValue(), await cookieValue()]
    return {
      genuine: mine.value,
      other: other.value,
      open: (value) => call('GET', '/v1/me', { headers: { cookie: `${mine.name}=${encodeURIComponent(value)}` } }),
      refused: [401],
    }
  },
  'an API key': async () => {
    const other = await makeOrganization(server)
    return {
      genuine: key,
      other: other.key,
      open: (text) => call('GET', '/v1/me', { headers: { authorization: `Bearer ${text}`, ...elsewhere() } }),
      refused: [401],
    }
  },
}
type Opener = { genuine: string; other: string; open: (text: string) => Promise<TestAnswer>; refused: number[] }

it.each(Object.entries(openers))('%s works unchanged, and no forgery of it does', async (_name, make) => {
  const { genuine, other, open, refused } = await make()
  expect((await open(genuine)).status).toBe(200)
  for (const forged of forgeries(genuine, other)) {
    const { status, text } = await open(forged)
    expect(refused, `${forged}: ${text}`).toContain(status)
  }
  expect((await open(genuine)).status).toBe(200)
})

it('a link to an export expires, and a second cursor is rejected', async () => {
  const { id } = await makeExport(server, key)
  await server.drain()
  const link = (await call('GET', `/v1/monitor-exports/${id}/download`, { key })).headers.get('location') ?? ''
  expect((await call('GET', link)).status).toBe(200)
  clock.advance(15 * 60_000)
  expect((await call('GET', link)).status).toBe(410)
  expect((await call('GET', '/v1/companies?cursor=a&cursor=b', { key })).status).toBe(400)
})

describe('a path out of its folder', () => {
  const doors = ['/', '/files/', '/assets/', '/docs/guide/', '/docs/guide/assets/', '/v1/companies/', '/auth/']
  const climbs = ['..', '%2e%2e', '..%2f', '..%5c', '%252e%252e', '....//', '..;', '.%00.', '%c0%ae%c0%ae']
  const goals = ['secret.key', 'package.json', 'etc/passwd']

  it.each(doors)('in %s finds no file', async (door) => {
    const { secretKey, dataDir } = deps.config
    const kept = secretKey ?? (await readFile(join(dataDir, 'secret.key'), 'utf8')).trim()
    const paths = climbs.flatMap((climb) =>
      goals.flatMap((goal) => [`${door}${`${climb}/`.repeat(8)}${goal}`, `${door}x/${climb}/${climb}/${goal}`]),
    )
    for (const path of paths) {
      const connection = openConnection(Number(new URL(server.origin).port))
      const [answer] = await connection.exchange(
        `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`,
      )
      connection.close()
      const text = answer?.body.toString() ?? ''
      expect(answer?.status ?? 400, path).toBeLessThan(500)
      for (const secret of [kept, 'root:', '"devDependencies"']) expect(text, path).not.toContain(secret)
    }
  })
})
