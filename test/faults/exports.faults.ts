import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdir, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { expect, inject, it } from 'vitest'
import { generateExport } from '../../server/exports/lifecycle.ts'
import { sweepFiles } from '../../server/exports/stored-files.ts'
import { ask, findPostmaster, makeDataDir, openQueue, provision, startEarshot, takeFreePort } from '../earshot.ts'
import { seededRandom } from '../malformed.ts'
import { openReceiver, receiverCertificate } from '../support/webhooks/receiver.ts'
import { connectTo, insertCalls } from './database.ts'

/**
 * Tests that exports end with the right file or an error code, whenever the service, the generating process, or the
 * database is killed.
 */

const seed = inject('seeds')[0] ?? 1
const kills = Math.ceil(inject('rounds') / 5)
const calls = 10_000
const longestPauseMs = 900

const day = 86_400
const run = promisify(execFile)

const kinds = ['monitor', 'conversation'] as const
type Kind = (typeof kinds)[number]
type Started = { kind: Kind; id: string }

/** Finds the process that generates an export, if one is running. */
const findGenerator = async (parent: number | undefined): Promise<number | undefined> => {
  const { stdout } = await run('ps', ['-eo', 'pid=,ppid=,args='], { maxBuffer: 10_000_000 })
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  const line = lines.find(
    ([, ppid, ...args]) => Number(ppid) === parent && args.join(' ').includes('generation/process'),
  )
  return line && Number(line[0])
}

it('exports that are killed end with the right file or an error code, and their endpoints are notified', async () => {
  process.stdout.write(`exports: seed ${seed}\n`)
  const random = seededRandom(seed)
  const dataDir = await makeDataDir()
  const port = await takeFreePort()
  const origin = `http://127.0.0.1:${port}`
  const certificate = join(dataDir, 'receiver.pem')
  await writeFile(certificate, receiverCertificate)
  const switches = {
    PORT: String(port),
    EARSHOT_DATA_DIR: dataDir,
    EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8',
    NODE_EXTRA_CA_CERTS: certificate,
  }
  const receiver = await openReceiver(200)
  let earshot = await startEarshot(switches)
  const { key, id: org } = await provision(origin)
  const post = async (path: string, body?: object) => {
    // The database may be restarting.
    for (;;) {
      const answer = await ask(origin, 'POST', path, key, body)
      if (answer.status !== 503) return answer.body
      await pause(100)
    }
  }
  const { id: agent } = await post('/v1/agents', { name: 'Leo', channel: 'voice' })
  const monitors: string[] = []
  for (const name of ['One', 'Two', 'Three']) {
    monitors.push((await post('/v1/monitors', { name, kind: 'external', definition: {} })).id)
  }
  const endpoint = await post('/v1/webhook-endpoints', { name: 'Warehouse', url: receiver.url })
  await post(`/v1/webhook-endpoints/${endpoint.id}/approve`)
  const database = await connectTo(dataDir)
  await insertCalls(database, org, agent, calls)
  await database.query(
    `INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at,
       monitor_version, status, result, score, evidence, evaluator)
     SELECT c.organization_id, m, c.id, c.started_at, c.started_at, 1, 0, 1, extract(second FROM c.started_at), '[]', 'test'
     FROM unnest($2::uuid[]) m, conversations c WHERE c.organization_id = $1`,
    [org, monitors],
  )
  await database.end()

  const period = { since: '2026-11-01T00:00:00Z', until: '2026-12-01T00:00:00Z' }
  const configs: Record<Kind, object> = {
    monitor: { ...period, monitors: monitors.map((id) => ({ id })), timezone: 'UTC' },
    conversation: {
      filter: period,
      columns: [{ key: 'startedAt' }, { key: 'affected' }, { key: `score:${monitors[0]}` }],
      results: monitors,
      format: 'jsonl',
    },
  }
  const start = async (kind: Kind): Promise<Started> => {
    const config = { ...configs[kind], notificationEndpointId: endpoint.id }
    const { id } = await post(`/v1/${kind}-exports`, { operationId: crypto.randomUUID(), config })
    return { kind, id }
  }
  const waitFor = async ({ kind, id }: Started) => {
    let manifest: { status: string; rowCount: number; errorCode: string } | undefined
    const read = async () => {
      const { status, body } = await ask(origin, 'GET', `/v1/${kind}-exports/${id}`, key)
      manifest = status === 200 ? body : undefined
      return manifest?.status
    }
    await expect.poll(read, { timeout: 150_000 }).toMatch(/^(completed|failed)$/)
    if (!manifest) throw new Error('it has just been there')
    return manifest
  }
  const fetchFile = async ({ kind, id }: Started) => {
    const headers = { authorization: `Bearer ${key}` }
    const download = `${origin}/v1/${kind}-exports/${id}/download`
    let location: string | null = null
    const link = async () => {
      const answer = await fetch(download, { redirect: 'manual', headers })
      location = answer.headers.get('location')
      return answer.status
    }
    // The service responds with 503 while the database restarts.
    await expect.poll(link, { timeout: 60_000 }).toBe(302)
    const file = await fetch(location ?? '')
    const digest = createHash('sha256')
      .update(Buffer.from(await file.arrayBuffer()))
      .digest('base64')
    expect(file.headers.get('repr-digest')).toBe(`sha-256=:${digest}:`)
    return digest
  }

  const started: Started[] = []
  const wanted = new Map<Kind, string>()
  for (const kind of kinds) {
    const first = await start(kind)
    await waitFor(first)
    wanted.set(kind, await fetchFile(first))
    started.push(first)
  }

  const killed = { service: 0, generator: 0, database: 0 }
  const killOne = async () => {
    const generator = await findGenerator(earshot.child.pid)
    if (generator !== undefined && random.chance(0.3)) {
      killed.generator++
      // The process may have just ended.
      await run('kill', ['-9', String(generator)]).catch(() => {})
    } else if (random.chance(0.3)) {
      killed.database++
      process.kill(await findPostmaster(dataDir), 'SIGKILL')
    } else {
      killed.service++
      earshot.child.kill('SIGKILL')
      await earshot.ended
      earshot = await startEarshot(switches)
    }
  }
  for (let kill = 0; kill < kills; kill++) {
    started.push(await start(kinds[kill % kinds.length] as Kind))
    await pause(random.below(longestPauseMs))
    await killOne()
  }

  const statuses = new Map<Started, string>()
  for (const each of started) {
    const manifest = await waitFor(each)
    statuses.set(each, manifest.status)
    if (manifest.status === 'failed') expect(manifest.errorCode).toMatch(/^(generation_failed|storage_unavailable)$/)
    else {
      expect(manifest.rowCount).toBe(calls)
      expect(await fetchFile(each)).toBe(wanted.get(each.kind))
    }
  }

  const told = () => {
    const events = receiver.received.map(({ headers, body }) => ({ id: headers['webhook-id'], ...JSON.parse(body) }))
    const each = new Map(events.map((event) => [event.id, `${event.data.id} ${event.type}`]))
    return [...each.values()].sort()
  }
  const expected = [...statuses].map(([{ kind, id }, status]) => `${id} ${kind}_export.${status}`).sort()
  await expect.poll(told, { timeout: 60_000 }).toEqual(expected)

  // Two days later, unreferenced files are deleted.
  const blobs = join(dataDir, 'blobs')
  earshot.child.kill('SIGKILL')
  await earshot.ended
  for (const folder of [join(blobs, org, 'exports'), join(blobs, '.incoming')]) {
    for (const name of await readdir(folder)) {
      const then = Date.now() / 1_000 - 2 * day
      await utimes(join(folder, name), then, then)
    }
  }
  earshot = await startEarshot(switches)
  const { jobs, db } = await openQueue(dataDir)
  await jobs.enqueue(db, sweepFiles, {})
  const completed = [...statuses.values()].filter((status) => status === 'completed').length
  await expect
    .poll(async () => (await readdir(join(blobs, org, 'exports'))).length, { timeout: 30_000 })
    .toBe(completed)
  // Checking that the storage is writable leaves a file there for a moment.
  await expect.poll(() => readdir(join(blobs, '.incoming'))).toEqual([])
  // A kill costs an export one attempt.
  if (kills <= generateExport.retryLimit) expect(completed).toBe(started.length)
  process.stdout.write(
    `exports: ${completed} of ${started.length} completed; killed: service ${killed.service} times, ` +
      `generator ${killed.generator}, database ${killed.database}\n`,
  )
})
