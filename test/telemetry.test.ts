import { buffer } from 'node:stream/consumers'
import { Counter, Histogram, Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { decodeTraces } from '../server/integrations/otlp/proto.ts'
import { metricsOf } from '../server/platform/telemetry/metrics-of-registry.ts'
import { ask, provision, startEarshot, switchesOnTestDatabase } from './earshot.ts'
import { serve } from './outside.ts'

type Attribute = { key: string; value: { stringValue?: string; intValue?: string | number } }
type Span = {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  attributes?: Attribute[]
  status?: { code?: string | number }
}
type Request = {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[]
}

const attributeOf = (attributes: Attribute[] | undefined, name: string) => {
  const value = attributes?.find(({ key }) => key === name)?.value
  return value?.stringValue ?? value?.intValue
}

/** Starts a collector that accepts everything. */
const openCollector = async () => {
  const received: { path: string; headers: Record<string, unknown>; body: Buffer }[] = []
  const { url } = await serve(async (request, response) => {
    received.push({ path: request.url ?? '', headers: request.headers, body: await buffer(request) })
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
  const to = (path: string) => received.filter((one) => one.path === path)
  const resources = () =>
    to('/v1/traces').flatMap(({ body }) => (decodeTraces(body) as Request).resourceSpans.map((part) => part))
  const spans = () => resources().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
  return { url, received, to, resources, spans }
}

describe('a service with telemetry', async () => {
  const switches = await switchesOnTestDatabase()

  it('sends traces of each request with its statements and jobs, and metrics, without customer data', async () => {
    const collector = await openCollector()
    const service = await startEarshot({
      ...switches,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=voice',
      OTEL_SERVICE_NAME: 'earshot-test',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=tests',
    })
    const org = await provision(service.origin)
    const traceId = '0af7651916cd43dd8448eb211c80319c'
    // A caller that does not record its own trace doesn't decide whether the service records its trace.
    const response = await fetch(`${service.origin}/v1/companies?secret=of-an-address`, {
      headers: { authorization: `Bearer ${org.key}`, traceparent: `00-${traceId}-b7ad6b7169203331-00` },
    })
    expect(response.status).toBe(400)
    const called = await fetch(`${service.origin}/v1/companies`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${org.key}`,
        'content-type': 'application/json',
        traceparent: `00-${traceId}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({ name: 'Whispering Pines' }),
    })
    expect(called.status).toBe(201)
    const sent = await ask(service.origin, 'POST', '/v1/conversations', org.key, {
      agent: { externalId: 'a', name: 'A', channel: 'voice' },
      channel: 'call',
      startedAt: new Date().toISOString(),
      transcript: 'Agent: Hello from Whispering Pines',
    })
    expect(sent.status).toBe(201)
    const countedRuns = async () => (await fetch(`${service.origin}/metrics`)).text()
    await expect.poll(countedRuns, { timeout: 30_000 }).toMatch(/^earshot_job_runs_total\{/m)
    service.child.kill('SIGTERM')
    expect(await service.ended).toEqual({ code: 0, signal: null })

    const spans = collector.spans()
    const made = spans.filter((span) => span.name === 'POST /v1/companies')
    expect(made).toHaveLength(1)
    expect(attributeOf(made[0]?.attributes, 'http.response.status_code')).toEqual(expect.anything())
    expect(attributeOf(made[0]?.attributes, 'earshot.request_id')).toBe(called.headers.get('x-request-id'))
    const statements = spans.filter((span) => span.parentSpanId === made[0]?.spanId)
    expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['INSERT']))
    // The service continues the caller's trace with the caller's IDs.
    expect(new Set(statements.map((span) => span.traceId))).toEqual(new Set([made[0]?.traceId]))
    const same = spans.filter((span) => span.traceId === made[0]?.traceId).map(({ name }) => name)
    expect(same).toContain('GET /v1/companies')
    expect(spans.some(({ name }) => name.startsWith('job '))).toBe(true)
    expect(spans.some(({ name }) => name.includes('/readyz'))).toBe(false)

    const [resource] = collector.resources()
    expect(attributeOf(resource?.resource.attributes, 'service.name')).toBe('earshot-test')
    expect(attributeOf(resource?.resource.attributes, 'deployment.environment.name')).toBe('tests')

    const metrics = Buffer.concat(collector.to('/v1/metrics').map(({ body }) => body)).toString('latin1')
    expect(metrics).toContain('earshot_http_request_duration_seconds')
    expect(metrics).toContain('earshot_job_runs_total')

    expect(collector.received.every(({ headers }) => headers['x-team'] === 'voice')).toBe(true)
    const all = Buffer.concat(collector.received.map(({ body }) => body)).toString('latin1')
    for (const secret of [org.key, 'Whispering Pines', 'of-an-address', org.slug]) expect(all).not.toContain(secret)
  })

  it('keeps running without its collector, and stops properly', async () => {
    const service = await startEarshot({
      ...switches,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    })
    const org = await provision(service.origin)
    expect((await ask(service.origin, 'GET', '/v1/companies', org.key)).status).toBe(200)
    service.child.kill('SIGTERM')
    expect(await service.ended).toEqual({ code: 0, signal: null })
  })

  it('logs rejections of its collector in one line', async () => {
    const { url } = await serve((request, response) => {
      request.resume()
      response.writeHead(400).end('<html>')
    })
    const service = await startEarshot({
      ...switches,
      OTEL_EXPORTER_OTLP_ENDPOINT: url,
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    })
    const told = () =>
      [...service.stdout().split('\n'), ...service.stderr().split('\n')]
        .filter((line) => line.includes('"from":"telemetry"'))
        .map((line) => JSON.parse(line).msg)
    await expect.poll(told, { timeout: 30_000 }).toContainEqual(expect.stringContaining('Bad Request'))
    expect(told()).toEqual(told().map(() => expect.stringMatching(/^[^{\n]+$/)))
  })
})

it('metrics have the buckets of OpenTelemetry', async () => {
  const registry = new Registry()
  const counter = new Counter({ name: 'calls_total', help: 'Calls.', labelNames: ['to'], registers: [registry] })
  counter.inc({ to: 'a' }, 3)
  const histogram = new Histogram({ name: 'call_seconds', help: 'Time.', buckets: [1, 2], registers: [registry] })
  for (const seconds of [0.5, 1.5, 1.6, 7]) histogram.observe(seconds)
  const { scopeMetrics } = await metricsOf(registry)
  expect(scopeMetrics[0]?.metrics).toMatchObject([
    { descriptor: { name: 'calls_total' }, isMonotonic: true, dataPoints: [{ attributes: { to: 'a' }, value: 3 }] },
    {
      descriptor: { name: 'call_seconds', unit: 's' },
      dataPoints: [{ value: { buckets: { boundaries: [1, 2], counts: [1, 2, 1] }, sum: 10.6, count: 4 } }],
    },
  ])
})
