// How long the worst bodies block the event loop of a server that has nothing else to do, for each route that takes a
// body and each content type.
//   npm run bench -- event-loop [PART OF A ROUTE]

import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { request } from 'undici'
import { worstValues } from '../test/worst-bodies.ts'
import { specialCases } from './event-loop/cases.ts'
import { failedCount, judge, print } from './report.ts'
import { median, openBenchDatabase, type Server, startServer } from './servers.ts'

const root = join(import.meta.dirname, '..')
const serviceKey = 'service-key-of-the-bench-0123456789'
const bounds = { medianMs: 100, maxMs: 250 }
/** Each body is sent once; the slowest ones of a route are sent again, so that a median can be told. */
const rounds = 5
const only = process.argv[2] ?? ''

type Body = { name: string; bytes: Buffer; headers?: Record<string, string>; path?: string }
type Route = {
  name: string
  method: string
  path: string
  contentType: string
  bodies: Body[]
  key: string | undefined
}

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

const send = async (route: Omit<Route, 'bodies' | 'name'>, { bytes, headers = {}, path }: Body): Promise<number> => {
  const response = await request(`${server?.origin}${path ?? route.path}`, {
    method: route.method as 'POST',
    headers: {
      'content-type': route.contentType,
      ...(route.key !== undefined && { authorization: `Bearer ${route.key}` }),
      ...headers,
    },
    body: bytes,
    headersTimeout: 120_000,
    bodyTimeout: 120_000,
  }).catch((error: Error) => error)
  // A server that refuses a body hangs up on the rest of it.
  if (response instanceof Error) return 0
  await response.body.dump({ limit: 1e9 }).catch(() => {})
  return response.statusCode
}

const readMonitor = async (): Promise<number> => {
  const { body } = await request(`http://127.0.0.1:${monitorPort}/`)
  return ((await body.json()) as { ms: number }).ms
}

const measure = async (route: Route, body: Body): Promise<{ ms: number; status: number }> => {
  await readMonitor()
  const status = await send(route, body)
  return { ms: await readMonitor(), status }
}

type Schema = { properties?: Record<string, unknown> }
type Operation = { requestBody?: { content: Record<string, { schema: Schema }> }; 'x-access': unknown }

/** Every value as the whole body, and in the place of a property that the route knows. */
const genericBodies = ({ properties = {} }: Schema, contentType: string, bytes: number): Body[] => {
  const lines = contentType === 'application/x-ndjson'
  return Object.entries(worstValues).flatMap(([name, write]) => {
    const inside = Object.keys(properties)
      .slice(0, 3)
      .map((property) => ({
        name: `${property}: ${name}`,
        bytes: Buffer.from(`{"${property}":${write(bytes - property.length - 5)}}`),
      }))
    const value = write(bytes)
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

const report = async (route: Route) => {
  const first: { body: Body; ms: number; status: number }[] = []
  for (const body of route.bodies) first.push({ body, ...(await measure(route, body)) })
  const [worst] = first.toSorted((a, b) => b.ms - a.ms)
  if (!worst) return
  const times = [worst.ms]
  while (times.length < rounds) times.push((await measure(route, worst.body)).ms)
  const [mid, max] = [median(times), Math.max(...times)]
  const holds = mid <= bounds.medianMs && max <= bounds.maxMs
  const cells = [
    mid.toFixed(0).padStart(7),
    max.toFixed(0).padStart(7),
    `  ${worst.status}`,
    holds ? 'holds' : 'FAILS',
    route.name,
    route.contentType,
    worst.body.name,
  ]
  print(cells.join('  '))
  if (process.env.ALL)
    for (const { body, ms, status } of first.toSorted((a, b) => b.ms - a.ms).slice(1, 8))
      print(`      ${ms.toFixed(0)} ${status} ${body.name}`)
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
    // Whatever the interface answers; the cases read a few fields of it.
    const answer = (await response.json()) as Record<string, never>
    if (response.status >= 300) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`)
    return answer
  }
  const created = (await call('POST', '/v1/organizations', serviceKey, {
    name: 'Bench',
    slug: 'bench',
    owner: { email: 'owner@example.com', name: 'Owner' },
    entitlements: { monitors: true, observability: true, metrics: true },
    features: { monitorExports: true, exportWebhooks: true, experimentsV2: true, phiMode: false },
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
  const results: { mid: number; max: number }[] = []
  for (const route of routes as (Route & { schema: Schema })[]) {
    if (!route.name.includes(only)) continue
    route.bodies = genericBodies(route.schema, route.contentType, limitOf(route.path) - 100)
    const result = await report(route)
    if (result) results.push(result)
  }
  for (const special of await specialCases({ call, key, serviceKey, origin })) {
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
