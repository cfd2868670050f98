import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeAgent } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { dayMs } from '../platform/durations.ts'
import { jobList } from '../worker.ts'
import { canMove, generateExport } from './lifecycle.ts'
import { exportStatuses } from './manifest.ts'

const server = await testServer()
const { call, clock, deps } = server
const { makeCalls, ask, read, download, fetchFile } = exportsOf(server)

const files = async (org: string): Promise<string[]> => {
  const keys: string[] = []
  for await (const { key } of deps.blobs.list(`${org}/exports/`)) keys.push(key)
  return keys
}

const linesOf = (text: string) => text.split('\r\n').filter((line) => line !== '')

/** Creates an export and completes it. */
const complete = async (calls = 3) => {
  const made = await makeCalls(calls)
  const { body } = await ask(made.key, made.config)
  await server.drain()
  return { ...made, id: body.id as string, manifest: await read(made.key, body.id) }
}

it('an export only moves between states as its table allows', () => {
  const moves = exportStatuses.flatMap((from) =>
    exportStatuses.filter((to) => canMove(from, to)).map((to) => `${from} ${to}`),
  )
  expect(moves).toEqual([
    'pending processing',
    'pending failed',
    'processing processing',
    'processing completed',
    'processing failed',
    'completed expired',
  ])
})

describe('a completed export', () => {
  let whole: Awaited<ReturnType<typeof complete>>
  beforeAll(async () => {
    whole = await complete(3)
  })

  it('has a file that matches its manifest', async () => {
    const { key, id, manifest } = whole
    expect(manifest).toMatchObject({
      status: 'completed',
      completedAt: clock.now().toISOString(),
      expiresAt: new Date(clock.now().getTime() + 30 * dayMs).toISOString(),
      rowCount: 3,
      errorCode: null,
      downloadPath: `/v1/monitor-exports/${id}/download`,
    })
    expect(JSON.stringify(manifest)).not.toContain('/exports/')
    const link = await download(key, id)
    expect(link.status).toBe(302)
    expect(link.headers.get('cache-control')).toBe('no-store')
    const file = await fetchFile(key, id)
    const bytes = Buffer.from(await file.arrayBuffer())
    const digest = `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`
    expect(file.headers.get('repr-digest')).toBe(digest)
    expect(link.headers.get('x-file-digest')).toBe(digest)
    expect(file.headers.get('content-length')).toBe(String(manifest.bytes))
    expect(bytes.length).toBe(manifest.bytes)
    expect(file.headers.get('content-type')).toContain('text/csv')
    expect(file.headers.get('content-encoding')).toBeNull()
    expect(file.headers.get('cache-control')).toBe('no-store')
    expect(file.headers.get('content-disposition')).toMatch(
      /^attachment; filename="earshot-calls-from-2026-11-01-.*\.csv"/,
    )
    const [header, ...rows] = linesOf(bytes.toString('utf8'))
    expect(header).toMatch(/^conversation_id,external_id,started_at,.*,refund_asked_result,refund_asked_score/)
    expect(rows.map((row) => row.split(',')[1])).toEqual(['call 0', 'call 1', 'call 2'])
  })

  it('is served in ranges, and with HEAD', async () => {
    const { key, id, manifest } = whole
    const location = (await download(key, id)).headers.get('location') ?? ''
    const all = Buffer.from(await (await fetch(location)).arrayBuffer())
    const part = await fetch(location, { headers: { range: 'bytes=10-19' } })
    expect(part.status).toBe(206)
    expect(part.headers.get('content-range')).toBe(`bytes 10-19/${manifest.bytes}`)
    expect(Buffer.from(await part.arrayBuffer())).toEqual(all.subarray(10, 20))
    const head = await fetch(location, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(manifest.bytes)])
    const beyond = await fetch(location, { headers: { range: `bytes=${manifest.bytes}-` } })
    expect([beyond.status, beyond.headers.get('repr-digest')]).toEqual([416, null])
  })

  it('has an audit event for each download', async () => {
    const { key, id } = whole
    const downloads = async () => {
      const { data } = (await call('GET', '/v1/audit-events', { key })).body
      return data.filter(({ action }: { action: string }) => action === 'monitor-export.download').length
    }
    const before = await downloads()
    await download(key, id)
    await download(key, id)
    expect(await downloads()).toBe(before + 2)
  })

  it('has a link that nobody can modify, that contains no key, and that expires', async () => {
    const { key, id } = whole
    const other = await complete(1)
    const location = (await download(key, id)).headers.get('location') ?? ''
    const foreign = (await download(other.key, other.id)).headers.get('location') ?? ''
    const half = location.length - 40
    const mixed = location.slice(0, half) + foreign.slice(half)
    expect((await fetch(mixed)).status).toBe(403)
    expect((await fetch(`${location.slice(0, -2)}xx`)).status).toBe(403)
    server.logged.length = 0
    const withKey = await fetch(location, { headers: { authorization: 'Bearer ear_should_never_be_read' } })
    expect(withKey.status).toBe(200)
    expect(server.logged.join('\n')).not.toContain('should_never_be_read')
    clock.advance(15 * 60_000)
    expect((await fetch(location)).status).toBe(410)
    expect((await download(key, id)).status).toBe(302)
  })

  it('gets no link beyond its expiry, and is then expired', async () => {
    const { org, key, id, manifest } = whole
    clock.advance(Date.parse(manifest.expiresAt) - clock.now().getTime() - 60_000)
    const location = (await download(key, id)).headers.get('location') ?? ''
    clock.advance(60_000)
    expect((await fetch(location)).status).toBe(410)
    expect((await download(key, id)).status).toBe(410)
    expect(await read(key, id)).toMatchObject({ status: 'expired', downloadPath: null, rowCount: 3 })
    const listed = async (status: string) =>
      (await call('GET', `/v1/monitor-exports?status=${status}`, { key })).body.data.length
    expect([await listed('completed'), await listed('expired')]).toEqual([0, 1])
    expect(await files(org)).toHaveLength(1)
    clock.advance(60_000)
    await deps.jobs.enqueue(deps.db, jobNamed('monitor-export.expire'), {})
    await server.drain()
    expect(await files(org)).toEqual([])
    expect(await read(key, id)).toMatchObject({ status: 'expired', errorCode: null, expiresAt: manifest.expiresAt })
  })

  it('is expired by deleting it, and then cannot be deleted again', async () => {
    const { org, key, id } = await complete(1)
    expect((await call('DELETE', `/v1/monitor-exports/${id}`, { key })).status).toBe(204)
    expect(await read(key, id)).toMatchObject({ status: 'expired', expiresAt: clock.now().toISOString() })
    await server.drain()
    expect(await files(org)).toEqual([])
    expect((await call('DELETE', `/v1/monitor-exports/${id}`, { key })).status).toBe(409)
  })

  it('expires with a conversation that it contains, and only then', async () => {
    const { key, id, ids, config } = await complete(2)
    const { body: later } = await ask(key, { ...config, since: '2026-11-10T00:00:00Z' })
    const { body: one } = await call('GET', `/v1/conversations/${ids[0]}`, { key })
    const { body: ours } = await ask(key, { ...config, agentId: one.agentId })
    const { body: theirs } = await ask(key, { ...config, agentId: (await makeAgent(server, key)).id })
    await server.drain()
    await call('DELETE', `/v1/conversations/${ids[0]}`, { key })
    for (const held of [id, ours.id]) expect(await read(key, held)).toMatchObject({ status: 'expired' })
    for (const { id: other } of [later, theirs])
      expect(await read(key, other)).toMatchObject({ status: 'completed', rowCount: 0 })
  })
})

const jobNamed = (name: string) => {
  const job = jobList.find((each) => each.name === name)
  if (!job) throw new Error(`there is no job ${name}`)
  return job as (typeof jobList)[number] & { name: string }
}

/**
 * Mounts a file system with a single page at the folder. If the test isn't allowed to mount, it removes the write
 * permission instead.
 */
const mountFull = async (folder: string) => {
  const isRoot = process.getuid?.() === 0
  const run = promisify(execFile)
  let isMounted = true
  const unmount = async () => {
    if (isMounted) await (isRoot ? run('umount', [folder]) : chmod(join(folder, '.incoming'), 0o700))
    isMounted = false
  }
  if (isRoot) await run('mount', ['-t', 'tmpfs', '-o', 'size=4k', 'tmpfs', folder])
  onTestFinished(unmount)
  await mkdir(join(folder, '.incoming'), { recursive: true })
  if (!isRoot) await chmod(join(folder, '.incoming'), 0o500)
  return { unmount }
}

const drainAll = () => deps.jobs.drain(jobList, deps, { delayed: true, allowFailures: true })

describe('an unfinished export', () => {
  it('has no file yet', async () => {
    const { key, config } = await makeCalls(1)
    const { body } = await ask(key, config)
    expect(await download(key, body.id)).toMatchObject({ status: 409, body: { error: 'conflict' } })
  })

  it('is cancelled by deleting it before it starts', async () => {
    const { org, key, config } = await makeCalls(1)
    const { body } = await ask(key, config)
    await call('DELETE', `/v1/monitor-exports/${body.id}`, { key })
    await server.drain()
    expect(await read(key, body.id)).toMatchObject({ status: 'failed', errorCode: 'cancelled', downloadPath: null })
    expect(await download(key, body.id)).toMatchObject({
      status: 409,
      body: { error: 'conflict', message: 'The export failed (cancelled) and has no file. Create a new export.' },
    })
    expect(await files(org)).toEqual([])
  })

  it('is cancelled in the middle: its process ends, and no file is left', async () => {
    const { org, key, config } = await makeCalls(3)
    const { body } = await ask(key, config)
    const cancelling = {
      ...deps,
      db: deps.db,
      blobs: deps.blobs,
      log: deps.log,
      config: { ...deps.config },
    }
    // Reading the configuration shows that generation has started.
    Object.defineProperty(cancelling, 'config', {
      get: () => {
        cancelled ??= call('DELETE', `/v1/monitor-exports/${body.id}`, { key })
        return deps.config
      },
    })
    let cancelled: Promise<unknown> | undefined
    await deps.jobs.drain(jobList, cancelling)
    expect(await cancelled).toMatchObject({ status: 204 })
    expect(await read(key, body.id)).toMatchObject({ status: 'failed', errorCode: 'cancelled' })
    await server.drain()
    expect(await files(org)).toEqual([])
  })

  it('restarts when a conversation that it may contain is erased in the meantime', async () => {
    const { org, key, config, ids } = await makeCalls(3)
    const { body } = await ask(key, config)
    let erased: Promise<unknown> | undefined
    const during = Object.defineProperty({ ...deps }, 'config', {
      get: () => {
        erased ??= call('DELETE', `/v1/conversations/${ids[1]}`, { key })
        return deps.config
      },
    })
    const outcomes = await deps.jobs.drain(jobList, during, { delayed: true, allowFailures: true })
    expect(await erased).toMatchObject({ status: 204 })
    const attempts = outcomes.filter(({ name }) => name === 'monitor-export.generate')
    expect(attempts.at(-1)?.result).toBe('completed')
    expect(await read(key, body.id)).toMatchObject({ status: 'completed', rowCount: 2 })
    expect(await (await fetchFile(key, body.id)).text()).not.toContain('call 1,')
    await server.drain()
    expect(await files(org)).toHaveLength(1)
  })

  it('completes however often that happens', async () => {
    // The process fails more often than it is retried.
    const times = generateExport.retryLimit + 2
    const { key, config, ids } = await makeCalls(times + 4)
    const { body } = await ask(key, config)
    const erasures: Promise<{ status: number }>[] = []
    const during = Object.defineProperty({ ...deps }, 'config', {
      get: () => {
        const id = ids[erasures.length]
        if (erasures.length < times) erasures.push(call('DELETE', `/v1/conversations/${id}`, { key }))
        return deps.config
      },
    })
    await deps.jobs.drain(jobList, during, { delayed: true, allowFailures: true })
    expect((await Promise.all(erasures)).map(({ status }) => status)).toEqual(Array(times).fill(204))
    expect(await read(key, body.id)).toMatchObject({ status: 'completed', rowCount: 4 })
  })

  it('is retried if the storage rejects it, and fails with a code if that continues', async () => {
    const { org, key, config } = await makeCalls(2)
    const folder = join(deps.config.dataDir, 'blobs', org)
    const { body: lost } = await ask(key, config)
    await writeFile(folder, 'a file where a folder should be')
    await drainAll()
    expect(await read(key, lost.id)).toMatchObject({ status: 'failed', errorCode: 'storage_unavailable', bytes: null })

    const { body: saved } = await ask(key, config)
    const [outcome] = await deps.jobs.drain([jobNamed('monitor-export.generate')], deps, { allowFailures: true })
    expect(outcome).toMatchObject({ result: 'retried' })
    expect(await read(key, saved.id)).toMatchObject({ status: 'processing', downloadPath: null })
    await rm(folder)
    await drainAll()
    expect(await read(key, saved.id)).toMatchObject({ status: 'completed', rowCount: 2 })
    expect(await files(org)).toHaveLength(1)
  })

  it('leaves no partial file if the disk is full', async () => {
    const { org, key, config } = await makeCalls(40)
    const disk = join(deps.config.dataDir, 'blobs')
    const reasoning = { ...config, reasoning: true }
    const mounted = await mountFull(disk)
    const { body } = await ask(key, reasoning)
    await drainAll()
    expect(await read(key, body.id)).toMatchObject({ status: 'failed', errorCode: 'storage_unavailable' })
    expect(await files(org)).toEqual([])
    expect(await readdir(join(disk, '.incoming'))).toEqual([])
    await mounted.unmount()
    const { body: again } = await ask(key, reasoning)
    await drainAll()
    expect(await read(key, again.id)).toMatchObject({ status: 'completed', rowCount: 40 })
  })

  it('fails if one of its monitors is deleted in the meantime', async () => {
    const { key, config, monitor } = await makeCalls(1)
    const { body } = await ask(key, config)
    await call('DELETE', `/v1/monitors/${monitor.id}`, { key })
    await drainAll()
    expect(await read(key, body.id)).toMatchObject({ status: 'failed', errorCode: 'generation_failed' })
  })

  it('has a time limit', async () => {
    const { org, key, config } = await makeCalls(1)
    const { body } = await ask(key, config)
    const drainWithin = (exportSeconds: number) =>
      deps.jobs.drain(jobList, {
        ...deps,
        config: { ...deps.config, limits: { ...deps.config.limits, exportSeconds } },
      })
    await drainWithin(0.001)
    expect(await read(key, body.id)).toMatchObject({ status: 'failed', errorCode: 'timed_out' })
    expect(await files(org)).toEqual([])
    const { body: longest } = await ask(key, config)
    await drainWithin(3_000_000)
    expect(await read(key, longest.id)).toMatchObject({ status: 'completed' })
  })

  it('has at most 100,000 calls, including the last one', async () => {
    const { org, key, config, monitor } = await makeCalls(0)
    const { id: agent } = await makeAgent(server, key)
    await deps.db.transaction().execute(async (trx) => {
      // Looking up each call's agent and organization would take as long as everything else.
      await sql`SET LOCAL session_replication_role = replica`.execute(trx)
      await sql`
        WITH calls AS (
          INSERT INTO conversations (organization_id, id, agent_id, channel, status, started_at, metadata, signals)
          SELECT ${org}::uuid, gen_random_uuid(), ${agent}::uuid, 'call', 'completed',
            timestamptz '2026-11-05Z' + n * interval '1 second', '{}', '{}'
          FROM generate_series(0, 100000) n
          RETURNING id, started_at)
        INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at,
          monitor_version, status, result, evidence, evaluator)
        SELECT ${org}::uuid, ${monitor.id}::uuid, id, started_at, started_at, 1, 0, 1, '[]', 'test'
        FROM calls`.execute(trx)
    })
    await sql`ANALYZE conversations, monitor_results`.execute(deps.db)
    const { body: tooMany } = await ask(key, config)
    const { body: justRight } = await ask(key, { ...config, since: '2026-11-05T00:00:01Z' })
    await server.drain()
    expect(await read(key, tooMany.id)).toMatchObject({ status: 'failed', errorCode: 'too_many_calls' })
    expect(await read(key, justRight.id)).toMatchObject({ status: 'completed', rowCount: 100_000 })
    expect(await files(org)).toHaveLength(1)
    const preview = await call('POST', '/v1/monitor-exports/preview', { key, body: { config } })
    expect(preview.body).toMatchObject({ count: 100_001, exceedsLimit: true })
    expect(preview.body.rows).toHaveLength(20)
  }, 60_000)

  it('runs with at most one other of its organization, and the next one starts when one ends', async () => {
    const { key, config } = await makeCalls(1)
    const other = await makeCalls(1)
    const ids: string[] = []
    for (let at = 0; at < 5; at++) ids.push((await ask(key, config)).body.id)
    const { body: theirs } = await ask(other.key, other.config)
    // A worker with a single slot finishes them in this order.
    const ended: string[] = []
    const generate = jobNamed('monitor-export.generate')
    const watched = {
      ...generate,
      run: async (...args: Parameters<typeof generate.run>) => {
        await generate.run(...args)
        ended.push((args[1] as { exportId: string }).exportId)
      },
    }
    await deps.jobs.drain([watched], deps)
    // The other organization gets its turn after one export of this organization.
    expect(ended.slice(0, 3)).toEqual([ids[0], theirs.id, ids[1]])
    expect(ended.slice(3)).toEqual(ids.slice(2))
  })
})
