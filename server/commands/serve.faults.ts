import { utimes } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, it } from 'vitest'
import {
  ask,
  killGroup,
  listProcesses,
  makeDataDir,
  openQueue,
  provision,
  type RunningEarshot,
  runEarshot,
  startEarshot,
  switchesOnTestDatabase,
} from '../../test/earshot.ts'
import { serviceKey } from '../../test/server.ts'
import { sweepLogos } from '../companies/jobs.ts'
import { openDatabase } from '../platform/db/database.ts'
import { openEmbedded } from '../platform/db/embedded.ts'
import { openJobs } from '../platform/jobs/queue.ts'
import { openLog } from '../platform/log.ts'

/** Starts and stops the service with real processes. */

const root = join(import.meta.dirname, '../..')
const silent = openLog({ write: () => {} })
const png = Buffer.from('89504e470d0a1a0a0000', 'hex')

// The second test continues with the data of the first one, or starts empty if it runs on its own.
const dataDir = await makeDataDir()

const isDraining = ({ stderr }: RunningEarshot) => stderr().includes('"draining"')

const uploadLogo = async (origin: string, key: string, id: string): Promise<string> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'image/png' }
  const response = await fetch(`${origin}/v1/companies/${id}/logo`, { method: 'PUT', headers, body: png })
  expect(response.status).toBe(200)
  return ((await response.json()) as { logoUrl: string }).logoUrl
}

it('SIGTERM rejects new callers, finishes a request and a job, stops the database, and the next start finds its data', async () => {
  const switches = { EARSHOT_DATA_DIR: dataDir, EARSHOT_DRAIN_SECONDS: '300' }
  const earshot = await startEarshot(switches)
  const { key } = await provision(earshot.origin)
  const { id } = (await ask(earshot.origin, 'POST', '/v1/companies', key, { name: 'Acme' })).body

  // The job waits for the test's lock, because the sweep checks which companies use an old logo.
  const embedded = await openEmbedded({ dataDir, log: silent, applicationName: 'test' })
  const database = openDatabase({ connection: embedded.connection, applicationName: 'test' })
  const jobs = openJobs({ database, log: silent })
  const logoUrl = await uploadLogo(earshot.origin, key, id)
  const logoKey = await askDatabase(embedded.connection, 'SELECT logo_key AS value FROM companies WHERE id = $1', id)
  const longAgo = new Date(Date.now() - 48 * 60 * 60 * 1_000)
  await utimes(join(dataDir, 'blobs', logoKey), longAgo, longAgo)
  const lock = new pg.Client(embedded.connection)
  lock.on('error', () => {})
  await lock.connect()
  await lock.query('BEGIN; LOCK TABLE companies IN ACCESS EXCLUSIVE MODE')
  const jobId = await jobs.enqueue(database.db, sweepLogos, {})
  const blocked = async () => {
    // Without this, the transaction would keep its first snapshot of activity.
    await lock.query('SELECT pg_stat_clear_snapshot()')
    const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    return (await lock.query(waiting)).rowCount
  }
  await expect.poll(blocked, { timeout: 10_000 }).toBe(1)

  // This is the first half of a request. It does not need the companies table, so the lock does not block it.
  const body = JSON.stringify({ name: 'Late', role: 'viewer' })
  const socket = connect(Number(new URL(earshot.origin).port), '127.0.0.1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (text) => {
    answer += text
  })
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const head = ['POST /v1/api-keys HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${key}`]
  head.push('Content-Type: application/json', `Content-Length: ${body.length}`, 'Expect: 100-continue', '', '')
  socket.write(head.join('\r\n'))
  // The server requests the rest after it has read the head.
  await expect.poll(() => answer).toContain('100 Continue')
  socket.write(body.slice(0, 10))

  earshot.child.kill('SIGTERM')
  await expect.poll(() => isDraining(earshot)).toBe(true)
  // The service still responds, but closes each connection.
  const answers = async (path: string) => {
    const { status, headers } = await fetch(earshot.origin + path)
    return [status, headers.get('connection')]
  }
  await expect.poll(() => answers('/readyz')).toEqual([503, 'close'])
  expect(await answers('/healthz')).toEqual([200, 'close'])
  // Signals within one second count as one. A later signal ends the wait for a load balancer.
  await pause(1_100)
  earshot.child.kill('SIGTERM')
  await expect
    .poll(() =>
      fetch(`${earshot.origin}/healthz`).then(
        () => 'answers',
        () => 'refuses',
      ),
    )
    .toBe('refuses')
  expect(earshot.child.exitCode).toBeNull()
  socket.write(body.slice(10))
  await closed
  expect(answer).toMatch(/HTTP\/1\.1 201 Created/)
  expect(earshot.child.exitCode).toBeNull()

  await lock.query('COMMIT')
  await lock.end().catch(() => {})
  await jobs.close().catch(() => {})
  await database.close().catch(() => {})
  await embedded.close()
  expect(await earshot.ended).toEqual({ code: 0, signal: null })
  expect(await listProcesses(dataDir)).toEqual([])

  const again = await startEarshot({ EARSHOT_DATA_DIR: dataDir })
  expect(again.stdout()).not.toContain('First start')
  expect((await ask(again.origin, 'GET', `/v1/companies/${id}`, key)).body.logoUrl).toBe(logoUrl)
  expect((await ask(again.origin, 'GET', '/v1/api-keys', key)).body.data[0].name).toBe('Late')
  expect(await askDatabase(embedded.connection, 'SELECT state AS value FROM jobs WHERE id = $1', jobId)).toBe(
    'completed',
  )
  again.child.kill('SIGTERM')
  expect(await again.ended).toEqual({ code: 0, signal: null })
}, 40_000)

const askDatabase = async (connection: pg.ClientConfig, statement: string, id: string): Promise<string> => {
  const client = new pg.Client(connection)
  await client.connect()
  const { rows } = await client.query<{ value: string }>(statement, [id])
  await client.end()
  return String(rows[0]?.value)
}

it('Ctrl-C on npm start reaches all processes at once, and everything stops in order', async () => {
  const quiet = { npm_config_update_notifier: 'false', npm_config_logs_max: '0' }
  const switches = { EARSHOT_DATA_DIR: dataDir, ...quiet }
  const npm = await startEarshot(switches, { file: 'npm', args: ['start'], cwd: root, detached: true })
  expect(npm.stdout()).toContain('ready at')
  const { keyId } = await provision(npm.origin)
  killGroup(npm.child, 'SIGINT')
  await npm.ended
  expect(isDraining(npm)).toBe(true)
  await expect.poll(() => listProcesses(dataDir), { timeout: 10_000 }).toEqual([])
  const doctor = await runEarshot(['doctor'], switches)
  expect(doctor).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('embedded, not in use') })
  expect(doctor.stdout).not.toContain('FAIL')
  const { db } = await openQueue(dataDir)
  expect(await db.selectFrom('api_keys').select('role').where('id', '=', keyId).execute()).toHaveLength(1)
}, 40_000)

it('many processes of either role start at once with one database and work together', async () => {
  const switches = { ...(await switchesOnTestDatabase()), EARSHOT_STORAGE_SHARED: 'true' }
  const roles = ['http', 'worker', 'http', 'worker']
  const started = await Promise.all(roles.map((role) => startEarshot({ ...switches, EARSHOT_ROLES: role })))
  const [first, second] = started.map(({ origin }) => origin).filter((origin) => origin !== '')
  if (!first || !second) throw new Error('both were to serve requests')
  for (const { stdout } of started) expect(stdout()).not.toContain('First start')
  const workers = started.map(({ healthOrigin }) => healthOrigin).filter((origin) => origin !== '')
  expect(workers).toHaveLength(2)

  const { key, id: org } = await provision(first)
  const statusThere = async (path: string, with_: string) => (await ask(second, 'GET', path, with_)).status
  // A notification informs other processes. Otherwise, they would only reload after five seconds.
  const within = { timeout: 4_000, interval: 20 }
  const made = (await ask(first, 'POST', '/v1/api-keys', key, { name: 'Other', role: 'admin' })).body
  expect(await statusThere('/v1/audit-events', made.key)).toBe(200)
  await ask(first, 'DELETE', `/v1/api-keys/${made.id}`, key)
  await expect.poll(() => statusThere('/v1/me', made.key), within).toBe(401)

  const { member } = (await ask(first, 'GET', '/v1/me', key)).body
  const invited = { email: 'second@example.com', name: 'Second', role: 'owner' }
  expect((await ask(first, 'POST', '/v1/members', key, invited)).status).toBe(201)
  const me = async () => (await ask(second, 'GET', '/v1/me', key)).body
  expect((await me()).role).toBe('owner')
  await ask(first, 'PATCH', `/v1/members/${member.id}`, key, { role: 'member' })
  await expect.poll(async () => (await me()).role, within).toBe('member')

  // One process stores the logo, another one serves it, and a third one deletes it after it was replaced.
  const company = (await ask(second, 'POST', '/v1/companies', key, { name: 'Acme' })).body
  const { pathname } = new URL(await uploadLogo(second, key, company.id))
  expect((await fetch(first + pathname)).status).toBe(200)
  await uploadLogo(first, key, company.id)
  await expect.poll(async () => (await fetch(first + pathname)).status).toBe(404)

  // A process that only runs jobs serves its health checks and nothing else.
  const statusOf = async (url: string) => (await fetch(url)).status
  const deletions = async () => {
    const metrics = await Promise.all(workers.map(async (worker) => (await fetch(`${worker}/metrics`)).text()))
    return metrics.filter((text) => /^earshot_job_runs_total\{name="company\.delete-logo",.*\} 1$/m.test(text)).length
  }
  await expect.poll(deletions).toBe(1)
  for (const worker of workers) {
    for (const path of ['/healthz', '/readyz']) expect(await statusOf(worker + path)).toBe(200)
    for (const path of ['/v1/me', '/openapi.json', '/docs', '/']) expect(await statusOf(worker + path)).toBe(404)
  }

  await ask(first, 'POST', `/v1/organizations/${org}/suspend`, serviceKey)
  await expect.poll(() => statusThere('/v1/me', key), within).toBe(403)

  started.push(await startEarshot({ ...switches, EARSHOT_ROLES: 'worker', PORT: '' }))
  expect(started.at(-1)?.stdout()).toBe('Earshot is running jobs.\n')

  for (const { child } of started) child.kill('SIGTERM')
  for (const { ended } of started) expect(await ended).toEqual({ code: 0, signal: null })
}, 60_000)
