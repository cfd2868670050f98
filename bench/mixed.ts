// Runs everything at once for ten minutes on a service with a million conversations: ingest, evaluation, lists,
// search, opening conversations, exports, an experiment, alerts, and the console in a browser. Compares the results
// with the limits in docs/operating.md, "Under load", and exits with 1 if one is exceeded.
// npm run bench -- mixed [CONVERSATIONS] [MINUTES]

import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { unpackChromium } from '../e2e/chromium.ts'
import { startDemo } from '../e2e/demo.ts'
import { sessionOf } from '../e2e/people.ts'
import { connectTo } from '../test/faults/database.ts'
import { requestBuild } from '../test/support/topics.ts'
import { makeCertificate } from './certificate.ts'
import { openAlertProbes } from './mixed/alerts.ts'
import type { BackgroundResult, BackgroundTask } from './mixed/background-load.ts'
import { readLimits } from './mixed/limits.ts'
import { percentile, runStreams } from './mixed/steady-load.ts'
import { openTraffic, prepare } from './mixed/traffic.ts'
import { growthOf, untilIdle, watch } from './mixed/watch.ts'
import { failedCount, judge, print } from './report.ts'
import { startServer } from './servers.ts'

const [calls = 1_000_000, minutes = 10] = process.argv.slice(2).map(Number)
const warmUpMs = 30_000
const alertEveryMs = 12_000

/** Runs exports and the console in a separate process. */
const runBeside = async (task: BackgroundTask): Promise<BackgroundResult> => {
  const child = fork(join(import.meta.dirname, 'mixed/background-load.ts'), {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  child.send(task)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the process of exports and pages ended with ${code}`)
  })
  const [done] = await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  // The file of the process describes its messages.
  return done as BackgroundResult
}

type Progress = { enabled: boolean; embedded: number; waiting: number }
type Topics = { builtAt: string | null; data: object[] }

/** Describes the progress of embeddings and topics, which the service computes during the load. */
const describeMeanings = async (origin: string, key: string): Promise<string> => {
  // The schemas of the responses have these properties.
  const read = async <T>(path: string) =>
    (await (await fetch(new URL(path, origin), { headers: { authorization: `Bearer ${key}` } })).json()) as T
  const { enabled, embedded, waiting } = await read<Progress>('/v1/embeddings')
  const { builtAt, data } = await read<Topics>('/v1/topics')
  const conversations = `${embedded.toLocaleString('en')} conversations embedded, ${waiting.toLocaleString('en')} waiting`
  const topics = builtAt === null ? 'not built' : `${data.length} built at ${builtAt}`
  return `embeddings ${enabled ? 'on' : 'off'}: ${conversations}; topics: ${topics}`
}

const mostBuildingMs = 300_000

/** Builds topics, so that conversations are assigned to them during the load. */
const buildTopics = async (origin: string, key: string): Promise<void> => {
  const database = await connectTo(dataDir)
  const { rows } = await database.query('SELECT DISTINCT organization_id AS id FROM embedding_progress')
  for (const { id } of rows) await requestBuild(database, id)
  await database.end()
  const until = performance.now() + mostBuildingMs
  while ((await describeMeanings(origin, key)).endsWith('not built')) {
    if (performance.now() > until) throw new Error('topics were not built in five minutes')
    await sleep(1_000)
  }
}

const limits = await readLimits()
const folder = await mkdtemp(join(tmpdir(), 'earshot-bench-'))
await chmod(folder, 0o711)
const dataDir = join(folder, 'data')

print(`filling the service with ${calls.toLocaleString('en')} conversations`)
// The conversations are embedded during the measurement, in addition to those that arrive.
const demo = await startDemo(dataDir, calls, { EARSHOT_EMBEDDINGS: 'off' })
const cookie = await sessionOf(demo.origin, demo.invitation, 'Olga Owner')
await untilIdle(demo.origin)
demo.child.kill('SIGTERM')
await new Promise((resolve) => demo.child.once('close', resolve))

const certificate = await makeCertificate()
const certificateFile = join(folder, 'receiver.pem')
await writeFile(certificateFile, certificate.cert)
// The service is a new process, as in production, so that no memory remains from loading the data.
const server = await startServer(join(import.meta.dirname, '../bin/earshot'), ['serve'], {
  PORT: '0',
  EARSHOT_DATA_DIR: dataDir,
  EARSHOT_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1/32',
  NODE_EXTRA_CA_CERTS: certificateFile,
})
try {
  const { origin } = server
  await buildTopics(origin, demo.key)
  const world = await prepare(origin, demo.key)
  const traffic = openTraffic(world)
  const alerts = await openAlertProbes(world, Math.ceil((minutes * 60_000) / alertEveryMs), certificate)
  const chromium = await unpackChromium(folder)
  const streams = Object.entries(traffic.asks).map(([name, ask]) => ({
    name,
    ask,
    perSecond: limits.ofRequest(name).perSecond,
  }))
  const probes = [
    { name: 'evaluation', perSecond: 0.5, ask: traffic.probe },
    { name: 'alert', perSecond: 1_000 / alertEveryMs, ask: alerts.probe },
  ]
  const monitor = world.monitors[0]?.id
  const paths = [
    '/conversations',
    `/monitors/${monitor}`,
    '/monitors',
    `/experiments/${world.experiment.id}`,
    '/findings',
  ]

  print(`warming up for ${warmUpMs / 1_000} s`)
  await runStreams(streams, performance.now() + warmUpMs)

  print(`${minutes} minutes of load, with ${await describeMeanings(origin, demo.key)}`)
  const madeBefore = traffic.told().made
  const until = performance.now() + minutes * 60_000
  const [measured, samples, { exported, visits }] = await Promise.all([
    runStreams([...streams, ...probes], until),
    watch(server.child.pid ?? 0, origin, until),
    runBeside({ world, chromium, tour: { origin, cookie, paths }, ms: minutes * 60_000 }),
  ])

  print(`afterwards, ${await describeMeanings(origin, demo.key)}`)
  const statuses = new Map<number | string, number>()
  let answered = 0
  for (const { name, latencies, statuses: each } of measured) {
    for (const [status, count] of each) statuses.set(status, (statuses.get(status) ?? 0) + count)
    answered += latencies.length
    if (probes.some((probe) => probe.name === name)) continue
    const { p50, p99 } = limits.ofRequest(name)
    print(`${name}: ${latencies.length} times, ${percentile(latencies, 1).toFixed(0)} ms at most`)
    judge('p50', percentile(latencies, 0.5), { atMost: p50 }, ' ms')
    judge('p99', percentile(latencies, 0.99), { atMost: p99 }, ' ms')
  }
  const { made, evaluated, unevaluated, mostSeconds } = traffic.told()
  print(
    `${(answered / minutes / 60).toFixed(1)} requests a second, ${((made - madeBefore) / minutes).toFixed(0)} conversations a minute`,
  )
  print(`answers: ${[...statuses].map(([status, count]) => `${count} × ${status}`).join(', ')}`)
  const isAskedFor = (status: number | string) =>
    typeof status === 'number' && (status < 400 || [429, 503].includes(status))
  const refused = [...statuses].filter(([status]) => status === 429 || status === 503)
  const errors = [...statuses].filter(([status]) => !isAskedFor(status))
  const sum = (counted: [unknown, number][]) => counted.reduce((total, [, count]) => total + count, 0)
  judge('answers that are errors', sum(errors), { atMost: 0 }, '')
  judge(
    'requests turned away, in a thousand',
    (1_000 * sum(refused)) / answered,
    { atMost: limits.of('requests rejected, per thousand') },
    '',
  )

  print(`from acknowledged to judged by every rule, of ${evaluated}`)
  judge('the slowest', mostSeconds, { atMost: limits.of('from acknowledged to judged, s') }, ' s')
  judge('not within two minutes', unevaluated, { atMost: 0 }, '')
  const { seconds, missing } = alerts.told()
  print(`from arrival to delivered alert, of ${seconds.length}`)
  judge('p50', percentile(seconds, 0.5), { atMost: limits.of('from arrival to delivered alert, p50, s') }, ' s')
  judge('p99', percentile(seconds, 0.99), { atMost: limits.of('from arrival to delivered alert, p99, s') }, ' s')
  judge('not within three minutes', missing, { atMost: 0 }, '')
  for (const format of ['csv', 'parquet', 'xlsx']) {
    const all = exported.filter((one) => one.format === format)
    const largest = (name: 'rows' | 'seconds') =>
      percentile(
        all.map((one) => one[name]),
        1,
      )
    print(`${all.length} exports of ${largest('rows').toLocaleString('en')} calls as ${format}`)
    // Without any exports, this is NaN, which exceeds every limit.
    judge('the slowest', largest('seconds'), { atMost: limits.of(`an export as ${format}, s`) }, ' s')
  }
  print(`${visits.length} pages of the console in a browser`)
  judge('p50', percentile(visits, 0.5), { atMost: limits.of('a page of the console, p50, ms') }, ' ms')
  judge('the slowest', percentile(visits, 1), { atMost: limits.of('a page of the console, the slowest, ms') }, ' ms')

  const most = (name: 'megabytes' | 'databaseMegabytes' | 'exportMegabytes' | 'waiting') =>
    Math.max(...samples.map((sample) => sample[name]))
  print(
    `memory at most: the service ${most('megabytes').toFixed(0)} MB, PostgreSQL ${most('databaseMegabytes').toFixed(0)} MB`,
  )
  const byMinute = (name: 'megabytes' | 'heapMegabytes') => {
    const ofMinute = Map.groupBy(samples, (sample) => Math.floor(sample.minutes)).values()
    return [...ofMinute].map((some) => Math.min(...some.map((sample) => sample[name])).toFixed(0)).join(', ')
  }
  print(`the service at least, minute by minute: ${byMinute('megabytes')} MB`)
  print(`of which its heap in use: ${byMinute('heapMegabytes')} MB`)
  judge('memory of the service', most('megabytes'), { atMost: limits.of('memory of the service, MB') }, ' MB')
  judge('of an export', most('exportMegabytes'), { atMost: limits.of('memory of an export, MB') }, ' MB')
  judge(
    'its growth after the first third, a minute',
    growthOf(samples),
    { atMost: limits.of('growth of its memory, MB a minute') },
    ' MB',
  )
  judge('jobs that waited', most('waiting'), { atMost: limits.of('waiting jobs') }, '')
  alerts.close()
} finally {
  await server.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
process.exitCode = failedCount() > 0 ? 1 : 0
