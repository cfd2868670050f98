import { execFileSync, fork } from 'node:child_process'
import { createHash, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { databaseUrl } from '../../../test/database.ts'
import { makeAgent, makeMonitor, makeOrganization } from '../../../test/make.ts'
import { startS3Server, stubEnvironment } from '../../../test/s3-server.ts'
import { testServer } from '../../../test/server.ts'
import { expectedRows, loadAll } from '../../../test/support/exports/expected-rows.ts'
import { drawing } from '../../../test/support/exports/random.ts'
import { drawOrder, makeCalls, parseCsv } from '../../../test/support/exports/random-calls.ts'
import { newId, orgIdOf } from '../../platform/ids.ts'
import { generate, makePlan, type Order } from './generate.ts'
import type { GeneratorMessage, GeneratorTask } from './messages.ts'

const server = await testServer()
const { deps } = server
const seed = Number(process.env.EXPORT_SEED ?? randomInt(2 ** 31))

const run = (order: Order, options: Partial<Parameters<typeof generate>[2]> = {}, on = deps) =>
  generate(on, order, { signal: new AbortController().signal, onProgress: () => {}, ...options })

const fileOf = async (key: string): Promise<Buffer | undefined> => {
  const found = await deps.blobs.get(key)
  return found && buffer(found.stream)
}

/** Counts the database connections used for exports. */
const readers = async () => {
  const { rows } = await server.deps.db.executeQuery<{ count: number }>({
    sql: "SELECT count(*) AS count FROM pg_stat_activity WHERE application_name = 'earshot export' AND datname = current_database()",
    parameters: [],
  } as never)
  return rows[0]?.count
}

/** Creates calls that start one second apart, each with one result. */
const makeMany = async (count: number) => {
  const { id, key } = await makeOrganization(server)
  // The service has just returned this ID.
  const org = orgIdOf(id)
  const [agent, monitor] = [await makeAgent(server, key), await makeMonitor(server, key)]
  const since = '2026-05-01T00:00:00.000Z'
  const insert = (text: string, parameters: unknown[]) => deps.db.executeQuery({ sql: text, parameters } as never)
  await insert(
    `INSERT INTO conversations (organization_id, id, agent_id, channel, status, started_at, metadata, signals)
     SELECT $1, gen_random_uuid(), $2, 'call', 'completed', $3::timestamptz + n * interval '1 second', '{}', '{}'
     FROM generate_series(0, $4::int - 1) n`,
    [org, agent.id, since, count],
  )
  await insert(
    `INSERT INTO monitor_results (organization_id, monitor_id, conversation_id, call_started_at, evaluated_at,
       monitor_version, status, result, evidence, evaluator)
     SELECT organization_id, $2, id, started_at, started_at, 1, 0, 1, '[]', 'test'
     FROM conversations WHERE organization_id = $1`,
    [org, monitor.id],
  )
  const order = (calls = count): Order => ({
    org,
    format: 'csv',
    key: `${org}/exports/${newId()}.csv`,
    monitors: [{ id: monitor.id, result: 'all' }],
    ...({ match: 'all', versionScope: 'historical', reasoning: false } as const),
    selection: { since, until: new Date(Date.parse(since) + calls * 1_000).toISOString() },
    about: [],
  })
  return { order, key, monitorId: monitor.id as string }
}

/** Generating takes some seconds if each slice contains one call. */
const slowly = { limits: { rowsPerSlice: 1 } }
const many = await makeMany(3_000)

it.each(Array.from({ length: 6 }, (_, at) => seed + at))('writes what the API documents (seed %i)', async (from) => {
  const draw = drawing(from)
  const made = await makeCalls(server, draw)
  const order = drawOrder(draw, made)
  const expected = expectedRows(await loadAll(deps.db, made.org), order)
  const generated = await run(order, { limits: { rowsPerSlice: 10 } })
  const file = (await fileOf(order.key)) ?? Buffer.alloc(0)
  expect(parseCsv(file.toString()).slice(1)).toEqual(expected)
  const sha256 = createHash('sha256').update(file).digest('base64')
  expect(generated).toEqual({ rows: expected.length, bytes: file.length, sha256 })
})

it('reports how many rows were written so far', async () => {
  const told: number[] = []
  const order = many.order(25)
  await run(order, { limits: { rowsPerSlice: 10 }, onProgress: (rows) => told.push(rows) })
  expect(told).toEqual([10, 20, 25])
})

it('writes to an object store', async () => {
  const s3 = await startS3Server()
  afterAll(s3.close)
  stubEnvironment(s3)
  afterAll(() => vi.unstubAllEnvs())
  const storage = { kind: 's3', bucket: s3.bucket, prefix: 'here' } as const
  const order = many.order(10)
  const config = { ...deps.config, storage, s3Endpoint: s3.endpoint }
  expect(await run(order, {}, { ...deps, config })).toMatchObject({ rows: 10 })
  expect([...s3.objects.keys()]).toEqual([`here/${order.key}`])
})

it('reads a replica if there is one, and the primary if it does not respond', async () => {
  const notes = () => server.logged.filter((line) => /replica/.test(line)).map((line) => JSON.parse(line).msg)
  const reading = (readDatabaseUrl: string) => ({ ...deps, config: { ...deps.config, readDatabaseUrl } })
  expect(await run(many.order(3), {}, reading(databaseUrl(deps.database.connection)))).toMatchObject({ rows: 3 })
  expect(notes()).toEqual(['the export reads the replica'])
  expect(await run(many.order(3), {}, reading('postgres://nobody@localhost/nothing?host=%2Fnowhere'))).toMatchObject({
    rows: 3,
  })
  expect(notes().at(-1)).toMatch(/^the replica cannot be read \(.+\); the export reads the primary$/)
})

describe('a generation that ends early leaves no file and no reader', () => {
  const expectNothing = async ({ key }: Order) => {
    await expect.poll(readers).toBe(0)
    expect(await fileOf(key)).toBeUndefined()
  }

  it('when it is aborted', async () => {
    const stop = new AbortController()
    const order = many.order()
    const onProgress = () => stop.abort(new Error('enough'))
    await expect(run(order, { ...slowly, signal: stop.signal, onProgress })).rejects.toThrow('enough')
    await expectNothing(order)
    await expect(run(order, { signal: stop.signal })).rejects.toThrow('enough')
  })

  it('when its process is killed', async () => {
    const order = many.order()
    let isKilled = false
    const kill = () => {
      // A progress message from before the kill can arrive afterwards.
      if (isKilled) return
      isKilled = true
      const pids = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'generation/process.ts']).toString()
      for (const pid of pids.trim().split('\n')) process.kill(Number(pid), 'SIGKILL')
    }
    await expect(run(order, { ...slowly, onProgress: kill })).rejects.toThrow('ended with SIGKILL')
    await expectNothing(order)
  })

  it('when the process that requested it is gone', async () => {
    const order = many.order()
    const { storage, dataDir, s3Endpoint } = deps.config
    const task: GeneratorTask = {
      plan: makePlan(deps.db, order),
      connections: { primary: deps.database.connection },
      storage: { storage, dataDir, s3Endpoint },
      ...slowly,
    }
    const child = fork(join(import.meta.dirname, 'process.ts'), { execArgv: [] })
    child.send(task)
    const [reply] = (await once(child, 'message')) as [GeneratorMessage]
    expect(reply.type).toBe('progress')
    child.disconnect()
    expect(await once(child, 'exit')).toEqual([1, null])
    await expectNothing(order)
  })

  it('when the storage rejects it', async () => {
    const order = many.order(10)
    const folder = join(deps.config.dataDir, 'refusing')
    await mkdir(folder)
    await writeFile(join(folder, order.org), 'in the way of the folder')
    const config = { ...deps.config, storage: { kind: 'file', folder } as const }
    await expect(run(order, {}, { ...deps, config })).rejects.toMatchObject({ kind: 'unavailable' })
    await expectNothing(order)
  })

  it('when the database goes away', async () => {
    const order = many.order()
    const end = () =>
      void deps.db.executeQuery({
        sql: "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'earshot export' AND datname = current_database()",
        parameters: [],
      } as never)
    await expect(run(order, { ...slowly, onProgress: end })).rejects.toThrow(
      /terminat|connection error|EPIPE|ECONNRESET/,
    )
    await expectNothing(order)
  })

  it('when a monitor was deleted', async () => {
    const { order, key, monitorId } = await makeMany(1)
    await server.call('DELETE', `/v1/monitors/${monitorId}`, { key })
    const deleted = order()
    await expect(run(deleted)).rejects.toThrow('A monitor of the export was deleted')
    await expectNothing(deleted)
  })
})
