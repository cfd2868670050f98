import { spawn } from 'node:child_process'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { readDigest } from '../../server/platform/db/citus/digests.ts'
import { placement } from '../../server/platform/db/citus/placement.ts'
import { workers } from '../citus.ts'
import { databaseUrl, testDatabase } from '../database.ts'
import { makeDataDir, runEarshot, startEarshot } from '../earshot.ts'
import { inheritedEnvironment } from '../inherited.ts'

// Moves a database from one server to a cluster with the operator's commands.

const addNodes = workers.flatMap(({ host, port }) => ['--add-node', `${host}:${port}`])

const { connection, drop } = await testDatabase({ empty: true })
const switches = {
  EARSHOT_DATA_DIR: await makeDataDir(),
  EARSHOT_SECRET_KEY: 'a-secret-key-for-this-test-0123456789',
  DATABASE_URL: databaseUrl(connection),
}
const client = new pg.Client(connection)
client.on('error', () => {})

afterAll(async () => {
  await client.end()
  await drop()
})

const earshot = (...args: string[]) => runEarshot(['db', ...args], switches, 150_000)

const check = async () => {
  const { code, stdout } = await earshot('distribute', '--check', '--json')
  return { code, ...JSON.parse(stdout) }
}

const readDigests = async () => {
  const digests: Record<string, unknown> = {}
  for (const table of Object.keys(placement))
    if (placement[table] !== 'local') digests[table] = await readDigest(client, table)
  return digests
}

let before: Record<string, unknown>

beforeAll(async () => {
  const demo = await startEarshot(switches, { args: ['demo', '--calls', '300'] })
  await vi.waitUntil(() => demo.stdout().includes('The demo is loaded'), { timeout: 60_000 })
  demo.child.kill('SIGTERM')
  await demo.ended
  await client.connect()
  await client.query('SET search_path = public')
})

it('is rejected while a service is connected, and changes nothing', async () => {
  const service = await startEarshot(switches)
  expect(await earshot('distribute', ...addNodes)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^earshot: Stop all processes of Earshot first\. Connected: earshot/),
  })
  service.child.kill('SIGTERM')
  await service.ended
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'")
  expect(rowCount).toBe(0)
  before = await readDigests()
  expect(before.conversations).toMatchObject({ rows: '300' })
})

it('killed halfway, is continued by the next run, and every table keeps its rows', async () => {
  const half = spawn(
    join(import.meta.dirname, '../../bin/earshot'),
    ['db', 'distribute', '--shards', '8', ...addNodes],
    {
      env: { ...inheritedEnvironment(), ...switches },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  )
  for await (const text of half.stdout) if (String(text).includes('public.conversations')) break
  half.kill('SIGKILL')
  const state = await check()
  expect(state.code).toBe(1)
  expect(state.left.length).toBeGreaterThan(5)
  expect(state.left.length).toBeLessThan(Object.keys(placement).length)
  expect(await readDigests()).toEqual(before)

  const rest = await earshot('distribute', '--shards', '8')
  expect(rest).toMatchObject({ code: 0, stdout: expect.stringContaining('and verified their rows') })
  expect(await readDigests()).toEqual(before)
  expect(await earshot('distribute')).toMatchObject({ code: 0, stdout: 'All tables are already placed correctly.\n' })
  const { rows } = await client.query(
    `SELECT c.relname FROM pg_dist_partition JOIN pg_class c ON c.oid = logicalrelid WHERE pg_relation_size(c.oid) > 0`,
  )
  expect(rows, 'copies left on the coordinator').toEqual([])
})

it('makes nodes plan like the coordinator', async () => {
  const { rows } = await client.query<{ settings: string }>(
    `SELECT result AS settings FROM run_command_on_all_nodes(
       'SELECT setconfig::text FROM pg_db_role_setting JOIN pg_database d ON d.oid = setdatabase
        WHERE datname = current_database() AND setrole = 0')`,
  )
  expect(rows).toHaveLength(workers.length + 1)
  for (const { settings } of rows) expect(settings).toBe('{TimeZone=UTC,random_page_cost=1.1,jit=off}')
})

it('isolates an organization, balances shards over nodes, and shows where they are', async () => {
  const node = `${workers[1]?.host}:${workers[1]?.port}`
  expect(await earshot('isolate', 'nobody', '--block-writes')).toMatchObject({
    code: 1,
    stderr: 'earshot: No organization has the slug or ID "nobody".\n',
  })
  const isolated = await earshot('isolate', 'demo', '--block-writes', '--node', node, '--quiet')
  expect(isolated).toMatchObject({ code: 0, stdout: `demo now has its own shards on ${node}.\n` })
  const again = await earshot('isolate', 'demo', '--block-writes', '--quiet')
  expect(again).toMatchObject({ code: 0, stdout: `demo already has its own shards on ${node}.\n` })
  const { largest } = await check()
  expect(largest[0]).toMatchObject({ node, organizations: [{ slug: 'demo' }] })

  expect(await earshot('rebalance', '--block-writes', '--quiet')).toMatchObject({ code: 0 })
  const settled = await earshot('rebalance', '--block-writes', '--quiet')
  expect(settled).toMatchObject({ code: 0, stdout: 'The nodes are already balanced.\n' })
  expect(await readDigests()).toEqual(before)
  expect(await check()).toMatchObject({ code: 0, left: [], misplaced: [] })
})

it('serves distributed data', async () => {
  const service = await startEarshot(switches)
  const response = await fetch(new URL('/readyz', service.origin))
  expect(response.status).toBe(200)
})
