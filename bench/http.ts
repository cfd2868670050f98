// Measures one authenticated GET by primary key with everything enabled, compared with plain node:http and pg with the
// same lookup. Then measures a page of 50 conversations, plain and compressed. All alternate, so that changes
// in the machine's speed affect all of them.

import { join } from 'node:path'
import autocannon from 'autocannon'
import { readProcess } from './capacity/processor.ts'
import { median, openBenchDatabase, type Server, startServer } from './servers.ts'

const rounds = 7
const seconds = 4
const serviceKey = 'service-key-of-the-bench-0123456789'
const root = join(import.meta.dirname, '..')

const send = async (origin: string, path: string, key: string, body: object) => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  // The response can be anything, but only these properties are read.
  return (await response.json()) as { id: string; apiKey: { key: string }; organization: { id: string } }
}

/** Conversations of ordinary length. A list contains everything except their transcripts. */
const conversations = Array.from({ length: 50 }, (_, index) => ({
  externalId: `call-${index}`,
  agent: { externalId: 'front-desk', name: 'Front desk', channel: 'voice' },
  channel: 'call',
  startedAt: new Date(Date.UTC(2026, 10, 20, 9, index)).toISOString(),
  metadata: { campaign: `spring-${index % 7}`, locale: 'en-GB', caller: `+4420794600${10 + index}` },
}))

const load = async (server: Server, path: string, key: string, encoding = 'identity') => {
  const before = await readProcess(server.child.pid ?? 0)
  const result = await autocannon({
    url: server.origin + path,
    connections: 32,
    duration: seconds,
    headers: { authorization: `Bearer ${key}`, 'accept-encoding': encoding },
  })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${result.non2xx} failed, ${result.errors} errors`)
  const cpuMs = (await readProcess(server.child.pid ?? 0)) - before
  const bytes = result.throughput.total / result.requests.total
  return { rate: result.requests.average, p99: result.latency.p99, cpu: (cpuMs * 1_000) / result.requests.total, bytes }
}

const writerOf = (columns: string[]) => (cells: (string | number)[]) => {
  const padded = cells.map((cell, index) => String(cell).padStart((columns[index]?.length ?? 0) + 2))
  process.stdout.write(`${padded.join('')}\n`)
}

const encodings = ['gzip', 'br'] as const

/** Compares the cost of compression for the service with what clients save. */
const compareEncodings = async (server: Server, path: string, key: string) => {
  const columns = [
    'round',
    'plain bytes',
    'req/s',
    'CPU µs/req',
    ...encodings.flatMap((name) => [`${name} bytes`, 'req/s', 'CPU µs/req', 'CPU ratio']),
  ]
  const write = writerOf(columns)
  write(columns)
  const ratios: Record<(typeof encodings)[number], number[]> = { gzip: [], br: [] }
  for (let round = 1; round <= rounds; round++) {
    const plain = await load(server, path, key)
    const cells = [plain.bytes.toFixed(0), plain.rate.toFixed(0), plain.cpu.toFixed(0)]
    for (const name of encodings) {
      const packed = await load(server, path, key, name)
      const ratio = packed.cpu / plain.cpu
      ratios[name].push(ratio)
      cells.push(packed.bytes.toFixed(0), packed.rate.toFixed(0), packed.cpu.toFixed(0), ratio.toFixed(2))
    }
    write([round, ...cells])
  }
  const [gzip, brotli] = encodings.map((name) => median(ratios[name]).toFixed(2))
  process.stdout.write(`median: ${gzip} times the processor time with gzip, ${brotli} times with brotli\n`)
}

const database = await openBenchDatabase()
const servers: Server[] = []
try {
  const earshot = await startServer(join(root, 'bin/earshot'), ['serve'], {
    PORT: '0',
    DATABASE_URL: database.url,
    EARSHOT_DATA_DIR: join(database.folder, 'files'),
    EARSHOT_SERVICE_KEY: serviceKey,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
    EARSHOT_LIMITS: 'ratePerSecond=1000000,rateBurst=1000000',
  })
  servers.push(earshot)
  const owner = { email: 'owner@example.com', name: 'Owner' }
  const { organization, apiKey } = await send(earshot.origin, '/v1/organizations', serviceKey, {
    name: 'Bench',
    slug: 'bench',
    owner,
  })
  const { id } = await send(earshot.origin, '/v1/companies', apiKey.key, { name: 'Acme Dental' })
  const bareArgs = [join(import.meta.dirname, 'bare-server.ts'), database.url, organization.id, apiKey.key]
  const bare = await startServer(process.execPath, bareArgs)
  servers.push(bare)

  const path = `/v1/companies/${id}`
  for (const server of servers) await load(server, path, apiKey.key)
  const ratios: { rate: number; p99: number }[] = []
  const columns = [
    'round',
    'bare req/s',
    'p99 ms',
    'CPU µs/req',
    'earshot req/s',
    'p99 ms',
    'CPU µs/req',
    'rate ratio',
    'p99 ratio',
  ]
  const write = writerOf(columns)
  write(columns)
  for (let round = 1; round <= rounds; round++) {
    const floor = await load(bare, path, apiKey.key)
    const full = await load(earshot, path, apiKey.key)
    const ratio = { rate: full.rate / floor.rate, p99: full.p99 / floor.p99 }
    ratios.push(ratio)
    const cells = [floor, full].flatMap(({ rate, p99, cpu }) => [rate.toFixed(0), p99, cpu.toFixed(0)])
    write([round, ...cells, ratio.rate.toFixed(2), ratio.p99.toFixed(2)])
  }
  const rate = median(ratios.map((ratio) => ratio.rate))
  const p99 = median(ratios.map((ratio) => ratio.p99))
  process.stdout.write(
    `median: ${rate.toFixed(2)} of the bare server's throughput, ${p99.toFixed(2)} times its p99\n\n`,
  )

  await send(earshot.origin, '/v1/conversations/batch', apiKey.key, { conversations })
  await compareEncodings(earshot, '/v1/conversations?limit=50', apiKey.key)
} finally {
  for (const server of servers) await server.stop()
  await database.close()
}
