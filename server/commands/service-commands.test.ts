import { execFile } from 'node:child_process'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { runEarshot, runInOne } from '../../test/earshot.ts'
import { inheritedEnvironment } from '../../test/inherited.ts'
import { makeConversation, makeKey, makeModelProvider, makeMonitor, makeOrganization } from '../../test/make.ts'
import { serve } from '../../test/outside.ts'
import { testServer } from '../../test/server.ts'
import { jobList } from '../worker.ts'

/** Runs the commands that call a service as a user would. */

const server = await testServer({ EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.0/8' })
await server.deps.jobs.start(jobList, server.deps, { workerId: 'test', assumeSoleWorker: true })

const command = join(import.meta.dirname, '../../bin/earshot')

let key: string
beforeEach(async () => {
  key = (await makeOrganization(server)).key
})

const switches = () => ({ EARSHOT_URL: server.origin, EARSHOT_KEY: key })
const runAlone = (...args: string[]) => runEarshot(args, switches())
const run = (...args: string[]) => runInOne(args, switches())
const ask = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(...args, '--json')
  expect([code, stderr], args.join(' ')).toEqual([0, ''])
  return JSON.parse(stdout)
}

describe('monitors', () => {
  const rule = { kind: 'rule', definition: { expression: "turns.mentions('refund')" } }
  const transcript = [{ role: 'customer', text: 'I want a refund.' }]

  it('are listed, and tested by name without storing anything', async () => {
    const monitor = await makeMonitor(server, key, { name: 'Wants a refund', ...rule })
    const { id } = await makeConversation(server, key, { transcript })
    await makeConversation(server, key)
    expect(await ask('monitors', 'list')).toEqual([expect.objectContaining({ id: monitor.id })])
    expect((await run('monitors', 'list')).stdout).toMatch(/^\S{36} {2}rule {2}on {2}v1 {2}Wants a refund\n$/)
    const { code, stdout } = await runAlone('monitors', 'test', 'wants a REFUND', '--conversation', id)
    expect([code, stdout.endsWith('1 affected\n')]).toEqual([0, true])
    expect((await ask('monitors', 'test', monitor.id, '--limit', '1')).data.length).toBe(1)
    expect((await run('monitors', 'test', 'Wants more')).stderr).toContain('Available:\n  Wants a refund')
    expect((await run('monitors', 'test', monitor.id, '--limit', 'many')).code).toBe(2)
  })

  it('backfill stored conversations, followed until the end', async () => {
    const { id } = await makeConversation(server, key, { transcript })
    const monitor = await makeMonitor(server, key, { name: 'Late', ...rule })
    const window = ['--since', '2026-11-01', '--until', '2026-12-01', '--timezone', 'UTC']
    const estimate = await run('monitors', 'backfill', 'Late', ...window, '--dry-run')
    expect([estimate.code, estimate.stdout]).toEqual([0, '1 conversations.\n'])
    const { code, stdout } = await runAlone('monitors', 'backfill', 'Late', ...window, '--quiet')
    expect([code, stdout]).toEqual([0, 'completed: 1 of 1 scored, 0 unscored, 0 failed\n'])
    const { body } = await server.call('GET', `/v1/conversations/${id}/results`, { key })
    expect(body.data).toEqual([expect.objectContaining({ monitorId: monitor.id, result: 'affected' })])
  })
})

describe('monitors', () => {
  const window = ['--since', '2026-11-01', '--until', '2026-12-01', '--timezone', 'UTC']
  const backfill = (...args: string[]) => run('monitors', 'backfill', ...args, ...window)

  it('backfill in batches, for half the price', async () => {
    const { url } = await serve((_, response) => response.writeHead(404).end())
    const settings = { baseUrl: `${url}/v1`, model: 'small', apiKey: 'secret' }
    const prices = { small: { input: 1_000, output: 1_000 } }
    await makeModelProvider(server, key, { kind: 'openai-compatible', settings, prices })
    await makeConversation(server, key, { transcript: [{ role: 'agent', text: 'Hello' }] })
    const definition = { criteria: 'The agent was impolite.', output: { type: 'boolean' } }
    await makeMonitor(server, key, { name: 'Impolite', kind: 'judge', definition, enabled: false })
    await makeMonitor(server, key, { name: 'Late', kind: 'rule', definition: { expression: 'true' } })

    const cost = ({ stdout }: { stdout: string }) => Number(/about ([\d.]+) for the model/.exec(stdout)?.[1])
    const inBatches = await backfill('Impolite', '--batch', '--dry-run')
    expect(inBatches.stdout).toMatch(/^1 conversations, about [\d.]+ for the model in batches\.\n$/)
    expect(cost(inBatches) / cost(await backfill('Impolite', '--dry-run'))).toBeCloseTo(0.5)

    const refused = await backfill('Impolite', '--batch', '--quiet')
    expect([refused.code, refused.stdout]).toEqual([
      3,
      expect.stringMatching(/^failed: 0 of 1 scored, .*The model provider does not offer batches/),
    ])
    const ofRule = await backfill('Late', '--batch')
    expect([ofRule.code, ofRule.stderr]).toEqual([2, expect.stringContaining('can only be batch for an LLM judge')])
  })
})

it('findings are listed, shown, and triaged, and cannot control the terminal', async () => {
  const title = 'Waits \u001b[31mtoo\nlong'
  const { body } = await server.call('POST', '/v1/findings', { key, body: { title } })
  const listed = await runAlone('findings', 'list')
  expect(listed.stdout.split('\n')[1]).toMatch(
    new RegExp(`^${body.id}  open +none +0 +\\S+ +Waits {2}?\\[31mtoo long$`),
  )
  const moved = await ask('findings', 'triage', body.id, '--status', 'resolved', '--reason', 'Done')
  expect(moved).toMatchObject({ status: 'resolved' })
  expect(await ask('findings', 'list', '--status', 'open')).toEqual([])
  expect(await ask('findings', 'show', body.id)).toMatchObject({ id: body.id, conversations: [] })
  expect((await run('findings', 'triage', body.id)).code).toBe(2)
  expect((await run('findings', 'triage', body.id, '--status', 'lost')).stderr).toContain('open or acknowledged or')
  expect((await run('findings', 'show', crypto.randomUUID())).code).toBe(1)
  expect((await run('findings', 'show', 'no-id')).code).toBe(2)
})

it('no name and no response can control the terminal', async () => {
  const name = 'Red \u001b[31m\u202e'
  await makeMonitor(server, key, { name, kind: 'external', definition: {} })
  for (const args of [
    ['keys', 'create', name],
    ['keys', 'list'],
    ['monitors', 'list'],
    ['monitors', 'test', 'nobody'],
    ['monitors', 'test', name],
    ['export', '--monitor', '\u001b[31m'],
  ]) {
    const { stdout, stderr } = await run(...args)
    for (const sign of ['\u001b', '\u202e']) expect(stdout + stderr, args.join(' ')).not.toContain(sign)
  }
  const page: RequestListener = (_request, response) =>
    response.writeHead(500).end(JSON.stringify({ error: 'x', message: '\u001b]0;title\u0007' }))
  const { url } = await serve(page)
  const { stdout, stderr } = await runInOne(['doctor', '--url', url], { EARSHOT_KEY: key })
  expect(stdout + stderr).toContain(']0;title')
  expect(stdout + stderr).not.toContain('\u001b')
})

it('the reader of the output can stop early', async () => {
  for (const args of ['completion bash', 'monitors list', 'help', 'keys --help']) {
    const asked = `set -o pipefail; "$0" ${args} | true`
    const env = { ...inheritedEnvironment(), ...switches() }
    const { stderr } = await promisify(execFile)('bash', ['-c', asked, command], { env })
    expect(stderr).toBe('')
  }
})

it('invalid usage is reported without the key', async () => {
  const wrong = [
    ['--key', `${key}\n`],
    ['--url', 'http://me:hidden@127.0.0.1'],
    ['--url', 'http://127.0.0.1/?hidden'],
  ]
  for (const args of wrong) {
    const { code, stderr } = await run('monitors', 'list', ...args)
    expect(code).toBe(2)
    expect(stderr).not.toMatch(new RegExp(`${key}|hidden`))
  }
})

it('help is available where people look for it', async () => {
  const { stdout } = await run('monitors', '--help')
  for (const args of [
    ['help', 'monitors'],
    ['monitors', '-h'],
    ['monitors', 'list', '-h'],
  ]) {
    expect(await run(...args)).toEqual({ code: 0, stdout, stderr: '' })
  }
  expect((await run('-h')).stdout).toBe((await run('help')).stdout)
  expect((await run('help', 'nothing')).code).toBe(2)
})

it('keys of an organization are created and listed', async () => {
  const made = await runAlone('keys', 'create', 'Nightly import', '--role', 'member')
  const me = await server.call('GET', '/v1/me', { key: made.stdout.trim() })
  expect(me.body.role).toBe('member')
  expect((await ask('keys', 'list')).map(({ name }: { name: string }) => name)).toContain('Nightly import')
})

it('the doctor checks a remote service and the key', async () => {
  const healthy = await runAlone('doctor', '--url', server.origin)
  expect(healthy).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok {4}key +owner of Organization/m) })
  const unknown = await run('doctor', '--url', server.origin, '--key', 'ear_nobody', '--json')
  expect(unknown.code).toBe(1)
  expect(JSON.parse(unknown.stdout)).toMatchObject({ ok: false, checks: [{ ok: true }, { ok: true }, { name: 'key' }] })
  const away = await run('doctor', '--url', 'http://127.0.0.1:1')
  expect(away).toMatchObject({ code: 1, stdout: expect.stringMatching(/^FAIL {2}answer +.*cannot be reached/m) })
})

it('a rejected request exits with 1', async () => {
  const viewer = await makeKey(server, key, 'viewer')
  const { code, stderr } = await runEarshot(['keys', 'list', '--url', server.origin, '--key', viewer.key], {})
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^earshot: .+\n$/)])
  expect((await runInOne(['monitors', 'list', '--url', server.origin], {})).code).toBe(2)
  expect((await runInOne(['monitors', 'list', '--url', 'nonsense', '--key', 'x'], {})).code).toBe(2)
})

/** Returns the words that the shell would suggest after these words. */
const offered = async (script: string, ...words: string[]): Promise<string[]> => {
  const line = words.map((word) => `'${word}'`).join(' ')
  const asking = `COMP_WORDS=(earshot ${line}); COMP_CWORD=${words.length}; _earshot 2>/dev/null; echo "\${COMPREPLY[@]}"`
  const { stdout } = await promisify(execFile)('bash', ['-c', `${script}\n${asking}`], { cwd: tmpdir() })
  return stdout.trim().split(' ')
}

it('a shell completes commands, subcommands, options, and choices', async () => {
  const { stdout: script } = await run('completion', 'bash')
  expect(await offered(script, 'ex')).toEqual(['export', 'experiments'])
  expect(await offered(script, 'monitors', '')).toEqual(['list', 'templates', 'install', 'test', 'backfill'])
  expect(await offered(script, 'conversations', 'import', 'a.ndjson', '--re')).toEqual(['--resume', '--rejects'])
  expect(await offered(script, 'export', '--format', '')).toEqual(['csv', 'xlsx', 'parquet', 'jsonl'])
  expect(await offered(script, 'findings', 'triage', 'an-id', '--status', 'ack')).toEqual(['acknowledged'])
  for (const shell of ['zsh', 'fish']) expect((await run('completion', shell)).stdout).toContain('backfill')
  expect((await runAlone('completion', 'powershell')).code).toBe(2)
})
