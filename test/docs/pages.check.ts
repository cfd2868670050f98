import { spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { signal } from '../../server/platform/db/process-control.ts'
import { takeFreePort } from '../earshot.ts'
import { serviceKey } from '../server.ts'
import { blocksOf, byHand, scriptOf } from './blocks.ts'

const root = join(import.meta.dirname, '../..')
const reader = inject('reader')

/** Creates a folder like a reader's: it contains only the client, the commands, and the page's files. */
const makeFolder = async (files: Map<string, string>) => {
  const folder = await mkdtemp(join(reader.folder, 'page-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await mkdir(join(folder, 'bin'))
  await symlink(join(root, 'bin/earshot'), join(folder, 'bin/earshot'))
  await mkdir(join(folder, 'node_modules/@earshot'), { recursive: true })
  // The client is the unpacked npm package.
  await symlink(join(reader.folder, 'package'), join(folder, 'node_modules/@earshot/client'))
  await symlink(join(root, 'node_modules/standardwebhooks'), join(folder, 'node_modules/standardwebhooks'))
  for (const file of ['key.pem', 'cert.pem']) await cp(join(reader.folder, file), join(folder, file))
  await mkdir(join(folder, 'test'))
  await symlink(join(root, 'test/samples'), join(folder, 'test/samples'))
  for (const [name, text] of files) await writeFile(join(folder, name), text)
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  return folder
}

/** Runs the script in its own process group, so that any processes it leaves running end with it. */
const runScript = async (script: string, folder: string) => {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(EARSHOT_|VITEST|NODE_OPTIONS$)/.test(name))
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    detached: true,
    env: {
      ...Object.fromEntries(inherited),
      PATH: `${join(root, 'test/docs')}:${join(root, 'node_modules/.bin')}:${process.env.PATH}`,
      EARSHOT_URL: reader.url,
      EARSHOT_KEY: reader.key,
      EARSHOT_SERVICE_KEY: serviceKey,
      PORT: String(await takeFreePort()),
      PYTHON: reader.python,
      NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
  const end = () => child.pid && signal(-child.pid, 'SIGKILL')
  const timer = setTimeout(end, 240_000)
  const code = await new Promise((resolve) => child.once('exit', resolve))
  clearTimeout(timer)
  end()
  return { code, output }
}

const pages = ['README.md', ...(await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md')).sort()]
const read = (page: string) => readFile(join(root, page === 'README.md' ? page : join('docs', page)), 'utf8')

describe('the code of each page runs unchanged', () => {
  it.each(pages)('%s', async (page) => {
    const blocks = blocksOf(await read(page))
    const { script, files } = scriptOf(blocks)
    for (const { language, text } of blocks) if (language === 'json') expect(() => JSON.parse(text)).not.toThrow()
    if (!script.includes(':: line')) return
    const { code, output } = await runScript(script, await makeFolder(files))
    expect(code, output.slice(-3_000)).toBe(0)
  })
})

it('only leaves blocks to run by hand that start or stop a service, or need another machine or program', async () => {
  const left: string[] = []
  for (const page of pages) {
    for (const block of blocksOf(await read(page)))
      if (byHand(block)) left.push(`${page}: ${block.text.split('\n')[0]}`)
  }
  expect(left).toEqual([
    'README.md: npm install && npm start',
    expect.stringMatching(/^mcp\.md: claude mcp add/),
    'operating.md: bin/earshot serve',
    expect.stringMatching(/^operating\.md: \[ -e \.env \]/),
    'operating.md: bin/earshot backup /backups/2026-11-22',
    'operating.md: npm run faults -- --rounds 100',
    expect.stringMatching(/^scaling\.md: pg_dump /),
    'start.md: npm install && npm start',
    expect.stringMatching(/^webhooks\.md: openssl req/),
  ])
})
