import { parse } from 'csv-parse/sync'
import { expect, it } from 'vitest'
import { jobList } from '../../server/worker.ts'
import { testServer } from '../../test/server.ts'
import { exportsOf } from '../../test/support/exports/exports.ts'
import { Earshot, EarshotError } from '../src/earshot.ts'
import { cutAfter, openWire, pass, refuse, spoil } from './wire.ts'

const wire = await openWire()
const server = await testServer({ EARSHOT_BASE_URL: wire.url })
wire.target = server.origin
await server.deps.jobs.start(jobList, server.deps, { workerId: 'test', assumeSoleWorker: true })
const { makeCalls } = exportsOf(server)

const { key, config } = await makeCalls(60)
const earshot = new Earshot({ url: wire.url, key })
const rowsOf = (bytes: Uint8Array) => parse(Buffer.from(bytes), { columns: true }).length

it('is created and downloaded, without sending the key to the storage', async () => {
  const told: string[] = []
  const made = await earshot.exports.createAndDownload(config, { onProgress: ({ doing }) => told.push(doing) })
  expect(made.fileName).toMatch(/^earshot-calls-from-2026-11-01-.*\.csv$/)
  expect(made.export).toMatchObject({ status: 'completed', rowCount: 60 })
  expect(rowsOf(await made.bytes())).toBe(60)
  expect(told.at(-1)).toBe('downloading')
  const ofFile = wire.seen.filter(({ url }) => url.startsWith('/files/'))
  expect(ofFile.map(({ authorization }) => authorization)).toEqual([undefined])
})

it('has the conversations of a list', async () => {
  const list = { filter: {}, columns: [{ key: 'externalId' }], format: 'jsonl' as const }
  const made = await earshot.conversationExports.createAndDownload(list)
  expect(made.fileName).toMatch(/^earshot-conversations-.*\.jsonl$/)
  const lines = Buffer.from(await made.bytes())
    .toString()
    .trim()
    .split('\n')
  expect(lines.map((line) => JSON.parse(line).external_id)).toContain('call 59')
  expect(lines).toHaveLength(60)
})

it('resumes after a broken connection, and is returned again for its operation ID', async () => {
  const operationId = crypto.randomUUID()
  const first = await earshot.exports.createAndDownload(config, { operationId })
  await first.stream.cancel()
  wire.seen.length = 0
  // The requests are for the existing export, the link, and then the file.
  wire.faults.push(pass, pass, cutAfter(3_000), pass, cutAfter(2_000), refuse(503), pass)
  const again = await earshot.exports.createAndDownload(config, { operationId })
  expect(again.export.id).toBe(first.export.id)
  expect(rowsOf(await again.bytes())).toBe(60)
  const ranges = wire.seen.filter(({ url }) => url.startsWith('/files/')).map(({ range }) => range)
  expect(ranges).toEqual([undefined, 'bytes=3000-', 'bytes=5000-'])
})

it('fails if the file changed', async () => {
  wire.faults.length = 0
  const operationId = crypto.randomUUID()
  await (await earshot.exports.createAndDownload(config, { operationId })).bytes()
  wire.faults.push(pass, pass, spoil)
  const spoiled = await earshot.exports.createAndDownload(config, { operationId })
  await expect(spoiled.bytes()).rejects.toMatchObject({ code: 'damaged' })
})

it('fails with the reason, and ends on abort', async () => {
  wire.faults.length = 0
  const { id } = await earshot.exports.create({
    operationId: crypto.randomUUID(),
    config: { ...config, format: 'xlsx' },
  })
  await expect.poll(async () => (await earshot.exports.get(id)).status).toBe('completed')
  const { operationId } = await earshot.exports.get(id)
  await earshot.exports.delete(id)
  const options = { operationId }
  const error = await earshot.exports.createAndDownload({ ...config, format: 'xlsx' }, options).catch((fault) => fault)
  expect(error).toBeInstanceOf(EarshotError)
  await expect(earshot.exports.createAndDownload(config, { signal: AbortSignal.abort() })).rejects.toThrow('aborted')
})
