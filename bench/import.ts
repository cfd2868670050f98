// Measures `earshot conversations import` of a provider's calls: 10,000, and 100,000 with the command killed three
// times and restarted. Reports its peak memory, which must not grow with the file, and checks that each call is stored
// once.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Earshot } from '../client/src/earshot.ts'
import { failedCount, judge, print } from './report.ts'
import { startServer } from './servers.ts'

const [few, many] = [10_000, 100_000]
const kills = [0.2, 0.5, 0.8]
const command = join(import.meta.dirname, '../bin/earshot')
const serviceKey = 'service-key-of-the-bench-0123456789'
const sample = JSON.parse(
  await readFile(join(import.meta.dirname, '../test/samples/ingest/vapi_end_of_call_report.json'), 'utf8'),
)

/** Returns a call with its own ID and start. */
const callOf = (name: string, number: number): string => {
  const { message } = sample
  const startedAt = new Date(Date.UTC(2026, 0, 1) + number * 60_000)
  const endedAt = new Date(startedAt.getTime() + 90_000)
  const call = { ...message.call, id: `${name}-${number}` }
  const times = { startedAt: startedAt.toISOString(), endedAt: endedAt.toISOString() }
  return JSON.stringify({ message: { ...message, ...times, call } })
}

const writeCalls = async (file: string, name: string, count: number): Promise<void> => {
  const stream = createWriteStream(file)
  for (let number = 0; number < count; number++) {
    if (!stream.write(`${callOf(name, number)}\n`)) await once(stream, 'drain')
  }
  stream.end()
  await once(stream, 'close')
}

/** Returns the peak memory of a process, which Linux tracks. */
const peakOf = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-import-'))
await chmod(folder, 0o711)
const env = { PORT: '0', EARSHOT_DATA_DIR: join(folder, 'data'), EARSHOT_SERVICE_KEY: serviceKey }
const server = await startServer(command, ['serve'], env)

const provision = async (name: string) => {
  const { organizations } = new Earshot({ url: server.origin, key: serviceKey })
  const { apiKey } = await organizations.create({ name, slug: name, owner: { email: `${name}@example.com`, name } })
  return new Earshot({ url: server.origin, key: apiKey.key })
}

/** Runs the command until it ends, or kills it after a share of the calls. */
const runImport = async (file: string, key: string, count: number, killAt: number) => {
  const args = ['conversations', 'import', file, '--from', 'vapi', '--json', '--quiet']
  const child = spawn(command, args, { env: { ...process.env, EARSHOT_URL: server.origin, EARSHOT_KEY: key } })
  let told = ''
  child.stdout.on('data', (text) => {
    told += text
  })
  child.stderr.pipe(process.stderr)
  const ended = once(child, 'close')
  let peak = 0
  while (child.exitCode === null && child.signalCode === null) {
    peak = Math.max(peak, await peakOf(child.pid ?? 0))
    const state = JSON.parse(await readFile(`${file}.import-state`, 'utf8').catch(() => '{}'))
    const done = Object.values<{ values: number }>(state.files ?? {})[0]?.values ?? 0
    if (done >= killAt * count) child.kill('SIGKILL')
    await Promise.race([ended, sleep(100)])
  }
  await ended
  return { peak, code: child.exitCode, told }
}

const importAll = async (name: string, count: number, killsAt: number[]) => {
  const file = join(folder, `${name}.ndjson`)
  await writeCalls(file, name, count)
  const earshot = await provision(name)
  const { key } = await earshot.apiKeys.create({ name: 'Import', role: 'member' })
  const beganAt = performance.now()
  let peak = 0
  for (const killAt of [...killsAt, Infinity]) {
    const attempt = await runImport(file, key, count, killAt)
    peak = Math.max(peak, attempt.peak)
    const how =
      attempt.code === null ? `killed after ${killAt * 100} %` : `ended with ${attempt.code}: ${attempt.told.trim()}`
    print(`  ${how}, at most ${attempt.peak.toFixed(0)} MB`)
  }
  const seconds = (performance.now() - beganAt) / 1_000
  const { count: stored } = await earshot.conversations.count({ filter: {} })
  print(
    `${count.toLocaleString('en')} calls in ${seconds.toFixed(0)} s (${(count / seconds).toFixed(0)}/s), ${peak.toFixed(0)} MB`,
  )
  await rm(file)
  return { peak, stored }
}

try {
  const short = await importAll('few', few, [])
  const long = await importAll('many', many, kills)
  judge('peak memory of 100,000 calls to that of 10,000', long.peak / short.peak, { atMost: 1.25 })
  judge('calls stored, of 10,000', short.stored, { atLeast: few }, '')
  judge('calls stored, of 100,000 after three kills', long.stored, { atLeast: many }, '')
  judge('calls stored, of 100,000 after three kills', long.stored, { atMost: many }, '')
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
if (failedCount() > 0) process.exitCode = 1
