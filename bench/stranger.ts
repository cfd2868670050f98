// Measures the first steps of a new user of the library, from an empty folder to a file of results. The service is
// already running, and the packed library is installed.

import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { failedCount, judge, millisecondsOf, print } from './report.ts'
import { startServer } from './servers.ts'

const serviceKey = 'service-key-of-the-bench-0123456789'
const mostSeconds = 5 * 60

const root = join(import.meta.dirname, '..')
const folder = await mkdtemp(join(tmpdir(), 'earshot-stranger-'))
await chmod(folder, 0o711)
const env = { PORT: '0', EARSHOT_DATA_DIR: join(folder, 'data'), EARSHOT_SERVICE_KEY: serviceKey }
const server = await startServer(join(root, 'bin/earshot'), ['serve'], env)

/** The programs of the new user, one for each step. */
const begin = `import { Earshot } from '@earshot/client'
const earshot = new Earshot({ url: process.env.EARSHOT_URL, key: process.env.EARSHOT_KEY })
`
const programs = {
  'send a conversation': `${begin}
const call = await earshot.conversations.create({
  externalId: 'call-1',
  agent: { externalId: 'leo', name: 'Leo', channel: 'voice' },
  channel: 'call',
  startedAt: new Date(Date.now() - 60_000).toISOString(),
  transcript: [
    { role: 'agent', text: 'Acme Dental, how can I help?' },
    { role: 'customer', text: 'I want a refund.' },
  ],
})
if (!call.id) throw new Error('no conversation')`,
  'create a monitor and run it': `${begin}
const monitor = await earshot.monitors.create({
  name: 'Asks for a refund',
  kind: 'rule',
  definition: { expression: "turns.by('customer').mentions('refund')" },
})
const now = new Date()
await earshot.monitors.createEvaluation(monitor.id, {
  since: new Date(now.getTime() - 3_600_000).toISOString(),
  until: now.toISOString(),
})`,
  'read the result': `${begin}
const [call] = await earshot.conversations.list({ externalId: 'call-1' }).all()
for (let tries = 0; ; tries++) {
  const [result] = await earshot.conversations.listResults(call.id).all()
  if (result?.result === 'affected') break
  if (tries === 100) throw new Error('no result: ' + JSON.stringify(result))
  await new Promise((resolve) => setTimeout(resolve, 100))
}`,
  'export, download': `${begin}
import { writeFile } from 'node:fs/promises'
const [monitor] = await earshot.monitors.list().all()
const file = await earshot.exports.createAndDownload({
  monitors: [{ id: monitor.id }],
  since: new Date(Date.now() - 3_600_000).toISOString(),
  until: new Date().toISOString(),
  timezone: 'UTC',
  format: 'csv',
})
await writeFile('results.csv', await file.bytes())`,
}

try {
  const packed = execFileSync(process.execPath, [join(root, 'tools/build-client.ts'), folder], {
    encoding: 'utf8',
  }).trim()
  const response = await fetch(`${server.origin}/v1/organizations`, {
    method: 'POST',
    headers: { authorization: `Bearer ${serviceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Acme', slug: 'acme', owner: { email: 'olga@example.com', name: 'Olga' } }),
  })
  const { apiKey } = (await response.json()) as { apiKey: { key: string } }
  const given = { ...process.env, EARSHOT_URL: server.origin, EARSHOT_KEY: apiKey.key }
  const here = { cwd: join(folder, 'stranger'), env: given, stdio: 'inherit' } as const

  let total = 0
  const step = async (name: string, work: () => Promise<unknown> | unknown) => {
    const seconds = (await millisecondsOf(async () => work())) / 1_000
    total += seconds
    print(`  ${name.padEnd(38)} ${seconds.toFixed(1)} s`)
  }
  await mkdir(here.cwd)
  await step('npm install', () => {
    execFileSync('npm', ['init', '--yes', '--init-type=module', '--silent'], { ...here, stdio: 'ignore' })
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', packed], here)
  })
  for (const [name, program] of Object.entries(programs)) {
    await step(name, async () => {
      await writeFile(join(here.cwd, 'program.mjs'), program)
      execFileSync(process.execPath, ['program.mjs'], here)
    })
  }
  await step('open the file', async () => {
    const rows: Record<string, string>[] = parse(await readFile(join(here.cwd, 'results.csv')), {
      columns: true,
      bom: true,
    })
    const [row] = rows
    if (rows.length !== 1 || row?.asks_for_a_refund_result !== 'affected') throw new Error(JSON.stringify(rows))
  })
  judge('from an empty folder to the opened file', total, { atMost: mostSeconds }, ' s')
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
if (failedCount() > 0) process.exitCode = 1
