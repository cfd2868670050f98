import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { runInOne } from '../../test/earshot.ts'
import { inheritedEnvironment } from '../../test/inherited.ts'
import { makeConversations, makeKey, makeOrganization } from '../../test/make.ts'
import { sample } from '../../test/samples/ingest/sample.ts'
import { testServer } from '../../test/server.ts'
import { countWaiting } from '../../test/support/count-waiting.ts'
import type { providers } from '../transcripts/provider-calls/read-call.ts'

const server = await testServer()
const samples = join(import.meta.dirname, '../../test/samples/ingest')
const folder = await mkdtemp(join(tmpdir(), 'earshot-import-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

let key: string
let org: string
beforeEach(async () => {
  const organization = await makeOrganization(server)
  key = organization.key
  org = organization.id
})

const command = join(import.meta.dirname, '../../bin/earshot')
const switches = () => ({ EARSHOT_URL: server.origin, EARSHOT_KEY: key })
const run = (...args: string[]) => runInOne(['conversations', 'import', ...args], switches())

const callOf = (number: number, fields: object = {}) => ({
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  externalId: `call-${number}`,
  channel: 'call',
  startedAt: new Date(Date.UTC(2026, 9, 1) + number * 60_000).toISOString(),
  transcript: [{ role: 'customer', text: `I want a refund of ${number}.` }],
  ...fields,
})

const write = async (name: string, content: string | Buffer) => {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

const linesOf = (calls: object[]) => calls.map((call) => `${JSON.stringify(call)}\n`).join('')
const countAll = async () =>
  (await server.call('POST', '/v1/conversations/count', { key, body: { filter: {} } })).body.count
const exists = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

it('imports lines, compressed files, arrays, folders, and standard input, each conversation once', async () => {
  const calls = [callOf(1), callOf(2, { externalId: null }), callOf(3)]
  const lines = await write('calls.ndjson', linesOf(calls))
  const first = await run(lines)
  expect(first).toMatchObject({ code: 0, stdout: '3 created, 0 updated, 0 unchanged, 0 ignored, 0 rejected\n' })
  expect(await exists(`${lines}.import-state`)).toBe(false)
  const packed = await write('calls.json.gz', gzipSync(JSON.stringify(calls, null, 2)))
  expect(JSON.parse((await run(packed, '--json')).stdout)).toMatchObject({ created: 0, unchanged: 3 })
  const child = spawn(command, ['conversations', 'import', '-', '--json'], {
    env: { ...inheritedEnvironment(), ...switches() },
  })
  child.stdin.end(linesOf([...calls, callOf(4)]))
  const [told, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'close')])
  expect(code).toBe(0)
  expect(JSON.parse(told.join(''))).toMatchObject({ created: 1, unchanged: 3 })
  expect(await countAll()).toBe(4)
})

it('writes rejected conversations with their position and reason', async () => {
  const text = `${linesOf([callOf(1), callOf(2, { channel: 'pigeon' })])}{"broken":\n[1]\n${linesOf([callOf(5)])}`
  const path = await write('faulty.ndjson', text)
  const rejects = join(folder, 'rejects.ndjson')
  const { code, stdout } = await run(path, '--rejects', rejects)
  expect([code, stdout]).toEqual([3, '2 created, 0 updated, 0 unchanged, 0 ignored, 3 rejected\n'])
  const told = (await readFile(rejects, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(told).toEqual([
    expect.objectContaining({
      file: path,
      number: 2,
      externalId: 'call-2',
      message: expect.stringContaining('channel'),
    }),
    expect.objectContaining({ number: 3, externalId: null, message: 'Not valid JSON.' }),
    expect.objectContaining({ number: 4, message: 'Not a JSON object.' }),
  ])
})

it('says why the first conversations were rejected, without a file for all of them', async () => {
  const wrong = Array.from({ length: 7 }, (_each, at) => callOf(at, { channel: 'pigeon' }))
  const path = await write('wrong.ndjson', `${linesOf(wrong.slice(0, 1))}[1]\n${linesOf(wrong.slice(1))}`)
  const { code, stderr } = await run(path, '--quiet')
  const lines = stderr.trim().split('\n')
  expect(code).toBe(3)
  expect(lines).toHaveLength(6)
  expect(lines[0]).toMatch(/, value 1 \(call-0\): .*channel/)
  expect(lines[1]).toBe(`earshot: ${path}, value 2: Not a JSON object.`)
  expect(lines[5]).toBe(
    'earshot: 3 more were rejected. Use --rejects FILE to save what was rejected, with the reasons.',
  )
})

it("reads calls in the format of providers' webhooks", async () => {
  const files: Record<(typeof providers)[number], string> = {
    vapi: 'vapi_end_of_call_report',
    retell: 'retell_call_ended',
    livekit: 'livekit_session_report',
    elevenlabs: 'elevenlabs_post_call_transcription',
    twilio: 'twilio_ci_transcript_bundle',
  }
  for (const [from, file] of Object.entries({
    ...files,
    roark: 'roark_call_create',
    coval: 'coval_conversation_submit',
  })) {
    const { code, stderr } = await run(join(samples, `${file}.json`), '--from', from, '--resume', join(folder, 'state'))
    expect(code, `${from}: ${stderr}`).toBe(0)
  }
  const { body } = await server.call('GET', '/v1/conversations?limit=50', { key })
  expect(body.data.length).toBe(7)
  for (const { id } of body.data) {
    const transcript = await server.call('GET', `/v1/conversations/${id}/transcript`, { key })
    expect(transcript.body.turns.length, transcript.text).toBeGreaterThan(1)
  }
  const retell = body.data.find(({ externalId }: { externalId: string }) => externalId.startsWith('call_7c1d'))
  const version = await server.call('GET', `/v1/agents/${retell.agentId}/versions/${retell.agentVersionId}`, { key })
  expect(version.body).toMatchObject({ label: '12', systemPrompt: '' })

  // The same call must become the same conversation with the same version as when the provider's webhook sends it.
  const integration = { provider: 'vapi', name: 'Vapi', secret: 'a-vapi-secret' }
  const { webhookPath } = (await server.call('POST', '/v1/integrations', { key, body: integration })).body
  const headers = { 'x-vapi-secret': 'a-vapi-secret' }
  await server.call('POST', webhookPath, { body: sample(`${files.vapi}.json`), headers })
  expect(await countAll()).toBe(7)

  const started = await write('started.json', JSON.stringify({ event: 'call_started', call: {} }))
  expect(await run(started, '--from', 'retell', '--json')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('"ignored":1'),
  })
})

it('reports an unsuitable file value by value, and paths that cannot be written', async () => {
  const file = await write('other.ndjson', linesOf(Array.from({ length: 600 }, (_each, at) => callOf(at))))
  const rejects = join(folder, 'other.rejects')
  const { code, stdout } = await run(file, '--from', 'vapi', '--rejects', rejects)
  expect([code, stdout]).toEqual([3, '0 created, 0 updated, 0 unchanged, 0 ignored, 600 rejected\n'])
  expect((await readFile(rejects, 'utf8')).trim().split('\n').length).toBe(600)
  const nowhere = await run(file, '--resume', join(folder, 'missing/state'))
  expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('--resume')])
  expect(await countAll()).toBe(0)
})

/** Makes requests for an already stored conversation wait until they are released. */
const hold = async (externalId: string) => {
  const trx = await server.deps.db.startTransaction().execute()
  await sql`SELECT id FROM conversations WHERE organization_id = ${org} AND external_id = ${externalId} FOR UPDATE`.execute(
    trx,
  )
  return { release: () => trx.rollback().execute() }
}

it('resumes after kill -9 and Ctrl-C, and ends with each conversation and each reject once', async () => {
  const count = 4_000
  const calls = Array.from({ length: count }, (_each, at) => callOf(at, at % 500 === 7 ? { channel: 'pigeon' } : {}))
  const file = await write('many.ndjson', linesOf(calls))
  const heldAt = [1_000, 2_000, 3_000] as const
  await makeConversations(
    server,
    key,
    heldAt.map((at) => callOf(at)),
  )
  const [early, middle, late] = await Promise.all(heldAt.map((at) => hold(`call-${at}`)))
  const statePath = `${file}.import-state`
  const acknowledged = async () => {
    const state = JSON.parse(await readFile(statePath, 'utf8'))
    return Object.values<{ values: number }>(state.files)[0]?.values ?? 0
  }
  const start = () => {
    const args = ['conversations', 'import', file, '--rejects', `${file}.rejects`]
    const child = spawn(command, args, { env: { ...inheritedEnvironment(), ...switches() }, stdio: 'ignore' })
    return { child, ended: once(child, 'close') }
  }
  const held = (sends: 0 | 1) => expect.poll(() => countWaiting(server.deps.db, 'select'), { interval: 5 }).toBe(sends)

  const killed = start()
  await held(1)
  // Progress is written at most twice a second. After half a second, the next response writes it.
  const age = async () => Date.now() - (await stat(statePath)).mtimeMs
  await expect.poll(age).toBeGreaterThan(500)
  await early?.release()
  await expect.poll(acknowledged, { interval: 5 }).toBeGreaterThan(0)
  await held(1)
  killed.child.kill('SIGKILL')
  await killed.ended
  const before = await acknowledged()
  expect(before).toBeLessThanOrEqual(2_000)
  await middle?.release()
  // The killed process's requests have been waiting until now.
  await held(0)

  const stopped = start()
  await held(1)
  stopped.child.kill('SIGINT')
  await late?.release()
  await stopped.ended
  expect(stopped.child.exitCode).toBe(130)
  expect(await acknowledged()).toBeGreaterThan(before)
  expect(await acknowledged()).toBeLessThan(count)

  const { code, stdout } = await run(file, '--rejects', `${file}.rejects`, '--json')
  expect(code).toBe(3)
  const { created, unchanged, rejected } = JSON.parse(stdout)
  expect(rejected).toBe(count / 500)
  expect(created + unchanged).toBe(count - rejected)
  expect(await countAll()).toBe(count - rejected)
  const rejects = (await readFile(`${file}.rejects`, 'utf8')).trim().split('\n')
  expect(rejects.map((line) => JSON.parse(line).number)).toEqual(Array.from({ length: 8 }, (_each, at) => at * 500 + 8))
  expect(await exists(statePath)).toBe(false)
})

it('starts over for another organization, and for another file with the same name', async () => {
  const file = await write('shared.ndjson', linesOf([callOf(1), callOf(2)]))
  const state = { of: 'another organization', files: {}, counts: {}, rejectsBytes: 0 }
  await writeFile(`${file}.import-state`, JSON.stringify(state))
  expect(JSON.parse((await run(file, '--json')).stdout)).toMatchObject({ created: 2 })
})

it('reports failures by exit code', async () => {
  const file = await write('one.ndjson', linesOf([callOf(1)]))
  expect((await run()).code).toBe(2)
  expect((await run(join(folder, 'missing'))).code).toBe(2)
  expect((await run(file, '--from', 'carrier-pigeon')).code).toBe(2)
  expect((await run(file, file)).code).toBe(2)
  const viewer = await makeKey(server, key, 'viewer')
  const refused = await runInOne(['conversations', 'import', file], { ...switches(), EARSHOT_KEY: viewer.key })
  expect(refused.code).toBe(1)
  expect(
    await runInOne(['conversations', 'import', file], { EARSHOT_URL: server.origin, EARSHOT_KEY: 'ear_x' }),
  ).toMatchObject({
    code: 1,
  })
  expect(await countAll()).toBe(0)
})
