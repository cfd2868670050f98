// Measures how long the worst bodies block a server's event loop, for each route with a body and each content type.
// Prints the median and the worst of five requests, in CPU time of the main thread, which does not depend on other
// load.
// npm run bench -- event-loop [PART OF A ROUTE]
// With ALL=1, it also prints the next slowest bodies.

import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { worstValues } from '../test/worst-bodies.ts'
import { type BodyCase, specialCases } from './event-loop/cases.ts'
import { failedCount, judge, print } from './report.ts'
import { median, openBenchDatabase, type Server, startServer } from './servers.ts'

const root = join(import.meta.dirname, '..')
const serviceKey = 'service-key-of-the-bench-0123456789'
const bounds = { medianMs: 100, maxMs: 250 }
/** Each body is sent once. The slowest bodies of a route are sent again for the median. */
const rounds = 5
const only = process.argv[2] ?? ''

type Route = {
  name: string
  method: string
  path: string
  contentType: string
  bodies: BodyCase[]
  key: string | undefined
}

type Block = { cpuMs: number; wallMs: number }

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

const database = await openBenchDatabase()
const monitorPort = await freePort()
let server: Server | undefined

const send = (route: Omit<Route, 'bodies' | 'name'>, { bytes, headers = {}, path }: BodyCase): Promise<number> =>
  new Promise((resolve) => {
    let status = 0
    const sending = httpRequest(`${server?.origin}${path ?? route.path}`, {
      method: route.method,
      // A server that rejects a body may disconnect before it has read the body.
      agent: false,
      headers: {
        'content-type': route.contentType,
        ...(route.key !== undefined && { authorization: `Bearer ${route.key}` }),
        ...(bytes.length > 0 && { 'content-length': bytes.length }),
        ...headers,
      },
    })
    sending.on('response', (response) => {
      status = response.statusCode ?? 0
      response.on('error', () => {}).resume()
    })
    sending.on('error', () => {})
    sending.once('close', () => resolve(status))
    sending.end(bytes)
  })

const readMonitor = (): Promise<Block> =>
  new Promise((resolve, reject) => {
    const asking = httpRequest(`http://127.0.0.1:${monitorPort}/`, { agent: false })
    asking.on('response', (response) => json(response).then((block) => resolve(block as Block), reject))
    asking.on('error', reject)
    asking.end()
  })

const measure = async (route: Route, body: BodyCase): Promise<Block & { status: number }> => {
  await readMonitor()
  const status = await send(route, body)
  return { ...(await readMonitor()), status }
}

type Schema = { properties?: Record<string, unknown> }
type Operation = { requestBody?: { content: Record<string, { schema: Schema }> }; 'x-access': unknown }

/** Returns every value as the whole body, and as one of the route's properties. */
const genericBodies = ({ properties = {} }: Schema, contentType: string, bytes: number): BodyCase[] => {
  const lines = contentType === 'application/x-ndjson'
  return Object.entries(worstValues).flatMap(([name, write]) => {
    const inside = Object.keys(properties)
      .slice(0, 3)
      .map((property) => ({
        name: `${property}: ${name}`,
        bytes: Buffer.from(`{"${property}":${write(bytes - property.length - 5)}}`),
      }))
    // Each line of a stream has a result, so both the cost of a line and that of a chunk matter.
    const value = write(lines ? 500_000 : bytes)
    return [
      { name, bytes: Buffer.from(lines ? `${value}\n${value.slice(1, -1).replaceAll(',', '\n')}` : value) },
      ...inside,
    ]
  })
}

const limitOf = (path: string): number => {
  if (path.startsWith('/auth/')) return 8 * 1024
  if (
    /\/(batch|monitor-results|customer-metrics|traces|webhook)$|^\/v1\/integrations\/(roark|coval|cekura|bluejay)/.test(
      path,
    )
  )
    return 32 * 1024 * 1024
  return 1024 * 1024
}

const cell = (value: string | number) => String(value).padStart(8)

const report = async (route: Route) => {
  const first: (Block & { body: BodyCase; status: number })[] = []
  for (const body of route.bodies) first.push({ body, ...(await measure(route, body)) })
  const [worst] = first.toSorted((a, b) => b.cpuMs - a.cpuMs)
  if (!worst) return
  const blocks: Block[] = [worst]
  while (blocks.length < rounds) blocks.push(await measure(route, worst.body))
  const cpu = blocks.map(({ cpuMs }) => cpuMs)
  const [mid, max] = [median(cpu), Math.max(...cpu)]
  const wall = Math.max(...blocks.map(({ wallMs }) => wallMs))
  const holds = mid <= bounds.medianMs && max <= bounds.maxMs ? 'holds' : 'FAILS'
  const figures = [mid.toFixed(0), max.toFixed(0), wall.toFixed(0), worst.status].map(cell).join('')
  print(`${figures}  ${holds}  ${route.name}  ${route.contentType}  ${worst.body.name}`)
  if (process.env.ALL) {
    for (const { cpuMs, wallMs, status, body } of first.toSorted((a, b) => b.cpuMs - a.cpuMs).slice(1, 6)) {
      print(`${[cpuMs.toFixed(0), '', wallMs.toFixed(0), status].map(cell).join('')}         ${body.name}`)
    }
  }
  return { mid, max }
}

try {
  server = await startServer(join(root, 'bin/earshot'), ['serve'], {
    PORT: '0',
    DATABASE_URL: database.url,
    EARSHOT_DATA_DIR: join(database.folder, 'files'),
    EARSHOT_SERVICE_KEY: serviceKey,
    EARSHOT_SECRET_KEY: 'a-secret-key-for-the-bench-0123456789',
    EARSHOT_LIMITS: 'ratePerSecond=1000000,rateBurst=1000000',
    EVENT_LOOP_MONITOR_PORT: String(monitorPort),
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'event-loop/monitor.ts')}`,
  })
  const { origin } = server
  const call = async (method: string, path: string, key: string, body?: object) => {
    const response = await fetch(origin + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    // The response can be anything, but the cases only read a few of its properties.
    const answer = (await response.json()) as Record<string, never>
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const created = (await call('POST', '/v1/organizations', serviceKey, {
    name: 'Bench',
    slug: 'bench',
    owner: { email: 'owner@example.com', name: 'Owner' },
    entitlements: { monitors: true, observability: true, metrics: true },
    features: { monitorExports: true, exportWebhooks: true, experimentsV2: true, phiMode: true },
  })) as unknown as { apiKey: { key: string } }
  const { key } = created.apiKey
  const document = (await (await fetch(`${origin}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const routes: Route[] = []
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody, 'x-access': access }] of Object.entries(operations)) {
      for (const [contentType, { schema }] of Object.entries(requestBody?.content ?? {})) {
        const type = contentType === '*/*' ? 'application/json' : contentType
        if (!/json/.test(type)) continue
        routes.push({
          name: `${method.toUpperCase()} ${path}`,
          method: method.toUpperCase(),
          path: path.replaceAll(/\{[^}]+\}/g, '0197a3b0-5e1c-7c3a-9a59-3f1f0c2d4e5f'),
          contentType: type,
          bodies: [],
          key: access === 'service' ? serviceKey : access === 'public' ? undefined : key,
          schema,
        } as Route & { schema: Schema })
      }
    }
  }
  print(`${['median', 'worst', 'by clock', 'status'].map(cell).join('')}  (ms of the main thread)`)
  const results: { mid: number; max: number }[] = []
  for (const route of routes as (Route & { schema: Schema })[]) {
    if (!route.name.includes(only)) continue
    // The bodies are kept for one route at a time, because those of a single large route take gigabytes.
    const bodies = genericBodies(route.schema, route.contentType, limitOf(route.path) - 100)
    const result = await report({ ...route, bodies })
    if (result) results.push(result)
  }
  for (const special of await specialCases({ call, key })) {
    if (!special.name.includes(only)) continue
    const { bodies, ...rest } = special
    const result = await report({ ...rest, bodies: bodies() })
    if (result) results.push(result)
  }
  judge('the worst median', Math.max(...results.map(({ mid }) => mid)), { atMost: bounds.medianMs }, ' ms')
  judge('the worst of all', Math.max(...results.map(({ max }) => max)), { atMost: bounds.maxMs }, ' ms')
} finally {
  await server?.stop()
  await database.close()
}
process.exit(failedCount() > 0 ? 1 : 0)
