import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { behindPassage, testDatabase } from '../../../test/database.ts'
import { sound } from '../../../test/passage.ts'
import { serviceKey, testServer } from '../../../test/server.ts'
import { buildApp } from '../../app.ts'
import { openDeps } from '../../deps.ts'
import { loadConfig } from '../config.ts'
import { openLog } from '../log.ts'
import { watchOverload } from './overload.ts'

const token = 'metrics-token-0123456789'
const plain = await testServer()
const guarded = await testServer({ EARSHOT_METRICS_TOKEN: token, EARSHOT_TRUST_PROXY: '1' })

describe('/metrics', () => {
  it('is open to this machine, and has requests, jobs, connections, and the event loop', async () => {
    await plain.call('GET', '/v1/companies')
    const { status, headers, text } = await plain.call('GET', '/metrics')
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')])
    expect(text).toMatch(
      /earshot_http_request_duration_seconds_count\{method="GET",route="\/v1\/companies",status="401"\} 1/,
    )
    for (const name of ['earshot_database_connections', 'earshot_job', 'nodejs_eventloop_lag_seconds']) {
      expect(text).toContain(name)
    }
  })

  it('follows the naming rules of Prometheus: only counters end in _total', async () => {
    const { text } = await plain.call('GET', '/metrics')
    const typed = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => ({ name, type }))
    expect(typed.length).toBeGreaterThan(20)
    expect(typed.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([])
    for (const { name } of typed) expect(text).toContain(`# HELP ${name} `)
  })

  it.each([{ 'x-forwarded-for': '127.0.0.1' }, { 'x-forwarded-for': '203.0.113.9' }, { forwarded: 'for=203.0.113.9' }])(
    'is closed for requests through a proxy on this machine: %j',
    async (headers: Record<string, string>) => {
      expect((await plain.call('GET', '/metrics', { headers })).status).toBe(401)
    },
  )

  it.each(['attacker.example', 'localhost.attacker.example', '127.0.0.1.attacker.example:80'])(
    'is closed for a page with a host name that points here: %s',
    async (host) => {
      expect((await plain.call('GET', '/metrics', { headers: { host } })).status).toBe(401)
    },
  )

  it("behind a trusted proxy, is open by the client's address, or with the token", async () => {
    const ask = async (headers: Record<string, string>) => (await guarded.call('GET', '/metrics', { headers })).status
    expect(await ask({ 'x-forwarded-for': '203.0.113.9' })).toBe(401)
    expect(await ask({ 'x-forwarded-for': '127.0.0.1, 203.0.113.9' })).toBe(401)
    expect(await ask({ 'x-forwarded-for': '203.0.113.9', authorization: `Bearer ${token}x` })).toBe(401)
    expect(await ask({ 'x-forwarded-for': '203.0.113.9', authorization: `Bearer ${token}` })).toBe(200)
  })

  it('counts unknown paths as one, so that callers cannot make it grow', async () => {
    for (let i = 0; i < 50; i++) await plain.call('GET', `/nowhere/${i}`)
    const { text } = await plain.call('GET', '/metrics')
    expect(text).not.toContain('nowhere')
    expect(text).toMatch(/route="unknown",status="404"\} 5\d/)
  })
})

/** Starts a service with a database that can be disconnected. */
const openBehindDoor = async () => {
  const { connection: direct, drop } = await testDatabase()
  const { passage, connection } = await behindPassage(direct)
  const dataDir = await mkdtemp(join(tmpdir(), 'earshot-health-'))
  const deps = await openDeps({
    config: loadConfig({ EARSHOT_DATA_DIR: dataDir, EARSHOT_SERVICE_KEY: serviceKey }),
    log: openLog({ write: () => {} }),
    connection,
    applicationName: 'test',
  })
  const app = await buildApp(deps)
  onTestFinished(async () => {
    passage.become(sound)
    await app.close()
    await deps.close()
    await drop()
    await rm(dataDir, { recursive: true, force: true })
  })
  const ask = async (url: string) => {
    const { statusCode, headers, body } = await app.inject({ url, headers: { authorization: `Bearer ${serviceKey}` } })
    return { status: statusCode, retryAfter: headers['retry-after'], body: JSON.parse(body) }
  }
  return {
    ask,
    shut: () => {
      passage.become({ kind: 'silent' })
      passage.reset()
    },
    reopen: () => {
      passage.become(sound)
      passage.reset()
    },
  }
}

it('a stopping process is healthy and responds, but is not ready', async () => {
  const { listening } = plain.deps
  expect((await plain.call('GET', '/readyz')).status).toBe(200)
  listening.draining = true
  onTestFinished(() => {
    listening.draining = false
  })
  // The response is immediate, although results are otherwise cached for a second.
  expect(await plain.call('GET', '/readyz')).toMatchObject({
    status: 503,
    body: { message: 'Not ready: the process is shutting down.' },
  })
  expect((await plain.call('GET', '/healthz')).status).toBe(200)
})

describe('without its database', () => {
  it('the process is healthy, not ready, and returns 503 instead of waiting; it recovers automatically', async () => {
    const { ask, shut, reopen } = await openBehindDoor()
    expect(await ask('/readyz')).toMatchObject({ status: 200, body: { status: 'ready' } })
    expect((await ask('/v1/organizations')).status).toBe(200)
    shut()
    // Connections are accepted but get no response, so the pool gives up after five seconds.
    const [healthy, request] = await Promise.all([ask('/healthz'), ask('/v1/organizations')])
    // The previous response is cached for a second.
    await expect.poll(async () => (await ask('/readyz')).status, { timeout: 15_000 }).toBe(503)
    expect(await ask('/readyz')).toMatchObject({
      status: 503,
      retryAfter: '1',
      body: { details: { failed: ['database', 'migrations'] } },
    })
    expect(healthy).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(request).toMatchObject({ status: 503, retryAfter: '2', body: { error: 'temporarily unavailable' } })
    reopen()
    await expect.poll(async () => (await ask('/readyz')).status, { timeout: 10_000 }).toBe(200)
    expect((await ask('/v1/organizations')).status).toBe(200)
  })

  it('a connection that is cut during a statement returns 503', async () => {
    const lock = new pg.Client(plain.deps.database.connection)
    await lock.connect()
    onTestFinished(() => lock.end())
    await lock.query('BEGIN; LOCK TABLE organizations IN ACCESS EXCLUSIVE MODE')
    const answer = plain.call('GET', '/v1/organizations', { key: serviceKey })
    const waiting = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    const countWaiting = async () => {
      // Without this, the transaction would keep its first snapshot of activity.
      await lock.query('SELECT pg_stat_clear_snapshot()')
      return (await lock.query(`SELECT ${waiting}`)).rowCount
    }
    await expect.poll(countWaiting).toBe(1)
    await lock.query(`SELECT pg_terminate_backend(pid) ${waiting}`)
    expect(await answer).toMatchObject({ status: 503, body: { error: 'temporarily unavailable' } })
    await lock.query('COMMIT')
    expect((await plain.call('GET', '/v1/organizations', { key: serviceKey })).status).toBe(200)
  })
})

describe('overload', () => {
  it('is rejected with 503 and a time to retry while too many requests wait for the database', () => {
    let waiting = 1_000
    const overload = watchOverload({ waiting: () => waiting })
    onTestFinished(overload.close)
    expect(overload.check).not.toThrow()
    waiting = 1_001
    expect(overload.check).toThrow(expect.objectContaining({ status: 503, details: { retryAfterSeconds: 1 } }))
    waiting = 0
    expect(overload.check).not.toThrow()
  })

  it('is rejected only while the event loop lags', async () => {
    const overload = watchOverload({ waiting: () => 0 })
    onTestFinished(overload.close)
    const refuses = () => {
      try {
        overload.check()
        return false
      } catch {
        return true
      }
    }
    expect(refuses()).toBe(false)
    const held = new Int32Array(new SharedArrayBuffer(4))
    const turnSlowly = async () => {
      Atomics.wait(held, 0, 0, 1_600)
      await nextTurn()
    }
    await turnSlowly()
    // A single long pause is not an overload, but turns of 1.6 seconds each are.
    expect(refuses()).toBe(false)
    for (let turn = 0; turn < 3 && !refuses(); turn++) await turnSlowly()
    expect(refuses()).toBe(true)
    await expect.poll(refuses, { timeout: 4_000, interval: 10 }).toBe(false)
  })
})
