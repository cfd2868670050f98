import type { FastifyInstance } from 'fastify'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '../db/database.ts'
import { requestIdsOf } from './request-id.ts'
import { traceIdOf } from './tracing.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The response lasts as long as the client stays connected, so its duration is meaningless. */
    lasting?: true
  }
}

export type Metrics = {
  registry: Registry
  countJob: (name: string, result: string, seconds: number) => void
}

type Sources = {
  database: Database
  /** Counts jobs by name and state. Called when metrics are read. */
  countJobs?: () => Promise<{ name: string; state: string; count: number }[]>
}

export const openMetrics = ({ database, countJobs }: Sources): Metrics => {
  const registry = new Registry()
  // These measure the process: event loop delay, garbage collection, memory, and CPU time.
  collectDefaultMetrics({ register: registry })
  // The names of these gauges are valid only for counters, so they fail Prometheus's own check. Each of them also
  // exists by type.
  for (const kind of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  new Gauge({
    name: 'earshot_database_connections',
    help: 'Connections of the pool by state; waiting counts requests for a connection.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, count] of Object.entries(database.stats())) this.set({ state }, count)
    },
  })
  new Gauge({
    name: 'earshot_jobs',
    help: 'Jobs by name and state.',
    labelNames: ['name', 'state'],
    registers: [registry],
    async collect() {
      this.reset()
      for (const { name, state, count } of (await countJobs?.()) ?? []) this.set({ name, state }, count)
    },
  })
  const jobs = new Counter({
    name: 'earshot_job_runs_total',
    help: 'Job attempts by name and result.',
    labelNames: ['name', 'result'],
    registers: [registry],
  })
  const jobSeconds = new Histogram({
    name: 'earshot_job_duration_seconds',
    help: 'Duration of job attempts.',
    labelNames: ['name'],
    buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600],
    registers: [registry],
  })
  return {
    registry,
    countJob: (name, result, seconds) => {
      jobs.inc({ name, result })
      jobSeconds.observe({ name }, seconds)
    },
  }
}

/** Counts requests by route instead of URL, so that the number of series is limited. */
export const addRequestMetrics = (app: FastifyInstance, { registry }: Metrics): void => {
  const requests = new Histogram({
    name: 'earshot_http_request_duration_seconds',
    help: 'Requests by route and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.002, 0.01, 0.05, 0.25, 1, 5],
    registers: [registry],
  })
  // Finding a series by its labels costs more than counting, so each route keeps its own series.
  type Series = { observe: (seconds: number) => void }
  const seriesOf = new WeakMap<object, Map<string, Series>>()
  const findSeries = (config: object, method: string, route: string, status: number): Series => {
    const ofRoute = seriesOf.get(config) ?? new Map<string, Series>()
    const name = `${method} ${status}`
    const series = ofRoute.get(name) ?? requests.labels({ method, route, status })
    if (!ofRoute.has(name)) seriesOf.set(config, ofRoute.set(name, series))
    return series
  }
  app.addHook('onResponse', (request, reply, done) => {
    const { method } = request
    const { config, url: route = 'unknown' } = request.routeOptions
    const { statusCode: status, elapsedTime } = reply
    if (!config.lasting) findSeries(config, method, route, status).observe(elapsedTime / 1_000)
    const ms = Math.round(elapsedTime * 10) / 10
    // The log omits properties that are undefined.
    const ids = { ...requestIdsOf(request), traceId: traceIdOf(request) }
    request.log.info({ ...ids, method, route, status, ms }, 'request')
    done()
  })
}
