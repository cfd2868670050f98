import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeOrganization } from '../../test/make.ts'
import { testServer } from '../../test/server.ts'

/** Tests the packed file as users install it. */

const run = promisify(execFile)
const root = join(import.meta.dirname, '../..')
const server = await testServer()
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'earshot-stranger-'))
  const { stdout } = await run(process.execPath, [join(root, 'tools/build-client.ts'), folder])
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', stdout.trim()], { cwd: folder })
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

const program = `
import { Earshot, EarshotError, verifyWebhook, type Schemas } from '@earshot/client'

const [url = '', key = ''] = process.argv.slice(2)
const earshot = new Earshot({ url, key })
const conversation: Schemas['Conversation'] = await earshot.conversations.create({
  externalId: 'call-1',
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  startedAt: '2026-11-20T09:00:00Z',
  transcript: [{ role: 'customer', text: 'I want a refund.' }],
})
const { turns } = await earshot.conversations.getTranscript(conversation.id)
let listed = 0
for await (const { channel } of earshot.conversations.list({ channel: 'call' })) if (channel === 'call') listed++
const refused = await earshot.monitors.get('no-id').catch((error: unknown) => error)
const status = refused instanceof EarshotError ? refused.status : 0
const forged = await verifyWebhook({ body: Buffer.from(''), headers: {}, secret: 'whsec_eA==' }).catch((error: Error) => error.name)
// @ts-expect-error: there is no such channel.
const wrong: Schemas['Conversation']['channel'] = 'pigeon'
console.log(JSON.stringify({ text: turns[0]?.text, listed, status, forged, wrong }))
`

it('contains only the library, without dependencies', async () => {
  const installed = join(folder, 'node_modules/@earshot/client')
  expect((await readdir(installed)).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  expect(JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))).not.toHaveProperty('dependencies')
  expect(await readdir(join(folder, 'node_modules'))).toEqual(['.package-lock.json', '@earshot'])
})

it('type-checks a program that runs on this and on the installed version of Node', async () => {
  await writeFile(join(folder, 'program.ts'), program)
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: { target: 'es2022', module: 'nodenext', strict: true, types: ['node'] },
      files: ['program.ts'],
    }),
  )
  const types = ['--typeRoots', join(root, 'node_modules/@types')]
  await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder, ...types])
  const nodes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync)
  for (const node of nodes) {
    const { key } = await makeOrganization(server)
    const { stdout } = await run(node, [join(folder, 'program.js'), server.origin, key])
    const wanted = { text: 'I want a refund.', listed: 1, status: 400, forged: 'WebhookVerificationError' }
    expect(JSON.parse(stdout), node).toEqual({ ...wanted, wrong: 'pigeon' })
  }
})
