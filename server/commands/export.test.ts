import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { runEarshot, runInOne } from '../../test/earshot.ts'
import { inheritedEnvironment } from '../../test/inherited.ts'
import { forward, listen, passOn, passOnUntil } from '../../test/outside.ts'
import { testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { jobList } from '../worker.ts'
import { readWhen } from './when.ts'

/** A proxy between the command and the service that breaks connections. */
let target = ''
let cuts = 0
const seen: { url: string; range: string | undefined; authorization: string | undefined }[] = []
const wire = createServer(async (incoming, outgoing) => {
  const { url = '', headers } = incoming
  seen.push({ url, range: headers.range, authorization: headers.authorization })
  const answer = await forward(incoming, outgoing, target)
  if (!url.startsWith('/files/') || cuts === 0) return passOn(answer, outgoing)
  cuts--
  passOnUntil(3_000, answer, outgoing)
})
const { url } = await listen(wire, afterAll)

const server = await testServer({ EARSHOT_BASE_URL: url })
target = server.origin
await server.deps.jobs.start(jobList, server.deps, { workerId: 'test', assumeSoleWorker: true })
const { makeCalls } = exportsOf(server)

const folder = await mkdtemp(join(tmpdir(), 'earshot-command-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const runBy =
  (runner: typeof runEarshot) =>
  (key: string, ...args: string[]) =>
    runner(['export', '--since', '2026-11-01', '--until', '2026-12-01', '--timezone', 'UTC', ...args], {
      EARSHOT_URL: url,
      EARSHOT_KEY: key,
    })
const run = runBy(runEarshot)
const runBeside = runBy(runInOne)

const rowsOf = (text: string) => text.split('\r\n').length - 2

it('creates, waits, and downloads, with only a key', async () => {
  const { key } = await makeCalls(4)
  const output = join(folder, 'all.csv')
  const { code, stdout, stderr } = await run(key, '--output', output)
  expect([code, stdout, stderr]).toEqual([0, `${output}\n`, ''])
  expect(rowsOf(await readFile(output, 'utf8'))).toBe(4)
  expect(seen.filter(({ url: path }) => path.startsWith('/files/')).every((each) => !each.authorization)).toBe(true)
})

it('rejects a file name that promises another format', async () => {
  for (const [args, message] of [
    [['--output', join(folder, 'all.pdf')], '--output ends in .pdf, which is not a format. Use .csv, .xlsx, .parquet'],
    [['--output', join(folder, 'all.CSV'), '--format', 'xlsx'], '--output ends in .csv, but --format is xlsx.'],
  ] as const) {
    const { code, stderr } = await run('no-key', ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
})

it('finds monitors by name, and lists the available ones', async () => {
  const { key } = await makeCalls(4)
  const { code, stdout } = await run(key, '--affected', 'refund ASKED', '--output', '-', '--format', 'csv')
  expect([code, rowsOf(stdout)]).toEqual([0, 2])
  const wrong = await runBeside(key, '--monitor', 'Anger')
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('No monitor is named "Anger". Available:\n  Refund asked')
})

it('resumes after a broken connection', async () => {
  const { key } = await makeCalls(60)
  const output = join(folder, 'broken.csv')
  seen.length = 0
  cuts = 3
  const { code } = await runBeside(key, '--output', output)
  expect(code).toBe(0)
  const ranges = seen.filter((each) => each.url.startsWith('/files/')).map(({ range }) => range)
  expect(ranges).toEqual([undefined, 'bytes=3000-', 'bytes=6000-', 'bytes=9000-'])
  expect(rowsOf(await readFile(output, 'utf8'))).toBe(60)
  expect((await readdir(folder)).filter((name) => name.endsWith('.part'))).toEqual([])
})

it('succeeds if the reader of its output stops early', async () => {
  const { key } = await makeCalls(2)
  const command = join(import.meta.dirname, '../../bin/earshot')
  const env = { ...inheritedEnvironment(), EARSHOT_URL: url, EARSHOT_KEY: key }
  const child = spawn(command, ['export', '--since', '2026-11-01', '--output', '-'], { cwd: folder, env })
  child.stdout.destroy()
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const [code] = await once(child, 'close')
  expect([code, stderr]).toEqual([0, ''])
})

it('resumes an existing export, as JSON for scripts', async () => {
  const { key, config } = await makeCalls(2)
  const { body } = await exportsOf(server).ask(key, { ...config, format: 'parquet' })
  const output = join(folder, 'again.parquet')
  const { code, stdout } = await runBeside(key, '--id', body.id, '--output', output, '--json')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ id: body.id, status: 'completed', rowCount: 2, file: output })
  expect((await readFile(output)).subarray(0, 4).toString()).toBe('PAR1')
})

it('exports a saved view with its columns, also in a given period', async () => {
  const { key, ids } = await makeCalls(6)
  const view = {
    name: 'Odd calls',
    filter: { conversationIds: ids.filter((_, at) => at % 2 === 1), period: { last: '9999d' } },
    columns: [{ key: 'externalId' }],
    sort: { by: 'startedAt', direction: 'asc' },
  }
  expect((await server.call('POST', '/v1/saved-views', { key, body: view })).status).toBe(201)
  const exportView = (...args: string[]) =>
    runInOne(['export', '--view', 'odd calls', ...args], { EARSHOT_URL: url, EARSHOT_KEY: key })
  const { code, stdout } = await exportView('--output', '-', '--format', 'jsonl', '--quiet')
  const lines = stdout.trim().split('\n')
  expect([code, lines.map((line) => JSON.parse(line).external_id)]).toEqual([0, ['call 1', 'call 3', 'call 5']])

  const output = join(folder, 'late.jsonl')
  const late = await exportView(
    '--since',
    '2026-11-02T00:02:00Z',
    '--until',
    '2026-12-01',
    '--output',
    output,
    '--json',
  )
  expect(late.code).toBe(0)
  const { id } = JSON.parse(late.stdout)
  expect((await readFile(output, 'utf8')).trim().split('\n')).toHaveLength(2)
  const again = await exportView('--id', id, '--output', join(folder, 'again.jsonl'), '--json')
  expect(JSON.parse(again.stdout)).toMatchObject({ id, rowCount: 2 })
})

it('exports a saved view without columns of its own as the list shows it', async () => {
  const { key } = await makeCalls(1)
  await server.call('POST', '/v1/saved-views', { key, body: { name: 'All', filter: {} } })
  const { code, stdout } = await runInOne(['export', '--view', 'All', '--output', '-'], {
    EARSHOT_URL: url,
    EARSHOT_KEY: key,
  })
  expect([code, stdout.split('\r\n')[0]]).toEqual([0, expect.stringContaining('channel,started_at,agent_id')])
})

it('rejects options that a saved view cannot have', async () => {
  const { key } = await makeCalls(1)
  for (const [args, message] of [
    [['--view', 'All', '--monitor', 'x', '--reasoning'], '--view cannot be combined with --monitor, --reasoning.'],
    [['--format', 'jsonl'], 'Only the export of a --view can be jsonl.'],
    [['--view', 'Nothing'], 'No saved view is named "Nothing".'],
  ] as const) {
    const { code, stderr } = await runBeside(key, ...args)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
})

it('reports failures by exit code', async () => {
  const { key, config } = await makeCalls(1)
  expect((await runInOne(['export', '--help'], {})).stdout).toContain('--not-affected')
  expect((await runInOne(['export'], {})).code).toBe(2)
  for (const args of [
    ['--nonsense'],
    ['--since', 'yesterday'],
    ['--format', 'pdf'],
    ['--metadata', 'plan'],
    ['--json', '--output', '-'],
  ]) {
    expect((await runBeside(key, ...args)).code, args.join(' ')).toBe(2)
  }
  expect((await runBeside(key, '--until', '2026-10-01')).code).toBe(2)
  expect((await runBeside('ear_nobody')).code).toBe(1)
  const { body } = await exportsOf(server).ask(key, { ...config, since: '2026-11-02T00:00:00Z' })
  await server.call('DELETE', `/v1/monitor-exports/${body.id}`, { key })
  const failed = await runBeside(key, '--id', body.id)
  expect(failed.code).toBe(3)
  expect(failed.stderr).toMatch(/expired|cancelled/)
})

it.each([
  ['2026-11-01', 'UTC', '2026-11-01T00:00:00.000Z'],
  ['2026-11-01', 'Europe/Berlin', '2026-10-31T23:00:00.000Z'],
  ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
  ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
  ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
  ['2026-07-01', 'Asia/Kolkata', '2026-06-30T18:30:00.000Z'],
  ['2026-07-01', 'America/Los_Angeles', '2026-07-01T07:00:00.000Z'],
  ['2026-07-01T10:00:00+02:00', 'UTC', '2026-07-01T08:00:00.000Z'],
  ['36h', 'UTC', '2026-11-19T12:00:00.000Z'],
  ['30d', 'UTC', '2026-10-22T00:00:00.000Z'],
])('%s in %s is %s', (given, zone, instant) => {
  expect(readWhen('since', given, zone, new Date('2026-11-21T00:00:00Z'))).toBe(instant)
})
