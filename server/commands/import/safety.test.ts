import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, expect, it, onTestFinished } from 'vitest'
import { runInOne } from '../../../test/earshot.ts'
import { inheritedEnvironment } from '../../../test/inherited.ts'
import { makeOrganization } from '../../../test/make.ts'
import { testServer } from '../../../test/server.ts'

/** Tests user mistakes: no file may be damaged, and no conversation may be skipped. */

const server = await testServer()
const command = join(import.meta.dirname, '../../../bin/earshot')

let key: string
let folder: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
  const made = await mkdtemp(join(tmpdir(), 'earshot-safety-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  folder = made
})

const switches = () => ({ EARSHOT_URL: server.origin, EARSHOT_KEY: key })
const run = (...args: string[]) => runInOne(['conversations', 'import', ...args], switches())

const lineOf = (number: number, fields: object = {}) =>
  `${JSON.stringify({
    agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
    externalId: `call-${number}`,
    channel: 'call',
    startedAt: '2026-10-01T00:00:00Z',
    ...fields,
  })}\n`

const write = async (name: string, content: string | Buffer) => {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

const externalIds = async () =>
  (await server.call('GET', '/v1/conversations?limit=50', { key })).body.data
    .map(({ externalId }: { externalId: string }) => externalId)
    .sort()

it('overwrites nothing that it has not written itself', async () => {
  const file = await write('calls.ndjson', lineOf(1))
  const notes = await write('notes.txt', 'mine')
  for (const args of [
    [file, '--rejects', file],
    [file, '--rejects', join(folder, '../', folder.split('/').at(-1) ?? '', 'calls.ndjson')],
    [folder, '--rejects', file],
    [file, '--resume', file],
    [file, '--resume', notes],
    [file, '--resume', join(folder, 'same'), '--rejects', join(folder, 'same')],
  ]) {
    const { code, stderr } = await run(...args)
    expect([code, stderr], args.join(' ')).toEqual([2, expect.stringMatching(/--(rejects|resume)/)])
  }
  expect(await readFile(file, 'utf8')).toBe(lineOf(1))
  expect(await readFile(notes, 'utf8')).toBe('mine')
  expect(await readdir(folder)).toEqual(['calls.ndjson', 'notes.txt'])
  expect(await externalIds()).toEqual([])
})

it('imports a file that was changed in between from the beginning, and counts it once', async () => {
  const head = Array.from({ length: 100 }, (_each, at) => lineOf(at % 40, at === 3 ? { channel: 'pigeon' } : {})).join(
    '',
  )
  const file = await write('calls.ndjson', head)
  await write('cut.ndjson.gz', gzipSync(lineOf(50)).subarray(0, 30))
  const args = [file, join(folder, 'cut.ndjson.gz'), '--rejects', join(folder, 'rejects'), '--json']
  expect((await run(...args)).code).toBe(1)
  const state = `${file}.import-state`
  expect(JSON.parse(await readFile(state, 'utf8')).counts).toMatchObject({ rejected: 1 })
  // The failure occurs after the import has identified the file, but before it has read up to the stored position.
  await writeFile(
    file,
    head.replace(/(?:.*\n){60}/, (lines) => lines + lineOf(41)),
  )
  await write('cut.ndjson.gz', gzipSync(lineOf(50)))
  const { code, stdout, stderr } = await run(...args)
  expect([code, stderr]).toEqual([3, expect.stringContaining('changed')])
  const counts: Record<string, number> = JSON.parse(stdout)
  expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(102)
  expect((await readFile(join(folder, 'rejects'), 'utf8')).trim().split('\n').length).toBe(counts.rejected)
  expect(await externalIds()).toEqual(expect.arrayContaining(['call-41', 'call-50']))
})

it('names a file that it cannot read to the end', async () => {
  const file = await write('cut.ndjson.gz', gzipSync(lineOf(1)).subarray(0, 40))
  expect(await run(file)).toMatchObject({ code: 1, stderr: expect.stringContaining('cut.ndjson.gz') })
  const pipe = spawn('bash', ['-c', '"$0" conversations import <(echo "{}")', command], {
    env: { ...inheritedEnvironment(), ...switches() },
  })
  const [told] = await Promise.all([pipe.stderr.toArray(), once(pipe, 'close')])
  expect([pipe.exitCode, told.join('')]).toEqual([2, expect.stringContaining('standard input')])
})

it('accepts a byte order mark at the start, and any line endings', async () => {
  const lines = (lineOf(1) + lineOf(2)).replaceAll('\n', '\r\n')
  const file = await write('bom.ndjson', `\uFEFF${lines}`)
  expect((await run(file)).stdout).toContain('2 created')
  const array = await write('bom.json', `\uFEFF[${lineOf(1)},${lineOf(3)}]`)
  expect((await run(array)).stdout).toContain('1 created, 0 updated, 1 unchanged')
})

it('stops with Ctrl-C while it waits for standard input, and keeps what arrived', async () => {
  const child = spawn(command, ['conversations', 'import', '-'], { env: { ...inheritedEnvironment(), ...switches() } })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ended = once(child, 'close')
  const told = child.stdout.toArray()
  child.stdin.write(Array.from({ length: 350 }, (_each, at) => lineOf(at)).join(''))
  const stored = async () =>
    (await server.call('POST', '/v1/conversations/count', { key, body: { filter: {} } })).body.count
  await expect.poll(stored, { timeout: 10_000 }).toBeGreaterThan(0)
  child.kill('SIGINT')
  await ended
  const [, created] = /^(\d+) created/.exec((await told).join('')) ?? []
  expect([child.exitCode, Number(created)]).toEqual([130, await stored()])
})
