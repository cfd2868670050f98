import { createHash, randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { testDatabase } from '../database.ts'
import { ask, provision, runEarshot } from '../earshot.ts'
import { password, wav } from '../make.ts'
import { serviceKey } from '../server.ts'
import { openCluster } from './cluster.ts'

/**
 * Two processes for requests and two for jobs share one database and one store. No process may rely on its own memory.
 */

const database = await testDatabase({ empty: true })
afterAll(database.drop)
const cluster = await openCluster(database.connection)
// All processes start at the same time, on a database without tables.
await Promise.all([cluster.startHttp(), cluster.startHttp(), cluster.startWorker(), cluster.startWorker()])
const { origin } = cluster
const [one, two] = cluster.http().map(({ url }) => url) as [string, string]
const { key } = await provision(origin)

const call = (method: string, path: string, body?: unknown, at = origin) => ask(at, method, path, key, body)

/** Sends a request to each process. Both then have the caller in their cache. */
const statusesOf = (path: string, headers: Record<string, string>) =>
  Promise.all([one, two].map(async (url) => (await fetch(url + path, { headers })).status))

const calls = (count: number) =>
  Array.from({ length: count }, () => ({
    externalId: `call-${randomUUID()}`,
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    channel: 'call',
    status: 'completed',
    startedAt: '2026-11-20T09:00:00.000Z',
    endedAt: '2026-11-20T09:01:00.000Z',
    transcript: [{ role: 'user', text: 'I want my money back.', start: 0, end: 2 }],
  }))

// server/commands/serve.faults.ts tests keys, roles, and suspensions with several processes.
describe('a change by one process applies in the other', () => {
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })

  it('to an entitlement', async () => {
    const other = await provision(origin)
    const patch = (body: unknown) => ask(two, 'PATCH', `/v1/organizations/${other.id}`, serviceKey, body)
    expect(await statusesOf('/v1/monitors', bearer(other.key))).toEqual([200, 200])
    expect((await patch({ entitlements: { monitors: false } })).status).toBe(200)
    await expect.poll(() => statusesOf('/v1/monitors', bearer(other.key))).toEqual([403, 403])
  })

  it('to a session, from the invitation to its end', async () => {
    const body = { email: `${randomUUID()}@example.com`, name: 'Pia', role: 'member' }
    const { invitationUrl } = (await call('POST', '/v1/members', body, one)).body
    const json = { 'content-type': 'application/json', origin }
    const token = new URL(invitationUrl).hash.slice(1)
    const joined = await fetch(`${two}/auth/invitation`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ token, name: 'Pia', password }),
    })
    const cookie = joined.headers
      .getSetCookie()
      .map((set) => set.split(';')[0])
      .join('; ')
    expect(await statusesOf('/v1/me', { cookie })).toEqual([200, 200])
    const left = await fetch(`${one}/auth/sign-out`, { method: 'POST', headers: { ...json, cookie }, body: '{}' })
    expect(left.status).toBeLessThan(300)
    await expect.poll(() => statusesOf('/v1/me', { cookie })).toEqual([401, 401])
  })
})

it('stores equal requests to both processes at the same time once', async () => {
  const [conversation] = calls(1)
  const both = <T>(send: (url: string) => Promise<T>) =>
    Promise.all(Array.from({ length: 8 }, (_, at) => send(at % 2 === 0 ? one : two)))
  const stored = await both((url) => call('POST', '/v1/conversations', conversation, url))
  expect(new Set(stored.map(({ body }) => body.id)).size).toBe(1)
  expect(stored.map(({ status }) => status).toSorted()).toEqual([...Array(7).fill(200), 201])

  const { id } = (await call('POST', '/v1/monitors', { name: 'One', kind: 'external', definition: {} })).body
  const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z', timezone: 'UTC' }
  const asked = { operationId: randomUUID(), config: { monitors: [{ id }], ...period } }
  const exports = await both((url) => call('POST', '/v1/monitor-exports', asked, url))
  expect(new Set(exports.map(({ status, body }) => `${status < 300} ${body.id}`)).size).toBe(1)
})

it('evaluates each conversation once, and returns results and files from any process', async () => {
  const definition = { expression: 'turns.exists(t, t.text.contains("money back"))' }
  const monitor = (await call('POST', '/v1/monitors', { name: 'Refund', kind: 'rule', definition })).body
  const sent = await Promise.all(
    Array.from({ length: 10 }, () => call('POST', '/v1/conversations/batch', { conversations: calls(20) })),
  )
  expect(sent.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const listResults = async () => {
    const found: { conversationId: string; result: string }[] = []
    let cursor: string | null = ''
    // The two processes return the pages alternately.
    for (let at = 0; cursor !== null; at++) {
      const query: string = `limit=50${cursor && `&cursor=${encodeURIComponent(cursor)}`}`
      const { status, body } = await call(
        'GET',
        `/v1/monitors/${monitor.id}/results?${query}`,
        undefined,
        at % 2 ? one : two,
      )
      expect(status).toBe(200)
      found.push(...body.data)
      cursor = body.nextCursor
    }
    return found
  }
  await expect.poll(async () => (await listResults()).length, { timeout: 90_000 }).toBeGreaterThanOrEqual(200)
  const results = await listResults()
  expect(new Set(results.map(({ conversationId }) => conversationId)).size).toBe(results.length)
  expect(new Set(results.map(({ result }) => result))).toEqual(new Set(['affected']))

  const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z', timezone: 'UTC' }
  const asked = { operationId: randomUUID(), config: { monitors: [{ id: monitor.id }], ...period } }
  const { id } = (await call('POST', '/v1/monitor-exports', asked)).body
  const manifest = async () => (await call('GET', `/v1/monitor-exports/${id}`)).body
  await expect.poll(async () => (await manifest()).status, { timeout: 90_000 }).toBe('completed')
  const headers = { authorization: `Bearer ${key}` }
  for (const url of [one, two]) {
    const answer = await fetch(`${url}/v1/monitor-exports/${id}/download`, { headers })
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(answer.status).toBe(200)
    expect(bytes.toString().split('\r\n').filter(Boolean).length).toBe(1 + (await manifest()).rowCount)
  }

  // Connections are counted as docs/scaling.md describes.
  const client = new pg.Client({ ...database.connection, application_name: 'the test' })
  await client.connect()
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name NOT IN ('the test', 'earshot export')`,
  )
  await client.end()
  expect(rows[0]?.count).toBeLessThanOrEqual(2 * 13 + 2 * 14)

  const [{ conversationId } = { conversationId: '' }] = results
  const recording = wav(100_000)
  const put = await fetch(`${one}/v1/conversations/${conversationId}/recording`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'audio/wav' },
    body: recording,
  })
  expect(put.status).toBe(200)
  const got = await fetch(`${two}/v1/conversations/${conversationId}/recording`, { headers })
  const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  expect(digest(new Uint8Array(await got.arrayBuffer()))).toBe(digest(recording))
})

it('serves an MCP client from different processes, without a session', async () => {
  const speak = async (url: string, method: string, params: object) => {
    const response = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    })
    return { status: response.status, text: await response.text() }
  }
  const clientInfo = { name: 'test', version: '1' }
  const hello = await speak(one, 'initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo })
  expect(hello.status).toBe(200)
  const listed = await speak(two, 'tools/list', {})
  expect([listed.status, listed.text]).toEqual([200, expect.stringContaining('inputSchema')])
})

it('is not ready on a schema newer than itself, and does not start on one', async () => {
  const client = new pg.Client(database.connection)
  await client.connect()
  try {
    await client.query(`INSERT INTO migrations (name, checksum) VALUES ('9999_of_the_next_version.sql', 'x')`)
    await expect.poll(() => statusesOf('/readyz', {})).toEqual([503, 503])
    // The process still answers requests until newer processes take over.
    expect((await call('GET', '/v1/me', undefined, one)).status).toBe(200)
    const late = await runEarshot(['serve'], { ...cluster.switches, EARSHOT_ROLES: 'http' })
    expect(late).toMatchObject({ code: 1, stdout: '' })
    expect(late.stderr).toContain('9999_of_the_next_version.sql, which this version does not know')
  } finally {
    await client.query(`DELETE FROM migrations WHERE name LIKE '9999%'`)
    await client.end()
  }
  await expect.poll(() => statusesOf('/readyz', {})).toEqual([200, 200])
})

it('db distribute reports what is missing, and what it would do', async () => {
  const { code, stderr } = await runEarshot(['db', 'distribute'], cluster.switches)
  expect([code, stderr]).toEqual([1, expect.stringContaining('Citus is not installed in the database.')])
  const dry = await runEarshot(['db', 'distribute', '--dry-run'], cluster.switches)
  expect(dry).toMatchObject({ code: 0, stderr: '' })
  expect(dry.stdout).toContain(
    "SELECT create_distributed_table('public.conversations', 'organization_id', colocate_with => ",
  )
})
