// Compares 1,000 pages that follow an event stream with 1,000 pages that poll as the console did before: the alerts
// page requested incidents and rules every 15 seconds, and the bell of every page every 30 seconds. Meanwhile, 20
// organizations ingest conversations. Both run on one server, one after the other and twice, with rounds without pages
// in between.

import { readFile } from 'node:fs/promises'
import { Agent as HttpAgent, request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { readProcess } from './capacity/processor.ts'
import { failedCount, judge, print } from './report.ts'
import { median, openBenchDatabase, type Server, startServer } from './servers.ts'

const organizations = 20
const pagesEach = 50
const pages = organizations * pagesEach
/** The number of conversations a second in all organizations together. */
const arrivals = 20
const seconds = Number(process.argv[2] ?? 30)
const rounds = 2
const serviceKey = 'service-key-of-the-bench-0123456789'

const polled = [
  { path: '/v1/alert-incidents?limit=50', everySeconds: 15 },
  { path: '/v1/alert-rules?limit=100', everySeconds: 15 },
  { path: '/v1/notifications?limit=5&unread=true', everySeconds: 30 },
]

type Reading = { cpu: number; megabytes: number }

const read = async ({ child }: Server): Promise<Reading> => {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(status)?.[1])
  return { cpu: (await readProcess(child.pid ?? 0)) / 1_000, megabytes: kilobytes / 1024 }
}

const open = async () => {
  const database = await openBenchDatabase()
  const server = await startServer(join(import.meta.dirname, '../bin/earshot'), ['serve'], {
    PORT: '0',
    DATABASE_URL: database.url,
    EARSHOT_ROLES: 'http',
    EARSHOT_STORAGE_SHARED: 'true',
    EARSHOT_DATA_DIR: join(database.folder, 'files'),
    EARSHOT_SERVICE_KEY: serviceKey,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
    EARSHOT_LIMITS: `streamsPerPerson=${pagesEach},ratePerSecond=1000000,rateBurst=1000000`,
  })
  return { database, server }
}

const { database, server } = await open()
// Browsers keep a few connections open, but the pages of the benchmark can share as many as they need.
const agent = new Agent({ connections: 256 })

const send = async (method: 'GET' | 'POST', path: string, key: string, body?: object) => {
  const { statusCode, body: answer } = await request(server.origin + path, {
    method,
    dispatcher: agent,
    headers: { authorization: `Bearer ${key}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (statusCode >= 300) throw new Error(`${path}: ${statusCode} ${text}`)
  return JSON.parse(text)
}

const keys: string[] = []
for (let at = 0; at < organizations; at++) {
  const owner = { email: `owner-${at}@example.com`, name: 'Owner' }
  const body = { name: `Bench ${at}`, slug: `bench-${at}`, owner }
  keys.push((await send('POST', '/v1/organizations', serviceKey, body)).apiKey.key)
}

let number = 0
const storedAt = new Map<string, number>()
const latencies: number[] = []

const store = async (): Promise<void> => {
  const key = keys[number % organizations] ?? ''
  const { id } = await send('POST', '/v1/conversations', key, {
    externalId: `call-${number++}`,
    agent: { externalId: 'front-desk', name: 'Front desk', channel: 'voice' },
    channel: 'call',
    startedAt: new Date().toISOString(),
    transcript: Array.from({ length: 20 }, (_, turn) => ({ role: turn % 2 ? 'user' : 'agent', text: `Turn ${turn}` })),
  })
  storedAt.set(id, performance.now())
}

let failed = 0

const every = (ms: number, work: () => Promise<unknown>) => {
  const timer = setInterval(() => {
    // An overloaded process rejects requests, which the figures show.
    work().catch(() => failed++)
  }, ms)
  return () => clearInterval(timer)
}

const openPage = (key: string, onData: (text: string) => void): Promise<() => void> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` }
    const sent = httpRequest(`${server.origin}/v1/stream`, { headers, agent: streamAgent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`a stream was rejected with ${response.statusCode}`))
      response.setEncoding('utf8').on('data', onData)
      response.once('data', () => resolve(() => void sent.destroy()))
    })
    sent.on('error', () => {})
    sent.end()
  })
const streamAgent = new HttpAgent({ maxSockets: Number.POSITIVE_INFINITY })

let events = 0

const follow = async (): Promise<() => void> => {
  const closings: (() => void)[] = []
  for (let at = 0; at < pages; at++) {
    const onData = (text: string) => {
      for (const [, id] of text.matchAll(/^data: .*"id":"([^"]+)"/gm)) {
        events++
        const stored = at < organizations && storedAt.get(id ?? '')
        if (stored) latencies.push(performance.now() - stored)
      }
    }
    closings.push(await openPage(keys[at % organizations] ?? '', onData))
  }
  return () => {
    for (const close of closings) close()
  }
}

let polls = 0

const poll = async (): Promise<() => void> => {
  const stops = polled.map(({ path, everySeconds }) => {
    let at = 0
    return every((everySeconds * 1_000) / pages, () => {
      polls++
      return send('GET', path, keys[at++ % organizations] ?? '')
    })
  })
  return () => {
    for (const stop of stops) stop()
  }
}

const measure = async (start: () => Promise<() => void>) => {
  const stop = await start()
  // Opening the pages is not measured.
  await sleep(2_000)
  const before = await read(server)
  await sleep(seconds * 1_000)
  const { cpu, megabytes } = await read(server)
  stop()
  await sleep(2_000)
  return { cpu: ((cpu - before.cpu) / seconds) * 100, megabytes }
}

try {
  for (let warm = 0; warm < 200; warm++) await store()
  const stopIngest = every(1_000 / arrivals, store)
  await measure(poll)
  const figures = { none: [], stream: [], poll: [] } as Record<string, { cpu: number; megabytes: number }[]>
  for (let round = 0; round < rounds; round++) {
    figures.none?.push(await measure(async () => () => {}))
    figures.stream?.push(await measure(follow))
    figures.poll?.push(await measure(poll))
  }
  stopIngest()
  const of = (name: string, what: 'cpu' | 'megabytes') => median(figures[name]?.map((each) => each[what]) ?? [])
  const [idle, stream, polling] = [of('none', 'cpu'), of('stream', 'cpu'), of('poll', 'cpu')]
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(0)
  print(`${pages} pages of ${organizations} organizations, ${arrivals} conversations a second, ${seconds} s each`)
  print(
    `  CPU of the process, % of a core: no pages ${idle.toFixed(1)}, streams ${stream.toFixed(1)}, polling ${polling.toFixed(1)}`,
  )
  print(
    `  Memory, MB: no pages ${of('none', 'megabytes').toFixed(0)}, streams ${of('stream', 'megabytes').toFixed(0)}, polling ${of('poll', 'megabytes').toFixed(0)}`,
  )
  print(
    `  ${events} events, ${polls} polls, ${failed} rejected; from the response that stored to the event: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`,
  )
  judge('CPU with streams, of CPU with polling, ingestion included', stream / polling, { atMost: 1 })
  judge(
    'Memory that a stream adds',
    ((of('stream', 'megabytes') - of('none', 'megabytes')) * 1024) / pages,
    { atMost: 100 },
    ' kB',
  )
} finally {
  await agent.close()
  await server.stop()
  await database.close()
}
process.exitCode = failedCount() > 0 ? 1 : 0
